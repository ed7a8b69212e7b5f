# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The timers of a NIC: a heap that contains every target once, and every target knows its position in the heap.

Setting a timer again moves its entry, so the heap does not grow however often queue pairs are paced. Of a target that
is released only the entry remains until its time. Times are native integers once this is compiled.
"""

from typing import Final

from librt.vecs import append, vec
from mypy_extensions import i64, mypyc_attr

from sfc_testbed.hosts.transport.loss_recovery.base import NEVER

_NOWHERE: Final = -1


@mypyc_attr(allow_interpreted_subclasses=True)
class Wakeable:
    """An object with one timer."""

    __slots__ = ("timer_place", "wake_ns")

    def __init__(self) -> None:
        self.wake_ns: i64 = NEVER
        self.timer_place: i64 = _NOWHERE
        """Position in the heap, which only `Timers` changes; -1 if it is not in the heap."""

    def on_wake(self, now_ns: int) -> None:
        """Handle the timer, which is due."""
        raise NotImplementedError


class Timers:
    """A heap of timers ordered by time; timers with equal times are ordered by when they were set."""

    __slots__ = ("_nobody", "_sequence", "_sequences", "_targets", "_times_ns", "count", "first_ns")

    def __init__(self) -> None:
        self._nobody = Wakeable()
        self._targets: list[Wakeable | None] = []
        self._times_ns = vec[i64]()
        self._sequences = vec[i64]()
        self._sequence: i64 = 0
        self.count: i64 = 0
        self.first_ns: i64 = NEVER
        """Time of the first timer; NEVER if there is none."""

    def set(self, time_ns: i64, target: Wakeable) -> None:
        """Set the target's timer, replacing an earlier time."""
        self._sequence += 1
        place = target.timer_place
        if place == _NOWHERE:
            place = self.count
            self.count += 1
            if place == len(self._targets):
                self._targets.append(None)
                self._times_ns = append(self._times_ns, time_ns)
                self._sequences = append(self._sequences, self._sequence)
        elif time_ns >= self._times_ns[place]:
            self._sink(place, time_ns, self._sequence, target)
            self.first_ns = self._times_ns[0]
            return
        self._rise(place, time_ns, self._sequence, target)
        self.first_ns = self._times_ns[0]

    def release(self, target: Wakeable) -> None:
        """Refer no longer to a target that ignores its timer. The entry stays until its time, which may be far away."""
        place = target.timer_place
        if place != _NOWHERE:
            self._targets[place] = self._nobody
            target.timer_place = _NOWHERE

    def first(self) -> Wakeable:
        """Return the target with the earliest time; there must be one."""
        target = self._targets[0]
        assert target is not None
        return target

    def take(self) -> Wakeable:
        """Remove and return the target with the earliest time; there must be one."""
        first = self.first()
        first.timer_place = _NOWHERE
        self.count = last = self.count - 1
        moved = self._targets[last]
        assert moved is not None
        self._targets[last] = None
        if last == 0:
            self.first_ns = NEVER
        else:
            self._sink(0, self._times_ns[last], self._sequences[last], moved)
            self.first_ns = self._times_ns[0]
        return first

    def _rise(self, place: i64, time_ns: i64, sequence: i64, target: Wakeable) -> None:
        """Insert the most recently set timer at `place` and move it up past all parents with later times."""
        while place > 0:
            above = (place - 1) >> 1
            if self._times_ns[above] <= time_ns:
                break
            self._move(above, place)
            place = above
        self._put(place, time_ns, sequence, target)

    def _sink(self, place: i64, time_ns: i64, sequence: i64, target: Wakeable) -> None:
        """Insert a timer at `place` and move it down past all children that come before it."""
        times_ns, sequences = self._times_ns, self._sequences
        while True:
            below = 2 * place + 1
            if below >= self.count:
                break
            other = below + 1
            if other < self.count and (
                times_ns[other] < times_ns[below]
                or (times_ns[other] == times_ns[below] and sequences[other] < sequences[below])
            ):
                below = other
            if times_ns[below] > time_ns or (times_ns[below] == time_ns and sequences[below] > sequence):
                break
            self._move(below, place)
            place = below
        self._put(place, time_ns, sequence, target)

    def _move(self, source: i64, place: i64) -> None:
        target = self._targets[source]
        assert target is not None
        self._put(place, self._times_ns[source], self._sequences[source], target)

    def _put(self, place: i64, time_ns: i64, sequence: i64, target: Wakeable) -> None:
        self._times_ns[place] = time_ns
        self._sequences[place] = sequence
        self._targets[place] = target
        target.timer_place = place
