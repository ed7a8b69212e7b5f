# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Where the command speaks, and its exit codes."""

from __future__ import annotations

from rich.console import Console

EXIT_BAD_INPUT = 2
EXIT_INVALID = 3
EXIT_CLAIM = 4
EXIT_INTERRUPTED = 130

console = Console()
errors = Console(stderr=True)
