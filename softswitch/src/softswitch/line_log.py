# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lines of a server on stderr, with limits so that a client cannot fill the disk."""

from __future__ import annotations

import sys

MOST_LOGGED_LINES = 1000
_MOST_CHARACTERS = 300


class LineLog:
    """A writer of lines about refused calls, which begin with the name of the server."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._line_count = 0

    def write(self, line: str) -> None:
        self._line_count += 1
        if self._line_count > MOST_LOGGED_LINES:
            return
        text = line.encode("unicode_escape").decode()[:_MOST_CHARACTERS]
        print(f"{self._name}: {text}", file=sys.stderr, flush=True)
        if self._line_count == MOST_LOGGED_LINES:
            print(f"{self._name}: further refusals are not shown", file=sys.stderr, flush=True)
