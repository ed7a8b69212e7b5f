# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packet tests in the STF text format of the P4 compiler's test suite, run against a switch (docs/stf.md)."""
