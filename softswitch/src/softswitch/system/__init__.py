# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The cache of compiled code, child processes and their end, and safe text for terminals.

Private to softswitch and to the testbed, in whose tree softswitch is developed: this package may change in any version.
"""
