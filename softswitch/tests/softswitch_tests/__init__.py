# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of softswitch, which need nothing but this package. Folders mirror `src/softswitch/`."""
