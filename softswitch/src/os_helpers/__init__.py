# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Helpers for the operating system: a private cache of files, child processes and their end, safe text for terminals.

The modules know neither switches nor the testbed, and import nothing of either. They are part of the distribution
softswitch, because softswitch must be installable alone and uses them, as the testbed does. The package may change in
any version.
"""
