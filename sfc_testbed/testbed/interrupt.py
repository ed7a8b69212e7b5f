# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Handling of Ctrl-C and SIGTERM during the whole command. Imports only a few small modules.

The effect of a signal depends on the moment:

- While the command loads its modules, a signal ends the process at once, since nothing has been created yet.
- While the command works on files, the first signal raises KeyboardInterrupt. Later signals do not interrupt the
  clean-up.
- During a run, signals do not raise. The run checks for them at safe points: the first asks it to end and to keep its
  measurements, the second to drop them, and further signals are ignored. While the run writes its results, the second
  signal raises, because the measurements are in the run's journal.
- After the command's last line of output, signals are ignored.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from sfc_testbed.place import program

_NUMBERS = (signal.SIGINT, signal.SIGTERM)
_RETRY_S = 0.05
_STDERR = 2
EXIT_STATUS = 128 + signal.SIGINT

Handler = Callable[[int, FrameType | None], object]


class Interrupt:
    """The requests to end a run. `is_urgent` is set by the second request."""

    def __init__(self) -> None:
        self.is_requested = False
        self.is_urgent = False
        self.raises_if_urgent = False
        """Whether a second request raises KeyboardInterrupt at once. Set this while a kill would do no harm, either."""

    def request(self, number: int, frame: FrameType | None) -> None:
        """Record a request to end the run. This is the signal handler."""
        self.is_urgent = self.is_requested
        self.is_requested = True
        if self.is_urgent and self.raises_if_urgent:
            self.raises_if_urgent = False
            raise KeyboardInterrupt

    def stop_if_requested(self) -> None:
        """Raise KeyboardInterrupt if the run has been asked to end. Call this before anything has been measured."""
        if self.is_requested:
            raise KeyboardInterrupt

    def stop_if_urgent(self) -> None:
        """Raise KeyboardInterrupt if the run has been asked to end twice. Call this where leaving does no harm."""
        if self.is_urgent:
            raise KeyboardInterrupt


def end_at_once() -> None:
    """End the process with one line on either signal, until `raising` is entered.

    The command blocks both signals before it calls this function.
    """
    for number in _NUMBERS:
        signal.signal(number, _end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _NUMBERS)


@contextmanager
def raising() -> Iterator[None]:
    """Raise KeyboardInterrupt on the first signal only. Within this context `raise_again` re-arms it.

    If `end_at_once` was in force before, both signals are ignored afterwards, while the command prints its last line.
    """
    with _handled_by(_Once().handle, ended=True):
        yield


def raise_again() -> None:
    """Let the next signal raise KeyboardInterrupt again. Call this after catching one within `raising` and going on."""
    handler = signal.getsignal(signal.SIGINT)
    once = getattr(handler, "__self__", None)
    if isinstance(once, _Once):
        once.has_raised = False


def has_raised() -> bool:
    """Return whether `raising` has raised KeyboardInterrupt. A C library may have turned it into another exception."""
    once = getattr(signal.getsignal(signal.SIGINT), "__self__", None)
    return isinstance(once, _Once) and once.has_raised


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Record both signals in an `Interrupt` while a run is under way, instead of raising."""
    interrupt = Interrupt()
    with _handled_by(interrupt.request):
        yield interrupt


@contextmanager
def prompting() -> Iterator[None]:
    """Raise KeyboardInterrupt on every Ctrl-C at a prompt, which handles it. SIGTERM leaves the prompt."""
    with _handled_by(_at_the_prompt):
        try:
            yield
        except _PromptLeft:
            raise KeyboardInterrupt from None


class _Once:
    """A handler that raises KeyboardInterrupt once.

    Python drops exceptions in some places, for instance in finalizers. A KeyboardInterrupt dropped there is raised
    again shortly after.
    """

    def __init__(self) -> None:
        self.has_raised = False
        sys.unraisablehook = self._unraisable

    def handle(self, number: int, frame: FrameType | None) -> None:
        if not self.has_raised:
            self.has_raised = True
            raise KeyboardInterrupt

    def _unraisable(self, dropped: sys.UnraisableHookArgs) -> None:
        if isinstance(dropped.exc_value, KeyboardInterrupt):
            self.has_raised = False
            atexit.register(signal.setitimer, signal.ITIMER_REAL, 0)  # at exit nothing handles the alarm any more
            signal.signal(signal.SIGALRM, self.handle)
            signal.setitimer(signal.ITIMER_REAL, _RETRY_S)
        else:
            sys.__unraisablehook__(dropped)


class _PromptLeft(BaseException):
    """SIGTERM at a prompt. No handler of the prompt catches this exception."""


def _at_the_prompt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt if number == signal.SIGINT else _PromptLeft


def _end(number: int, frame: FrameType | None) -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, _NUMBERS)  # a second signal would print the line again
    with suppress(OSError):
        os.write(_STDERR, f"{program()}: interrupted; nothing was started\n".encode())
    os._exit(EXIT_STATUS)


@contextmanager
def _handled_by(handler: Handler, *, ended: bool = False) -> Iterator[None]:
    try:
        previous = [(number, signal.signal(number, handler)) for number in _NUMBERS]
    except ValueError:  # not in the main thread, which alone may handle signals
        yield
        return
    try:
        yield
    finally:
        for number, old in previous:
            signal.signal(number, signal.SIG_IGN if ended and old is _end else old)
