# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs `python -m reproduction.document`."""

import sys

from reproduction.document.command import main

sys.exit(main(sys.argv[1:]))
