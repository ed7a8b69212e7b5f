# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The hosts' side of virtual time: all NICs, run for a round, between two exchanges of frames with the switches.

Compiled with the engine (`compiled/sources.py`). A NIC meets no other within a round, so each runs through the whole of
it before the next one does. Order is by time and place alone (docs/decisions/0010-virtual-time-in-rounds.md): a NIC's
frames by their times, then as its port sent them; a frame before the NIC's own doings of that instant; NICs one after
the other by their number.
"""

from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from struct import Struct
from sys import byteorder
from typing import Final

from hosts.transport.messages import Event
from hosts.transport.nic import Nic

NEVER: Final = 2**62
_DEPARTURE: Final = Struct("=qIIii")
_PLACE: Final = Struct("=II")


class Outgoing:
    """Frames for switches, as `softswitch.engine.Fabric.put` takes them."""

    def __init__(self) -> None:
        self.first_ns = NEVER
        """When the first of them is there."""
        self._entries = array("q")
        self._frames: list[bytes] = []

    def add(self, time_ns: int, place: int, frame: bytes) -> None:
        """One, for a place (`place_of`)."""
        self._entries.extend((time_ns, place, len(frame)))
        self._frames.append(frame)
        if time_ns < self.first_ns:
            self.first_ns = time_ns

    def take(self) -> tuple[bytes, bytes]:
        """All of them."""
        entries, frames = self._entries.tobytes(), b"".join(self._frames)
        self._entries = array("q")
        self._frames = []
        self.first_ns = NEVER
        return entries, frames


def place_of(engine: int, port: int) -> int:
    """A port of a switch in one number."""
    return int.from_bytes(_PLACE.pack(engine, port), byteorder)


class HostRounds:
    """NICs, what is on its way to them, and when each has something to do next."""

    def __init__(
        self,
        nics: list[Nic],
        plugs: Sequence[tuple[int, int]],
        write: Callable[[str, Event], None],
        capture: Callable[[int, bytes, int], None],
        captured: frozenset[int],
        far: Mapping[tuple[int, int], tuple[int, int]],
        workers: int,
    ) -> None:
        """`plugs`: the engine and port of each NIC. `write` gets what NICs tell, by name; `capture` the frames of the
        NICs whose numbers are `captured`, in order of time. `far`: where frames of an engine and port go that are for
        no NIC: one of so many `workers`, and a place there."""
        self._nics = nics
        self._write = write
        self._capture = capture
        self._captured = captured
        self._far = dict(far)
        self.to_workers = [Outgoing() for _ in range(workers)]
        self.to_switches = Outgoing()
        self._places = [place_of(engine, port) for engine, port in plugs]
        self._nic_at = {plug: number for number, plug in enumerate(plugs)}
        self._waiting: list[deque[tuple[int, bytes]]] = [deque() for _ in nics]
        self._next_ns = [NEVER for _ in nics]
        self._planned: list[tuple[int, int]] = []
        for number in range(len(nics)):
            self._plan(number)

    def next_ns(self) -> int:
        """When a NIC has something to do next; NEVER if none has."""
        planned = self._planned
        while planned and self._next_ns[planned[0][1]] != planned[0][0]:
            heappop(planned)
        return planned[0][0] if planned else NEVER

    def deliver(self, departures: bytes, frames: bytes) -> None:
        """Frames that switches sent, as `softswitch.engine.Fabric.run` gives them; none is due in an earlier round."""
        for due_ns, offset, length, port, engine in _DEPARTURE.iter_unpack(departures):
            number = self._nic_at.get((engine, port), -1)
            if number < 0:
                worker, place = self._far[engine, port]
                self.to_workers[worker].add(due_ns, place, frames[offset : offset + length])
                continue
            waiting = self._waiting[number]
            turn = len(waiting)
            while turn > 0 and waiting[turn - 1][0] > due_ns:  # its link has held back those before it
                turn -= 1
            waiting.insert(turn, (due_ns, frames[offset : offset + length]))
            if due_ns < self._next_ns[number]:
                self._next_ns[number] = due_ns
                heappush(self._planned, (due_ns, number))

    def run(self, until_ns: int) -> int:
        """Everything up to and at that instant; how many NICs had anything to do."""
        planned = self._planned
        due: list[int] = []
        while planned and planned[0][0] <= until_ns:
            time_ns, number = heappop(planned)
            if self._next_ns[number] == time_ns:
                self._next_ns[number] = NEVER
                due.append(number)
        due.sort()
        for number in due:
            self._run_nic(number, until_ns)
            self._plan(number)
        return len(due)

    def quiesce(self) -> None:
        """NICs fall silent: they only receive."""
        for number, nic in enumerate(self._nics):
            nic.quiesce()
            self._next_ns[number] = NEVER
            self._plan(number)

    def _run_nic(self, number: int, until_ns: int) -> None:
        nic = self._nics[number]
        waiting = self._waiting[number]
        frames: list[bytes] = []
        times_ns: list[int] = []
        while waiting and waiting[0][0] <= until_ns:
            time_ns, frame = waiting.popleft()
            frames.append(frame)
            times_ns.append(time_ns)
        nic.receive_batch(frames, times_ns)
        sent = nic.frames_to_send(until_ns)
        place = self._places[number]
        for time_ns, frame in sent:
            self.to_switches.add(time_ns, place, frame)
        if number in self._captured:
            for time_ns, frame in sorted([*zip(times_ns, frames, strict=True), *sent], key=_time_ns):
                self._capture(number, frame, time_ns)
        while (event := nic.next_event()) is not None:
            self._write(nic.address.name, event)

    def _plan(self, number: int) -> None:
        """After a NIC has run."""
        next_ns = self._nics[number].next_timer_ns()
        earliest_ns = NEVER if next_ns is None else next_ns
        waiting = self._waiting[number]
        if waiting and waiting[0][0] < earliest_ns:
            earliest_ns = waiting[0][0]
        if earliest_ns < NEVER:
            self._next_ns[number] = earliest_ns
            heappush(self._planned, (earliest_ns, number))


def _time_ns(timed: tuple[int, bytes]) -> int:
    return timed[0]
