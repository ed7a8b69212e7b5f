# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs `python -m sfc_testbed.reproduction.document`."""

import sys

from sfc_testbed.reproduction.document.command import main

sys.exit(main(sys.argv[1:]))
