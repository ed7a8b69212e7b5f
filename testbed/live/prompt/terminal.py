# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Where the prompt's words go, and keys that end what is shown live. Without a terminal nothing waits for a key."""

from __future__ import annotations

import os
import select
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

from compiled.visible import visible

_KEYS_BYTES = 64
_LAYOUT = "\n\t"
DEFAULT_SECONDS = 3.0
"""How long something live is shown where no key can end it."""


class Terminal:
    """Says lines through Mininet's log, as everything of the prompt does."""

    def __init__(self, say: Callable[[str], None], console: Console, *, has_keys: bool | None = None) -> None:
        """`has_keys`: whether a person sits there; found out if it is not said."""
        self._say = say
        self.console = console
        self.has_keys = sys.stdin.isatty() and sys.stdout.isatty() if has_keys is None else has_keys

    def say(self, text: str) -> None:
        """Print one or several lines; names of a P4 program, and what switches and hosts send, are shown as text."""
        self._say(f"{visible(text, keep=_LAYOUT)}\n")

    def until_key(self, seconds: float | None, every_s: float) -> Iterator[None]:
        """Turns of a live view: until a key is pressed, Ctrl-C, or the time is up; one turn at least."""
        if seconds is None and not self.has_keys:
            seconds = DEFAULT_SECONDS
        deadline = None if seconds is None else time.monotonic() + seconds
        with self._keys():
            try:
                while True:
                    yield
                    rest = every_s if deadline is None else min(every_s, deadline - time.monotonic())
                    if rest <= 0 or self._pressed(rest):
                        return
            except KeyboardInterrupt:
                return

    def _pressed(self, seconds: float) -> bool:
        if not self.has_keys:
            time.sleep(seconds)
            return False
        ready, _, _ = select.select([sys.stdin], [], [], seconds)
        if ready:
            os.read(sys.stdin.fileno(), _KEYS_BYTES)
        return bool(ready)

    @contextmanager
    def _keys(self) -> Iterator[None]:
        """Keys come at once, and do not show."""
        if not self.has_keys:
            yield
            return
        before = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        try:
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
