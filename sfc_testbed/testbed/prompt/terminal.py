# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The prompt's output, and its keys: live views end at a key, or after a fixed time without a terminal."""

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

from os_helpers.visible import visible

_KEYS_BYTES = 64
_LAYOUT = "\n\t"
DEFAULT_SECONDS = 3.0
"""Duration of a live view, in seconds, where no key can end it."""


class Terminal:
    """The prompt's terminal. Lines are written through Mininet's log."""

    def __init__(self, say: Callable[[str], None], console: Console, *, has_keys: bool | None = None) -> None:
        """`has_keys` is whether a user can press keys; by default it is detected from stdin and stdout."""
        self._say = say
        self.console = console
        self.has_keys = sys.stdin.isatty() and sys.stdout.isatty() if has_keys is None else has_keys

    def say(self, text: str) -> None:
        """Print one or several lines; control characters in names and in data of switches and hosts are escaped."""
        self._say(f"{visible(text, keep=_LAYOUT)}\n")

    def until_key(self, seconds: float | None, every_s: float) -> Iterator[None]:
        """Yield for each turn of a live view until a key, Ctrl-C or the time limit; yield at least once."""
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
        """Deliver keys immediately and without echo while the context lasts."""
        if not self.has_keys:
            yield
            return
        before = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        try:
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
