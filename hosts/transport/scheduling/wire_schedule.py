# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The schedule of one wire in ideal time: MAC control frames, then control frames, then queue pairs and program flows.

The schedule determines when each frame starts and ends. A frame starts at max(ready, end of the previous frame) and
lasts 8 x bytes / rate. The remainder of the division is carried over, so a busy wire never drifts. Queue pairs and
program flows take turns, with fairness by bytes: a source keeps its turn until it has sent a full frame's worth.
"""

from typing import Final, Generic, TypeVar

from mypy_extensions import i64, mypyc_attr

from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.scheduling.timed_frames import TimedFrames
from sfc_testbed.hosts.transport.scheduling.timers import Timers, Wakeable
from sfc_testbed.wire.tail import tail_bytes
from sfc_testbed.wire.units import NS_PER_S

_BIT_NS: Final = 8 * NS_PER_S
MOST_CONTROL_FRAMES: Final = 16_384
"""Maximum number of waiting control frames.

Answers can be longer than the packets that cause them, so a flood of short packets could otherwise fill the memory.
"""


_FIRST_PLACES: Final = 4
"""Initial size of a queue; a power of two, as all later sizes are."""

_Item = TypeVar("_Item")


class Fifo(Generic[_Item]):
    """A queue in a ring buffer. Compiled code calls its methods directly, which it cannot do for a deque."""

    __slots__ = ("_begin", "_items", "count")

    def __init__(self) -> None:
        self._items: list[_Item | None] = [None] * _FIRST_PLACES
        self._begin: i64 = 0
        self.count: i64 = 0

    def append(self, item: _Item) -> None:
        """Add an item at the end."""
        items = self._items
        last = i64(len(items)) - 1
        if self.count > last:
            self._items = items = items[self._begin :] + items[: self._begin] + [None] * len(items)
            self._begin = 0
            last = i64(len(items)) - 1
        items[(self._begin + self.count) & last] = item
        self.count += 1

    def first(self) -> _Item:
        """Return the oldest item; there must be one."""
        item = self._items[self._begin]
        assert item is not None
        return item

    def take(self) -> _Item:
        """Remove and return the oldest item; there must be one."""
        items = self._items
        item = items[self._begin]
        assert item is not None
        items[self._begin] = None
        self._begin = (self._begin + 1) & (i64(len(items)) - 1)
        self.count -= 1
        return item


@mypyc_attr(allow_interpreted_subclasses=True)
class FrameSource(Wakeable):
    """A source of frames: a queue pair, or the queue of a program's flow."""

    __slots__ = ("deficit", "queued", "tail")

    def __init__(self) -> None:
        super().__init__()
        self.queued = False
        """Whether the source is in the round."""
        self.deficit: i64 = 0
        """Bytes that the source may still send in its turn."""
        self.tail: i64 = 0
        """Tail (wire.tail) of the frame that `build_frame` returned last."""

    def build_frame(self, now_ns: int) -> bytes | None:
        """Return the frame that starts on the wire now; None if the source may not send, which ends its turn.

        A source that returns None leaves the round.
        """
        raise NotImplementedError

    def arm(self, now_ns: int) -> None:
        """Set the timer to when the source may send again, after it has left the round."""
        raise NotImplementedError


class WireSchedule:
    """The schedule of the frames that leave one NIC.

    Calls must come in order of time. A call may be older than frames that have already started, because a late caller
    catches up with many frames at once. Those frames do not change, and frames of the new call start after them.
    """

    __slots__ = (
        "_control", "_data_tail", "_mac_control", "_on_wire", "_quantum_bytes", "_ready", "_remainder",
        "_starts", "_timers", "bytes_sent", "clock_ns", "control_overruns", "control_pause_end_ns", "finish_ns",
        "frames_sent", "is_quiet", "rate_bps", "tail", "wire_free_ns",
    )  # fmt: skip

    def __init__(self, rate_bps: int, quantum_bytes: int) -> None:
        """Start with an idle wire; `quantum_bytes` is what one source may send in its turn."""
        self.rate_bps: i64 = rate_bps
        """Rate of the frames that start from now on."""
        self._quantum_bytes = quantum_bytes
        self._mac_control: Fifo[bytes] = Fifo()
        self._control: Fifo[bytes] = Fifo()
        self._ready: Fifo[FrameSource] = Fifo()
        self._starts = Timers()
        self._timers = Timers()
        self._on_wire = TimedFrames()
        self._data_tail: i64 = 0
        """Tail of the data frame that starts now."""
        self._remainder: i64 = 0
        self.clock_ns: i64 = 0
        """Time of the latest event handled; never decreases."""
        self.wire_free_ns: i64 = 0
        """End of the frame that started last."""
        self.control_pause_end_ns: i64 = 0
        """End of the 802.1Qbb pause of the traffic class that control frames belong to."""
        self.is_quiet = False
        """Whether sending has stopped: no timer fires, no frame starts, and frames on the wire are lost."""
        self.finish_ns: i64 = 0
        """Time at which the last bit of the frame that `take_finished` returned last has left."""
        self.tail: i64 = 0
        """Tail (wire.tail) of that frame."""
        self.frames_sent: i64 = 0
        self.bytes_sent: i64 = 0
        self.control_overruns = 0

    def send_mac_control(self, frame: bytes) -> None:
        """Queue an 802.1Qbb frame, which is sent before all other frames and cannot be paused."""
        self._mac_control.append(frame)

    def send_control(self, frame: bytes) -> None:
        """Queue an ACK, NAK, CNP or pull, which is sent before any data.

        The frame is dropped and counted if too many are already waiting.
        """
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
        """Call `target.on_wake` at that time, unless its `wake_ns` has changed by then.

        This replaces an earlier time of the target.
        """
        self._timers.set(time_ns, target)

    def forget(self, target: Wakeable) -> None:
        """Never call a target again, and do not keep it in memory until the time that was set."""
        target.wake_ns = NEVER
        self._timers.release(target)

    def start_at(self, time_ns: int, target: Wakeable) -> None:
        """Call `target.on_wake` once at that time, before the timers of `wake_at` that are due at the same instant.

        The order of events therefore does not depend on how long before its start a message is handed over.
        """
        self._starts.set(time_ns, target)

    def advance(self, limit_ns: i64) -> None:
        """Fire timers and start frames up to and including `limit_ns`, in order of time."""
        if self.is_quiet:
            return
        while True:
            start_ns = self._next_start_ns()
            timers = self._timers if self._timers.first_ns < self._starts.first_ns else self._starts
            if timers.first_ns <= start_ns:
                if timers.first_ns > limit_ns or timers.first_ns == NEVER:
                    return
                self._fire(timers)
            elif start_ns <= limit_ns:
                self._start_frame(start_ns)
            else:
                return

    def _fire(self, timers: Timers) -> None:
        timer_ns = timers.first_ns
        target = timers.take()
        if target.wake_ns == timer_ns:
            target.wake_ns = NEVER
            if timer_ns > self.clock_ns:
                self.clock_ns = timer_ns
            target.on_wake(self.clock_ns)

    def catch_up(self, now_ns: i64) -> None:
        """Advance to just before `now_ns`, the time of an external input, and set the clock to `now_ns`."""
        self.advance(now_ns - 1)
        if now_ns > self.clock_ns:
            self.clock_ns = now_ns

    def take_finished(self, now_ns: i64) -> bytes | None:
        """Return the next frame whose last bit has left by `now_ns`, or None; `finish_ns` and `tail` belong to it."""
        on_wire = self._on_wire
        if on_wire.first_ns > now_ns or not on_wire.count or self.is_quiet:
            return None
        self.finish_ns = on_wire.first_ns
        frame = on_wire.take()
        self.tail = on_wire.tail
        self.bytes_sent += i64(len(frame)) + tail_bytes(self.tail)
        self.frames_sent += 1
        return frame

    def finished(self, now_ns: i64) -> list[tuple[int, bytes]]:
        """Return the frames whose last bit has left by `now_ns`, in order, with their departure times."""
        departures: list[tuple[int, bytes]] = []
        while (frame := self.take_finished(now_ns)) is not None:
            departures.append((self.finish_ns, frame))
        return departures

    def next_finish_ns(self) -> int | None:
        """Return when the last bit of the frame on the wire leaves; None if the wire is idle."""
        return None if self._on_wire.first_ns == NEVER or self.is_quiet else self._on_wire.first_ns

    def next_event_ns(self) -> int | None:
        """Return the earliest time at which `advance` or `finished` has something to do; None for never."""
        if self.is_quiet:
            return None
        earliest = self._next_start_ns()
        if self._on_wire.first_ns < earliest:
            earliest = self._on_wire.first_ns
        if self._starts.first_ns < earliest:
            earliest = self._starts.first_ns
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
        tail: i64 = 0
        if self._mac_control.count:
            frame = self._mac_control.take()
        elif self._control.count and self.control_pause_end_ns <= start_ns:
            frame = self._control.take()
        else:
            data = self._next_data(start_ns)
            if data is None:
                return
            frame = data
            tail = self._data_tail
        if start_ns > self.wire_free_ns:
            self._remainder = 0
        bits_ns = (i64(len(frame)) + tail_bytes(tail)) * _BIT_NS + self._remainder
        duration_ns = bits_ns // self.rate_bps
        self._remainder = bits_ns - duration_ns * self.rate_bps
        self.wire_free_ns = start_ns + duration_ns
        self._on_wire.add(self.wire_free_ns, frame, tail)

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
            self._data_tail = source.tail
            source.deficit -= i64(len(frame)) + tail_bytes(source.tail)
            if source.deficit <= 0:
                source.deficit += self._quantum_bytes
                if ready.count > 1:
                    ready.append(ready.take())
            return frame
        return None
