# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ctrl-C and SIGTERM as a question that a run asks itself, not as an exception that falls into the middle of something.

The first asks the run to end and to keep what it measured. A second one is KeyboardInterrupt: everything is torn down.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupt:
    """Whether the run has been asked to end."""

    def __init__(self) -> None:
        self.is_requested = False

    def request(self, number: int, frame: FrameType | None) -> None:
        """The signal handler."""
        if self.is_requested:
            raise KeyboardInterrupt
        self.is_requested = True


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Takes over both signals while a run is under way."""
    interrupt = Interrupt()
    before = [(number, signal.signal(number, interrupt.request)) for number in _NUMBERS]
    try:
        yield interrupt
    finally:
        for number, handler in before:
            signal.signal(number, handler)
