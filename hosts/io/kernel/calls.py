# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The system calls of a turn of the event loop: frames in, frames out, and when to wake.

This is for where nothing could be compiled, and says what `calls.c` does, which else takes its place at the import
(compiled/modules.py): there many frames share a call, here each has its own.
"""

import ctypes
import errno
import os
import socket
import struct
import time

BURST = 64
"""Most frames that `receive` takes at once."""

_CONTROL_BYTES = socket.CMSG_SPACE(16)
_TIMESPEC = struct.Struct("@ll")
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


def receive(sock: socket.socket, room_bytes: int) -> tuple[list[bytes], list[int], int]:
    """Up to a burst of waiting frames, oldest first, each one's arrival (CLOCK_MONOTONIC ns, from the kernel's own time
    stamp), and how many more were lost because they were longer than `room_bytes`. Raises OSError if there is none for
    another reason than that none has come."""
    frames: list[bytes] = []
    times_ns: list[int] = []
    cut = 0
    to_monotonic_ns = time.monotonic_ns() - time.time_ns()
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


def send(sock: socket.socket, leaving: list[tuple[int, bytes]], begin: int) -> tuple[int, int]:
    """Puts frames on the wire in order, from `leaving[begin]` on; their times are not looked at. Where it ended: the
    length of the list and 0, or the first frame that the kernel refused and its errno."""
    for place in range(begin, len(leaving)):
        try:
            sock.send(leaving[place][1], socket.MSG_DONTWAIT)
        except OSError as error:
            return place, error.errno or errno.EIO
    return len(leaving), 0


def set_timer(descriptor: int, instant_ns: int) -> None:
    """A timerfd fires at that instant of its clock, at once if it has passed; at 0 never. What it told is forgotten."""
    spec = _Timerspec(0, 0, *divmod(instant_ns, _NS))
    if _libc.timerfd_settime(descriptor, _TFD_TIMER_ABSTIME, ctypes.byref(spec), None) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
