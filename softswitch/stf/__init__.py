# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packet tests: the text format of the P4 compiler's suite, run against a switch (docs/stf.md)."""
