# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Code that the switch targets share: interface, commands, counters, statistics and links with delay."""
