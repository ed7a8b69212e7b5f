# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The NIC as a sans-IO engine, without clock, sockets or randomness.

The caller passes in frames and the current time, and gets back frames and the time of the next timer.
"""
