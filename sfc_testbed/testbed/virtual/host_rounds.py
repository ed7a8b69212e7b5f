# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The hosts' side of virtual time: runs all NICs for one round, between two exchanges of frames with the switches.

This module is compiled with the engine (`testbed/compiled.json`). NICs do not interact within a round, so each NIC
runs through the whole round before the next one. Time and place alone define the order of events
(docs/decisions/0010-virtual-time-in-rounds.md): a NIC's frames are ordered by time, then by the order in which its port
sent them. A frame comes before the NIC's own events of the same instant. NICs run in the order of their numbers.
"""

from collections.abc import Callable, Sequence
from struct import Struct
from sys import byteorder
from typing import Final

from librt.strings import BytesWriter, read_i32_le, read_i64_le, write_i64_le
from librt.vecs import vec
from mypy_extensions import i64

from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.scheduling.timed_frames import TimedFrames
from sfc_testbed.hosts.transport.transmission import PAYLOAD_BLOCK
from sfc_testbed.wire.tail import whole_frame

_DEPARTURE_BYTES: Final = 32
_OFFSET_AT: Final = 8
_LENGTH_AT: Final = 12
_PORT_AT: Final = 16
_ENGINE_AT: Final = 20
_TAIL_AT: Final = 24
"""Layout of a `softswitch.engine.DEPARTURE`, which begins with its time."""
_PLACE: Final = Struct("=II")


class Outgoing:
    """Frames for switches, in the format of `softswitch.engine.Fabric.put`."""

    def __init__(self) -> None:
        self._entries = BytesWriter()
        self._frames = BytesWriter()

    def add(self, time_ns: i64, place: i64, frame: bytes, tail: i64) -> None:
        """Add a frame, with its tail (wire.tail), for a place as numbered by `place_of`."""
        entries = self._entries
        write_i64_le(entries, time_ns)
        write_i64_le(entries, place)
        write_i64_le(entries, i64(len(frame)))
        write_i64_le(entries, tail)
        self._frames.write(frame)

    def take(self) -> tuple[bytes, bytes]:
        """Return and remove all entries and frames."""
        entries, frames = self._entries.getvalue(), self._frames.getvalue()
        self._entries.truncate(0)
        self._frames.truncate(0)
        return entries, frames


def place_of(engine: int, port: int) -> int:
    """Return a switch's engine and port as one number."""
    return int.from_bytes(_PLACE.pack(engine, port), byteorder)


class _Routes:
    """A table of the NICs that frames reach when they leave switches, by the switch's engine and port."""

    def __init__(self, plugs: Sequence[tuple[int, int]]) -> None:
        """`plugs` is as in `HostRounds`."""
        self._ports: i64 = max([port for _, port in plugs], default=0) + 1
        routes = [-1] * (self._ports * (max([engine for engine, _ in plugs], default=0) + 1))
        for number, (engine, port) in enumerate(plugs):
            routes[engine * self._ports + port] = number
        self._routes = vec[i64](routes)

    def of(self, engine: i64, port: i64) -> i64:
        """Return the number of the NIC at a port."""
        return self._routes[engine * self._ports + port]


class HostRounds:
    """The NICs, the frames that wait for them, and the time of each NIC's next event."""

    def __init__(
        self,
        nics: list[Nic],
        plugs: Sequence[tuple[int, int]],
        write: Callable[[str, Event], None],
        capture: Callable[[int, bytes, int], None],
        captured: frozenset[int],
    ) -> None:
        """Connect the NICs to the switches' ports.

        `plugs` has the engine and port of each NIC. `write` gets the NICs' events with the host's name. `capture` gets
        the frames of the NICs whose numbers are in `captured`, in order of time.
        """
        self._nics = nics
        self._write = write
        self._capture = capture
        self._captured = captured
        self._has_captures = bool(captured)
        self.to_switches = Outgoing()
        self._routes = _Routes(plugs)
        self._places = vec[i64]([place_of(engine, port) for engine, port in plugs])
        self._waiting = [TimedFrames() for _ in nics]
        self._next_ns = vec[i64]([NEVER] * len(nics))
        self._earliest_ns: i64 = NEVER
        for number in range(len(nics)):
            self.plan(number)

    def next_ns(self) -> int:
        """Return the time of the next event of any NIC; NEVER if there is none."""
        return self._earliest_ns

    def deliver(self, departures: bytes, frames: bytes) -> None:
        """Take frames of switches from `softswitch.engine.Fabric.run`; none of them is due in an earlier round."""
        for at in range(i64(0), i64(len(departures)), _DEPARTURE_BYTES):
            due_ns, begin = read_i64_le(departures, at), i64(read_i32_le(departures, at + _OFFSET_AT))
            frame = frames[begin : begin + i64(read_i32_le(departures, at + _LENGTH_AT))]
            port, engine = i64(read_i32_le(departures, at + _PORT_AT)), i64(read_i32_le(departures, at + _ENGINE_AT))
            tail = read_i64_le(departures, at + _TAIL_AT)
            number = self._routes.of(engine, port)
            self._waiting[number].add(due_ns, frame, tail)
            self._expect(number, due_ns)

    def run(self, until_ns: i64) -> int:
        """Run all NICs up to and including an instant; return how many NICs had an event."""
        if self._earliest_ns > until_ns:
            return 0
        turns = 0
        self._earliest_ns = NEVER
        for number in range(i64(len(self._nics))):
            next_ns = self._next_ns[number]
            if next_ns <= until_ns:
                self._run_nic(number, until_ns)
                self.plan(number)
                turns += 1
            elif next_ns < self._earliest_ns:
                self._earliest_ns = next_ns
        return turns

    def quiesce(self) -> None:
        """Stop the NICs from sending; they still receive."""
        self._earliest_ns = NEVER
        for number in range(len(self._nics)):
            self._nics[number].quiesce()
            self.plan(number)

    def _run_nic(self, number: i64, until_ns: i64) -> None:
        nic = self._nics[number]
        waiting = self._waiting[number]
        captured: list[tuple[int, bytes]] | None = None
        if self._has_captures and number in self._captured:
            captured = []
        while waiting.first_ns <= until_ns and waiting.count:
            time_ns = waiting.first_ns
            frame = waiting.take()
            if captured is not None:
                captured.append((time_ns, whole_frame(frame, waiting.tail, PAYLOAD_BLOCK)))
            nic.receive(frame, time_ns, waiting.tail)
        wire = nic.advance(until_ns)
        place = self._places[number]
        while (sent := wire.take_finished(until_ns)) is not None:
            self.to_switches.add(wire.finish_ns, place, sent, wire.tail)
            if captured is not None:
                captured.append((wire.finish_ns, whole_frame(sent, wire.tail, PAYLOAD_BLOCK)))
        if captured is not None:
            for frame_ns, frame in sorted(captured, key=_time_ns):
                self._capture(number, frame, frame_ns)
        while (event := nic.next_event()) is not None:
            self._write(nic.address.name, event)

    def plan(self, number: i64) -> None:
        """Update a NIC's next event after the NIC has run or has got a message."""
        self._next_ns[number] = NEVER
        next_ns = self._nics[number].next_timer_ns()
        if next_ns is not None:
            self._expect(number, next_ns)
        self._expect(number, self._waiting[number].first_ns)

    def _expect(self, number: i64, time_ns: i64) -> None:
        """Move a NIC's next event forward to this time if it is later."""
        if time_ns < self._next_ns[number]:
            self._next_ns[number] = time_ns
            if time_ns < self._earliest_ns:
                self._earliest_ns = time_ns


def _time_ns(timed: tuple[int, bytes]) -> int:
    return timed[0]
