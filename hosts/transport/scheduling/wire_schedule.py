# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""One wire: MAC control, then control frames, then queue pairs and programs' flows in turn, in ideal time.

Owns when each frame starts and ends: the next one starts at max(ready, previous end) and lasts 8 bytes / rate, the
remainder of the division carried on, so a busy wire never drifts. It asks sources for frames and knows nothing of
what is in them. Fairness is by bytes: a source keeps its turn until it has used a full frame's worth.
"""

from typing import Final, Generic, TypeVar

from mypy_extensions import i64, mypyc_attr

from hosts.transport.loss_recovery.base import NEVER
from hosts.transport.scheduling.timed_frames import TimedFrames
from hosts.transport.scheduling.timers import Timers, Wakeable
from wire.units import NS_PER_S

_BIT_NS: Final = 8 * NS_PER_S
MOST_CONTROL_FRAMES: Final = 16_384
"""That wait at once: the shortest packet asks for an answer that is longer, and a flood of it must not fill memory."""


_FIRST_PLACES: Final = 4
"""Of a queue; a power of two, as all later sizes are."""

_Item = TypeVar("_Item")


class Fifo(Generic[_Item]):
    """A queue in a ring: a compiled program calls it without going through names."""

    __slots__ = ("_begin", "_items", "count")

    def __init__(self) -> None:
        self._items: list[_Item | None] = [None] * _FIRST_PLACES
        self._begin: i64 = 0
        self.count: i64 = 0

    def append(self, item: _Item) -> None:
        """At the end."""
        items = self._items
        if self.count == len(items):
            self._items = items = items[self._begin :] + items[: self._begin] + [None] * len(items)
            self._begin = 0
        items[(self._begin + self.count) & (len(items) - 1)] = item
        self.count += 1

    def first(self) -> _Item:
        """The oldest; there must be one."""
        item = self._items[self._begin]
        assert item is not None
        return item

    def take(self) -> _Item:
        """The oldest, which is no longer in it; there must be one."""
        items = self._items
        item = items[self._begin]
        assert item is not None
        items[self._begin] = None
        self._begin = (self._begin + 1) & (len(items) - 1)
        self.count -= 1
        return item


@mypyc_attr(allow_interpreted_subclasses=True)
class FrameSource(Wakeable):
    """A queue pair, or the queue of a program's flow."""

    __slots__ = ("deficit", "queued")

    def __init__(self) -> None:
        super().__init__()
        self.queued = False
        """Whether it is in the round."""
        self.deficit = 0
        """Bytes it may still send in its turn."""

    def build_frame(self, now_ns: int) -> bytes | None:
        """The frame that starts on the wire now; None if it may not send, which takes it out of the round."""
        raise NotImplementedError

    def arm(self, now_ns: int) -> None:
        """It has left the round: ask to be woken when it may send again."""
        raise NotImplementedError


class WireSchedule:
    """What leaves one NIC, and when.

    Calls must come in order of time. A call may be older than frames that were started already (a caller that is late
    catches up with many at once); those stay as they are, and what the call brings starts after them.
    """

    __slots__ = (
        "_control", "_mac_control", "_on_wire", "_quantum_bytes", "_rate_bps", "_ready", "_remainder",
        "_timers", "bytes_sent", "clock_ns", "control_overruns", "control_pause_end_ns", "frames_sent",
        "is_quiet", "wire_free_ns",
    )  # fmt: skip

    def __init__(self, rate_bps: int, quantum_bytes: int) -> None:
        """`quantum_bytes`: what one source may send in its turn."""
        self._rate_bps: i64 = rate_bps
        self._quantum_bytes = quantum_bytes
        self._mac_control: Fifo[bytes] = Fifo()
        self._control: Fifo[bytes] = Fifo()
        self._ready: Fifo[FrameSource] = Fifo()
        self._timers = Timers()
        self._on_wire = TimedFrames()
        self._remainder: i64 = 0
        self.clock_ns: i64 = 0
        """Time of the latest event dealt with; never goes back."""
        self.wire_free_ns: i64 = 0
        """When the frame last started ends."""
        self.control_pause_end_ns: i64 = 0
        """Until when the class that control frames are in is paused by 802.1Qbb."""
        self.is_quiet = False
        """No timer fires, no frame starts, and what is on the wire is lost."""
        self.frames_sent = self.bytes_sent = self.control_overruns = 0

    def send_mac_control(self, frame: bytes) -> None:
        """Queue an 802.1Qbb frame; it goes before everything and cannot be paused."""
        self._mac_control.append(frame)

    def send_control(self, frame: bytes) -> None:
        """Queue an ACK, NAK, CNP or pull; it goes before any data. Lost, and counted, where too many wait already."""
        if self._control.count < MOST_CONTROL_FRAMES:
            self._control.append(frame)
        else:
            self.control_overruns += 1

    def enqueue(self, source: FrameSource) -> None:
        """Put a source at the end of the round."""
        source.queued = True
        source.deficit = self._quantum_bytes
        self._ready.append(source)

    def wake_at(self, time_ns: int, target: Wakeable) -> None:
        """Call `target.on_wake` at that time, and at no other that was asked for before, unless its `wake_ns` is
        another by then."""
        self._timers.set(time_ns, target)

    def advance(self, limit_ns: i64) -> None:
        """Do everything that happens up to and at `limit_ns`: timers and starts of frames, in time order."""
        if self.is_quiet:
            return
        while True:
            start_ns, timer_ns = self._next_start_ns(), self._timers.first_ns
            if timer_ns <= start_ns:
                if timer_ns > limit_ns or timer_ns == NEVER:
                    return
                self._fire(timer_ns)
            elif start_ns <= limit_ns:
                self._start_frame(start_ns)
            else:
                return

    def _fire(self, timer_ns: i64) -> None:
        target = self._timers.take()
        if target.wake_ns == timer_ns:
            target.wake_ns = NEVER
            if timer_ns > self.clock_ns:
                self.clock_ns = timer_ns
            target.on_wake(self.clock_ns)

    def catch_up(self, now_ns: i64) -> None:
        """Do what happens before `now_ns`, at which something comes from outside."""
        self.advance(now_ns - 1)
        if now_ns > self.clock_ns:
            self.clock_ns = now_ns

    def finished(self, now_ns: i64) -> list[tuple[int, bytes]]:
        """Frames whose last bit has left by now, with the time it left, in order."""
        done: list[tuple[int, bytes]] = []
        if self.is_quiet:
            return done
        on_wire = self._on_wire
        while on_wire.count and on_wire.first_ns <= now_ns:
            left_ns: int = on_wire.first_ns
            frame = on_wire.take()
            done.append((left_ns, frame))
            self.bytes_sent += len(frame)
        self.frames_sent += len(done)
        return done

    def next_finish_ns(self) -> int | None:
        """When the last bit of the frame on the wire will have left; None without one."""
        return None if self._on_wire.first_ns == NEVER or self.is_quiet else self._on_wire.first_ns

    def next_event_ns(self) -> int | None:
        """Earliest time at which `advance` or `finished` will have something to do."""
        if self.is_quiet:
            return None
        earliest = self._next_start_ns()
        if self._on_wire.first_ns < earliest:
            earliest = self._on_wire.first_ns
        timers = self._timers
        while timers.first_ns < earliest:
            if timers.first().wake_ns == timers.first_ns:
                earliest = timers.first_ns
            else:
                timers.take()
        return None if earliest == NEVER else earliest

    def _next_start_ns(self) -> i64:
        earliest = self.clock_ns if self.clock_ns > self.wire_free_ns else self.wire_free_ns
        if self._ready.count or self._mac_control.count:
            return earliest
        if not self._control.count:
            return NEVER
        return earliest if earliest > self.control_pause_end_ns else self.control_pause_end_ns

    def _start_frame(self, start_ns: i64) -> None:
        self.clock_ns = start_ns
        if self._mac_control.count:
            frame = self._mac_control.take()
        elif self._control.count and self.control_pause_end_ns <= start_ns:
            frame = self._control.take()
        else:
            data = self._next_data(start_ns)
            if data is None:
                return
            frame = data
        if start_ns > self.wire_free_ns:
            self._remainder = 0
        bits_ns = i64(len(frame)) * _BIT_NS + self._remainder
        duration_ns = bits_ns // self._rate_bps
        self._remainder = bits_ns - duration_ns * self._rate_bps
        self.wire_free_ns = start_ns + duration_ns
        self._on_wire.add(self.wire_free_ns, frame)

    def _next_data(self, now_ns: i64) -> bytes | None:
        ready = self._ready
        while ready.count:
            source = ready.first()
            frame = source.build_frame(now_ns)
            if frame is None:
                ready.take()
                source.queued = False
                source.arm(now_ns)
                continue
            source.deficit -= len(frame)
            if source.deficit <= 0:
                source.deficit += self._quantum_bytes
                if ready.count > 1:
                    ready.append(ready.take())
            return frame
        return None
