# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Workloads and experiments as data. This package uses topologies, but not Mininet, sockets or switch targets."""
