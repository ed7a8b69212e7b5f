# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The system calls of the event loop: receive frames, send frames, set the timer and sleep.

If it could be compiled, `kernel_calls.c` replaces this module at import (native/modules.py). Both have the same
functions; the C version sends and receives many frames with one system call, this version one frame.
"""

import ctypes
import errno
import os
import socket
import struct
import time

BURST = 64
"""The maximum number of frames that `receive` returns."""

_CONTROL_BYTES = socket.CMSG_SPACE(16)
_TIMESPEC = struct.Struct("@ll")
_TFD_TIMER_ABSTIME = _TIMER_ABSTIME = 1
_NS = 1_000_000_000
_CLOCK_READINGS = 4
_PREEMPTED_NS = 2_000
_libc = ctypes.CDLL(None, use_errno=True)


class _Timerspec(ctypes.Structure):
    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def receive(sock: socket.socket, room_bytes: int) -> tuple[list[bytes], list[int], int]:
    """Receive up to a burst of waiting frames.

    Returns the frames, oldest first; their arrival times (CLOCK_MONOTONIC ns, from the kernel's time stamps); and the
    number of frames that were dropped because they were longer than `room_bytes`. Raises OSError if receiving fails
    before the first frame, unless no frame is waiting.
    """
    frames: list[bytes] = []
    times_ns: list[int] = []
    cut = 0
    to_monotonic_ns = _realtime_to_monotonic_ns()
    try:
        for _ in range(BURST):
            frame, control, flags, _ = sock.recvmsg(room_bytes, _CONTROL_BYTES, socket.MSG_DONTWAIT)
            if flags & socket.MSG_TRUNC:
                cut += 1
                continue
            seconds, nanoseconds = _TIMESPEC.unpack(control[0][2])
            frames.append(frame)
            times_ns.append(seconds * _NS + nanoseconds + to_monotonic_ns)
    except BlockingIOError:
        pass
    except OSError:
        if not frames and not cut:
            raise
    return frames, times_ns, cut


def _realtime_to_monotonic_ns() -> int:
    """Return the difference of the two clocks: the best of a few readings, because one may be interrupted."""
    readings = []
    for _ in range(_CLOCK_READINGS):
        before_ns, realtime_ns = time.monotonic_ns(), time.time_ns()
        took_ns = time.monotonic_ns() - before_ns
        readings.append((took_ns, before_ns + took_ns // 2 - realtime_ns))
        if took_ns < _PREEMPTED_NS:
            break
    return min(readings)[1]


def send(sock: socket.socket, leaving: list[tuple[int, bytes]], begin: int) -> tuple[int, int]:
    """Send frames in order, from `leaving[begin]` on; their times are ignored.

    Returns the length of the list and 0, or the index of the first frame that the kernel refused and its errno.
    """
    for place in range(begin, len(leaving)):
        try:
            sock.send(leaving[place][1], socket.MSG_DONTWAIT)
        except OSError as error:
            return place, error.errno or errno.EIO
    return len(leaving), 0


def set_timer(descriptor: int, instant_ns: int) -> None:
    """Set a timerfd to fire at `instant_ns` of its clock: immediately if that has passed, never if it is 0.

    A pending expiration is cleared.
    """
    spec = _Timerspec(0, 0, *divmod(instant_ns, _NS))
    if _libc.timerfd_settime(descriptor, _TFD_TIMER_ABSTIME, ctypes.byref(spec), None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def sleep_until(instant_ns: int) -> None:
    """Sleep until this instant of CLOCK_MONOTONIC, or until a signal arrives; not at all if it has passed."""
    spec = _Timespec(*divmod(instant_ns, _NS))
    _libc.clock_nanosleep(time.CLOCK_MONOTONIC, _TIMER_ABSTIME, ctypes.byref(spec), None)
