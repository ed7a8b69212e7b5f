# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A queue of frames ordered by time, for frames on a wire or on the way to a NIC.

It consists of rings of times and tails (wire.tail), which are native integers once compiled, and a ring of frames.
"""

from typing import Final

from librt.vecs import vec
from mypy_extensions import i64

from sfc_testbed.hosts.transport.loss_recovery.base import NEVER

_FIRST_PLACES: Final = 4
"""Initial size of the rings; a power of two, as all later sizes are."""


class TimedFrames:
    """A queue of frames ordered by time; frames with equal times stay in the order in which they were added."""

    __slots__ = ("_begin", "_frames", "_tails", "_times_ns", "count", "first_ns", "tail")

    def __init__(self) -> None:
        self._times_ns = vec[i64]([0] * _FIRST_PLACES)
        self._tails = vec[i64]([0] * _FIRST_PLACES)
        self._frames = [b""] * _FIRST_PLACES
        self._begin: i64 = 0
        self.count: i64 = 0
        self.first_ns: i64 = NEVER
        """Time of the first frame; NEVER if the queue is empty."""
        self.tail: i64 = 0
        """Tail of the frame that `take` returned last."""

    def add(self, time_ns: i64, frame: bytes, tail: i64 = 0) -> None:
        """Insert a frame after all frames that are not later."""
        last = i64(len(self._frames)) - 1
        if self.count > last:
            self._grow()
            last = i64(len(self._frames)) - 1
        times_ns, tails, frames = self._times_ns, self._tails, self._frames
        place = self._begin + self.count
        while place > self._begin and times_ns[(place - 1) & last] > time_ns:
            times_ns[place & last] = times_ns[(place - 1) & last]
            tails[place & last] = tails[(place - 1) & last]
            frames[place & last] = frames[(place - 1) & last]
            place -= 1
        times_ns[place & last] = time_ns
        tails[place & last] = tail
        frames[place & last] = frame
        self.count += 1
        if place == self._begin:
            self.first_ns = time_ns

    def take(self) -> bytes:
        """Remove and return the first frame; the queue must not be empty."""
        begin, frames = self._begin, self._frames
        frame = frames[begin]
        frames[begin] = b""
        self.tail = self._tails[begin]
        self._begin = begin = (begin + 1) & (i64(len(frames)) - 1)
        self.count -= 1
        self.first_ns = self._times_ns[begin] if self.count else i64(NEVER)
        return frame

    def _grow(self) -> None:
        begin, frames = self._begin, self._frames
        places = [(begin + turn) & (len(frames) - 1) for turn in range(len(frames))]
        self._times_ns = vec[i64]([self._times_ns[place] for place in places] + [0] * len(frames))
        self._tails = vec[i64]([self._tails[place] for place in places] + [0] * len(frames))
        self._frames = frames[begin:] + frames[:begin] + [b""] * len(frames)
        self._begin = 0
