# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Hosts of a live run as Docker containers, and Mininet's nodes for them."""
