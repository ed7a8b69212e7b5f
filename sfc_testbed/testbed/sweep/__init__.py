# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Sweeps: a file of axes, schemes and seeds becomes jobs and a table of results."""
