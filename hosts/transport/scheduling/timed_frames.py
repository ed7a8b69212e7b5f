# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Frames, each with a time, in its order: what is on a wire, or on its way to a NIC.

A ring of times, which are no objects once this is compiled, beside one of frames.
"""

from typing import Final

from librt.vecs import vec
from mypy_extensions import i64

from hosts.transport.loss_recovery.base import NEVER

_FIRST_PLACES: Final = 4
"""A power of two, as all later sizes are."""


class TimedFrames:
    """A queue by time; of frames with equal times, the one that came first goes first."""

    __slots__ = ("_begin", "_frames", "_times_ns", "count", "first_ns")

    def __init__(self) -> None:
        self._times_ns = vec[i64]([0] * _FIRST_PLACES)
        self._frames = [b""] * _FIRST_PLACES
        self._begin: i64 = 0
        self.count: i64 = 0
        self.first_ns: i64 = NEVER
        """Time of the first frame; NEVER without one."""

    def add(self, time_ns: i64, frame: bytes) -> None:
        """A frame, behind all that are not later."""
        if self.count == len(self._frames):
            self._grow()
        times_ns, frames = self._times_ns, self._frames
        last = len(frames) - 1
        place = self._begin + self.count
        while place > self._begin and times_ns[(place - 1) & last] > time_ns:
            times_ns[place & last] = times_ns[(place - 1) & last]
            frames[place & last] = frames[(place - 1) & last]
            place -= 1
        times_ns[place & last] = time_ns
        frames[place & last] = frame
        self.count += 1
        if place == self._begin:
            self.first_ns = time_ns

    def take(self) -> bytes:
        """The first frame, which is no longer in it; there must be one."""
        begin, frames = self._begin, self._frames
        frame = frames[begin]
        frames[begin] = b""
        self._begin = begin = (begin + 1) & (len(frames) - 1)
        self.count -= 1
        self.first_ns = self._times_ns[begin] if self.count else NEVER
        return frame

    def _grow(self) -> None:
        begin, frames = self._begin, self._frames
        times_ns = [self._times_ns[(begin + turn) & (len(frames) - 1)] for turn in range(len(frames))]
        self._times_ns = vec[i64](times_ns + [0] * len(frames))
        self._frames = frames[begin:] + frames[:begin] + [b""] * len(frames)
        self._begin = 0
