# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs scenarios: live on Mininet or in virtual time, over the same hosts and switches."""
