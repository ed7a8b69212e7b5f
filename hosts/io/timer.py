# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A timer at an absolute CLOCK_MONOTONIC instant that epoll can wait for: timerfd, without the 50 us slack of epoll.

Python has it from 3.13 on; before, it is called in the C library.
"""

import ctypes
import os
from contextlib import suppress

from hosts.io.kernel import calls

_CLOCK_MONOTONIC = 1
_TFD_NONBLOCK_CLOEXEC = os.O_NONBLOCK | os.O_CLOEXEC
_libc = ctypes.CDLL(None, use_errno=True)


class MonotonicTimer:
    """Readable from the armed instant on, until read or armed anew."""

    def __init__(self) -> None:
        self._descriptor = _libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_NONBLOCK_CLOEXEC)
        if self._descriptor < 0:
            number = ctypes.get_errno()
            raise OSError(number, f"timerfd_create: {os.strerror(number)}")
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
        calls.set_timer(self._descriptor, value_ns)

    def has_fired(self) -> None:
        """In place of `clear` where `arm` follows in any case: it will set the timer anew, whatever the instant."""
        self._armed_ns = -1

    def clear(self) -> None:
        """Take the expiry, so that the timer is no longer readable."""
        self._armed_ns = 0
        with suppress(BlockingIOError):
            os.read(self._descriptor, 8)

    def close(self) -> None:
        """Close it."""
        os.close(self._descriptor)
