# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A timer at an absolute CLOCK_MONOTONIC instant that epoll can wait for: timerfd, without the 50 us slack of epoll.

Python has it from 3.13 on; before, it is called in the C library.
"""

import ctypes
import os
from contextlib import suppress

_CLOCK_MONOTONIC = 1
_TFD_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_TFD_TIMER_ABSTIME = 1
_NS = 1_000_000_000
_libc = ctypes.CDLL(None, use_errno=True)


class _Timerspec(ctypes.Structure):
    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class MonotonicTimer:
    """Readable from the armed instant on, until read or armed anew."""

    def __init__(self) -> None:
        self._descriptor = _libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_NONBLOCK_CLOEXEC)
        if self._descriptor < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"timerfd_create: {os.strerror(number)}")
        self._spec = _Timerspec()
        self._reference = ctypes.byref(self._spec)
        self._armed_ns = 0

    def fileno(self) -> int:
        """For epoll."""
        return int(self._descriptor)

    def arm(self, instant_ns: int | None) -> None:
        """Fire at that instant (at once if it has passed), or never."""
        value_ns = 0 if instant_ns is None else max(1, instant_ns)
        if value_ns == self._armed_ns:
            return
        self._armed_ns = value_ns
        self._spec.value_s, self._spec.value_ns = divmod(value_ns, _NS)
        if _libc.timerfd_settime(self._descriptor, _TFD_TIMER_ABSTIME, self._reference, None) != 0:
            number = ctypes.get_errno()
            raise OSError(number, f"timerfd_settime: {os.strerror(number)}")

    def clear(self) -> None:
        """Take the expiry, so that the timer is no longer readable."""
        self._armed_ns = 0
        with suppress(BlockingIOError):
            os.read(self._descriptor, 8)

    def close(self) -> None:
        """Close it."""
        os.close(self._descriptor)
