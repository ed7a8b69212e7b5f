# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the switch targets share: interface, commands, counters, statistics, and wires that delay."""
