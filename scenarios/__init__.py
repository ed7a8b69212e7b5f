# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Workloads and experiments as data. Knows networks, never Mininet, sockets or switches' targets."""
