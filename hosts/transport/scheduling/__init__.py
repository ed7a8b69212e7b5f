# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scheduling of a NIC's frames: its wire, its timers, and the pacing of pulls."""
