# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Waking up on time: real-time priority, no timer slack, and a timer for an absolute CLOCK_MONOTONIC instant.

epoll can wait for the timer, a timerfd, without the 50 us timer slack of epoll's own timeout. Python has timerfd only
since 3.13, so this module calls the C library.
"""

import ctypes
import os
import time
from contextlib import suppress

from sfc_testbed.hosts.io import kernel_calls

_PR_SET_TIMERSLACK = 29
_TFD_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_libc = ctypes.CDLL(None, use_errno=True)


def end_sleeps_on_time() -> None:
    """Set the timer slack of this process to the minimum: by default, sleeps may end 50 us late."""
    _libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


def take_real_time_priority() -> None:
    """Let this process, but not its children, run before ordinary ones, with the same priority as softswitch.

    Raises OSError if this is not permitted, which `doctor` shows.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    except OSError as error:
        raise OSError(f"no real-time priority: {error.strerror} (needs CAP_SYS_NICE)") from error


class MonotonicTimer:
    """A timer whose descriptor becomes readable at the armed instant, until it is cleared or armed again."""

    def __init__(self) -> None:
        self._descriptor = _libc.timerfd_create(time.CLOCK_MONOTONIC, _TFD_NONBLOCK_CLOEXEC)
        if self._descriptor < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"timerfd_create: {os.strerror(number)}")
        self._armed_ns = 0

    def fileno(self) -> int:
        """Return the descriptor, for epoll."""
        return int(self._descriptor)

    def arm(self, instant_ns: int | None) -> None:
        """Set the timer to fire at `instant_ns`, immediately if that has passed, or never for None."""
        value_ns = 0 if instant_ns is None else max(1, instant_ns)
        if value_ns == self._armed_ns:
            return
        self._armed_ns = value_ns
        kernel_calls.set_timer(self._descriptor, value_ns)

    def note_fired(self) -> None:
        """Note that the timer has fired, so that the next `arm` sets it even to the same instant.

        This replaces `clear` where `arm` always follows.
        """
        self._armed_ns = -1

    def clear(self) -> None:
        """Read the expiration, so that the descriptor is no longer readable."""
        self._armed_ns = 0
        with suppress(BlockingIOError):
            os.read(self._descriptor, 8)

    def close(self) -> None:
        os.close(self._descriptor)
