# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What Ctrl-C and SIGTERM do, from the first line of the command to its last. Standard library only, and little of it.

While the command loads its modules they end the process at once: nothing has been made. While it works on files they
are a KeyboardInterrupt, once: what cleans up after it is not interrupted again. During a run they are a question that
the run asks itself where it can answer, never an exception in the middle of something: the first asks it to end and to
keep what it measured, the second to drop that, further ones are not heard. After the last word they are not heard.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_NUMBERS = (signal.SIGINT, signal.SIGTERM)
_RETRY_S = 0.05
_STDERR = 2
EXIT_STATUS = 128 + signal.SIGINT

Handler = Callable[[int, FrameType | None], object]


class Interrupt:
    """Whether the run has been asked to end, and whether it has been asked again."""

    def __init__(self) -> None:
        self.is_requested = False
        self.is_urgent = False

    def request(self, number: int, frame: FrameType | None) -> None:
        """The signal handler."""
        self.is_urgent = self.is_requested
        self.is_requested = True

    def stop_if_requested(self) -> None:
        """KeyboardInterrupt if the run has been asked to end: for a place where nothing has been measured yet."""
        if self.is_requested:
            raise KeyboardInterrupt

    def stop_if_urgent(self) -> None:
        """KeyboardInterrupt if it has been asked again: for a place that can be left without harm."""
        if self.is_urgent:
            raise KeyboardInterrupt


def end_at_once() -> None:
    """Until `raising` either signal ends the process with one line. `runner.py` has blocked them until here."""
    for number in _NUMBERS:
        signal.signal(number, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _NUMBERS)


@contextmanager
def raising() -> Iterator[None]:
    """Either signal is a KeyboardInterrupt, once; within, `raise_again` makes it once more.

    After `end_at_once`, neither is heard when this is over: only the last line is still to be said.
    """
    with _handled_by(_Once().handle, ended=True):
        yield


def raise_again() -> None:
    """For who has caught a KeyboardInterrupt of `raising` and goes on: the next signal is one as well."""
    handler = signal.getsignal(signal.SIGINT)
    once = getattr(handler, "__self__", None)
    if isinstance(once, _Once):
        once.has_raised = False


def has_raised() -> bool:
    """Whether a signal has become a KeyboardInterrupt of `raising`: a library in C may make another error of it."""
    once = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    return isinstance(once, _Once) and once.has_raised


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Takes over both signals while a run is under way."""
    interrupt = Interrupt()
    with _handled_by(interrupt.request):
        yield interrupt


@contextmanager
def prompting() -> Iterator[None]:
    """At a prompt Ctrl-C is a KeyboardInterrupt every time, which the prompt knows; SIGTERM leaves the prompt."""
    with _handled_by(_at_the_prompt):
        try:
            yield
        except _Left:
            raise KeyboardInterrupt from None


class _Once:
    """Raises KeyboardInterrupt the first time. One that fell where Python drops exceptions is raised again soon."""

    def __init__(self) -> None:
        self.has_raised = False
        sys.unraisablehook = self._unraisable

    def handle(self, number: int, frame: FrameType | None) -> None:
        if not self.has_raised:
            self.has_raised = True
            raise KeyboardInterrupt

    def _unraisable(self, what: sys.UnraisableHookArgs) -> None:
        if isinstance(what.exc_value, KeyboardInterrupt):
            self.has_raised = False
            atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)  # where nobody handles it any more
            signal.signal(signal.SIGALRM, self.handle)
            signal.setitimer(signal.ITIMER_REAL, _RETRY_S)
        else:
            sys.__unraisablehook__(what)


class _Left(BaseException):
    """Nothing at the prompt takes this for its own."""


def _at_the_prompt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt if number == signal.SIGINT else _Left


def _end(number: int, frame: FrameType | None) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, _NUMBERS)  # a second one would say it once more
    with suppress(OSError):
        os.write(_STDERR, b"runner.py: interrupted; nothing was started\n")
    os._exit(EXIT_STATUS)


@contextmanager
def _handled_by(handler: Handler, *, ended: bool = False) -> Iterator[None]:
    before = [(number, signal.signal(number, handler)) for number in _NUMBERS]
    try:
        yield
    finally:
        for number, old in before:
            signal.signal(number, signal.SIG_IGN if ended and old is _end else old)
