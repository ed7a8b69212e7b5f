# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs softswitch's C engine inside this process, for the virtual clock and for tests.

Owns the ctypes interface to `c/switch/{fabric,switch}.h`. It must not know what a program does or read a clock.
Times are integers in nanoseconds on the caller's clock. An engine or fabric may be used by one thread only.
"""

from __future__ import annotations

import ctypes
import json
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from softswitch.control import CommandError
from softswitch.library import Config, Outbox, Text, load

__all__ = [
    "DEPARTURE",
    "DEPARTURE_RECORD",
    "ENTRY",
    "ENTRY_RECORD",
    "TELEMETRY_RECORD",
    "CommandError",
    "Departure",
    "EdgeDeparture",
    "Fabric",
    "SeenFrame",
    "SwitchEngine",
]

TELEMETRY_RECORD = np.dtype(
    [
        ("time_ns", "<i8"),
        ("port", "<i4"),
        ("class", "<i2"),
        ("part", "<i2"),
        ("depth_bytes", "<u8"),
        ("high_water_bytes", "<u8"),
    ]
)
"""A row of queue telemetry as the C code writes it, in memory and in files; see `c/traffic/telemetry.h`."""

DEPARTURE_RECORD = np.dtype(
    [("due_ns", "<i8"), ("offset", "<u4"), ("length", "<u4"), ("port", "<i4"), ("engine", "<i4"), ("tail", "<i8")]
)
"""`DEPARTURE` as rows of an array."""

ENTRY_RECORD = np.dtype([("time_ns", "<i8"), ("engine", "<u4"), ("port", "<u4"), ("length", "<i8"), ("tail", "<i8")])
"""`ENTRY` as rows of an array."""

Departure: TypeAlias = tuple[int, int, bytes]
"""A frame that leaves a single engine: (port, due_ns, frame)."""

EdgeDeparture: TypeAlias = tuple[int, int, int, bytes]
"""A frame that leaves a fabric: (engine_index, port, due_ns, frame)."""

SeenFrame: TypeAlias = tuple[int, int, int, bool, bytes]
"""A frame at a watched port: (time_ns, engine_index, port, whether the frame leaves the switch there, frame)."""

_NEVER = 2**63 - 1
DEPARTURE = struct.Struct("=qIIiiq")
"""The record of a departure in a batch: due_ns, offset of the frame in the batch's bytes, length, port, engine, tail.

A tail is a `struct sw_tail` as a number; 0 means that all bytes of the frame are stored."""
ENTRY = struct.Struct("=qIIqq")
"""The record of a frame in a batch of arrivals: time_ns, engine, port, frame length, tail. The bytes of all frames
follow each other in the order of the records."""


_MEMORY_VIEW = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)(
    ("PyMemoryView_FromMemory", ctypes.pythonapi)
)
_READ_ONLY = 0x100


def _contents(outbox: Outbox) -> tuple[bytes, bytes]:
    return (
        ctypes.string_at(outbox.items, outbox.count * DEPARTURE.size),
        ctypes.string_at(outbox.bytes, outbox.n_bytes),
    )


def _departures(outbox: Outbox, block: bytes) -> list[EdgeDeparture]:
    items, frames = _contents(outbox)
    return [
        (index, port, due_ns, _whole(frames[offset : offset + length], tail, block))
        for due_ns, offset, length, port, index, tail in DEPARTURE.iter_unpack(items)
    ]


def _whole(frame: bytes, tail: int, block: bytes) -> bytes:
    """Return a frame with the bytes that its tail describes."""
    start, count, cut = tail & 0xFFFFFFFF, tail >> 32 & 0xFFFF, len(frame) - (tail >> 48)
    return frame[:cut] + block[start : start + count] + frame[cut:]


class _Loop:
    """The C fabric behind a single engine or a `Fabric`."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.library = library
        self.handle = library.sw_fabric_create()
        if not self.handle:
            raise MemoryError("no memory for a switch fabric")
        self._outbox = Outbox.from_address(library.sw_fabric_outbox(self.handle))
        self._block = b""

    def add(self, engine: SwitchEngine) -> int:
        """Add an engine and return its index."""
        index: int = self.library.sw_fabric_add(self.handle, engine._handle, engine._library.sw_switch_layout())
        if index < 0:
            raise ValueError(f"{engine.path} was built from other softswitch sources than the first engine")
        return index

    def set_block(self, block: bytes) -> None:
        """Set the block that tails refer to."""
        if self.library.sw_fabric_set_block(self.handle, block, len(block)):
            raise MemoryError("no memory for a block of payload bytes")
        self._block = block

    def departed(self) -> tuple[bytes, bytes]:
        """Return the outbox contents after the last call: the `DEPARTURE` records and the bytes of the frames."""
        return _contents(self._outbox)

    def departures(self) -> list[EdgeDeparture]:
        """Return the outbox contents after the last call as a list of tuples."""
        return _departures(self._outbox, self._block)

    def seen(self) -> list[SeenFrame]:
        """Return the frames seen at watched ports and forget them."""
        frames_seen: list[SeenFrame] = []
        for leaves in (False, True):
            outbox = Outbox.from_address(self.library.sw_fabric_seen(self.handle, leaves))
            frames_seen += [
                (due_ns, index, port, leaves, frame) for index, port, due_ns, frame in _departures(outbox, self._block)
            ]
        self.library.sw_fabric_forget_seen(self.handle)
        return frames_seen

    def next_timer_ns(self) -> int | None:
        """Return the time of the next internal event, or None without one."""
        next_ns: int = self.library.sw_fabric_next_ns(self.handle)
        return None if next_ns == _NEVER else next_ns

    def close(self) -> None:
        """Free the C fabric; its engines stay open."""
        self.library.sw_fabric_destroy(self.handle)
        self.handle = None


class SwitchEngine:
    """A switch that runs one program.

    `library` comes from `softswitch.build.build_library`. Every port below 510 has a device. With `bmv2_ports`, ports
    510 and 511 have one too, and all ports carry frames of 0 bytes. P4 timestamps are microseconds since `epoch_ns`;
    `seed` feeds the program's random(); `sample_ns` is the telemetry interval, None for no telemetry. A multiple of it
    may be the interval of rows with the bytes of links (`link_sample_ns`).
    """

    def __init__(
        self,
        library: Path,
        *,
        seed: int = 0,
        epoch_ns: int = 0,
        sample_ns: int | None = None,
        link_sample_ns: int = 0,
        bmv2_ports: bool = False,
    ) -> None:
        self.path = library
        self._library = load(library)
        self._text = Text()
        if link_sample_ns and (sample_ns is None or link_sample_ns % sample_ns):
            raise ValueError(f"link_sample_ns {link_sample_ns} is not a multiple of sample_ns {sample_ns}")
        config = Config(
            seed=seed,
            epoch_ns=epoch_ns,
            sample_ns=sample_ns or 0,
            link_sample_ns=link_sample_ns,
            all_ports=True,
            bmv2_ports=bmv2_ports,
        )
        program = ctypes.c_char.in_dll(self._library, "sw_program")
        self._handle = self._library.sw_switch_create(ctypes.addressof(program), ctypes.byref(config))
        if not self._handle:
            raise MemoryError(f"{library} created no switch: no memory, or built for another version of pipeline.h")
        self._loop: _Loop | None = _Loop(self._library)
        self._loop.add(self)
        self._owner = self._loop

    def command(self, line: str) -> str:
        """Run one control command (`simple_switch_CLI` syntax). Raise CommandError that names the wrong word."""
        [answer] = self.commands((line,))
        return answer

    def commands(self, lines: Iterable[str]) -> list[str]:
        """Run control commands in order, all at the present instant, and return their answers.

        One call with many lines is faster than many calls of `command`.
        """
        execute, text, answers = self._library.sw_control_execute, self._ready_text(), []
        try:
            for line in lines:
                failed = execute(self._handle, line.encode(), text)
                answer = ctypes.string_at(self._text.bytes, self._text.length).decode() if self._text.length else ""
                if failed:
                    raise CommandError(answer)
                answers.append(answer)
        finally:
            self._library.sw_fabric_replan(self._owner.handle)
        return answers

    def receive(self, port: int, frame: bytes, now_ns: int) -> None:
        """Hand over a frame whose last bit reached the port's ingress delay line at `now_ns`."""
        loop = self._alone()
        if self._library.sw_fabric_receive(loop.handle, 0, port, frame, len(frame), now_ns) == -22:
            raise ValueError(f"no port {port}")

    def advance(self, now_ns: int) -> list[Departure]:
        """Run everything due by `now_ns`. Return the frames that started on a wire, with their arrival times."""
        loop = self._alone()
        return self._departures(loop, self._library.sw_fabric_drain(loop.handle, now_ns))

    def step(self, port: int, frame: bytes, now_ns: int) -> list[Departure]:
        """Call `receive` and `advance` for the same time at once."""
        loop = self._alone()
        count = self._library.sw_fabric_step(loop.handle, 0, port, frame, len(frame), now_ns)
        return self._departures(loop, count)

    @staticmethod
    def _departures(loop: _Loop, count: int) -> list[Departure]:
        return [departure[1:] for departure in loop.departures()] if count else []

    def next_timer_ns(self) -> int | None:
        """Return the time at which `advance` next has work to do, or None for never."""
        return self._alone().next_timer_ns()

    def telemetry(self) -> npt.NDArray[Any]:
        """Return the rows of the intervals that have ended, as TELEMETRY_RECORD, and forget them."""
        self._library.sw_fabric_settle(self._owner.handle)
        return self.ready_telemetry()

    def last_telemetry(self) -> npt.NDArray[Any]:
        """Return the rows of `telemetry` and those of links in the interval that has not ended, and forget them.

        Call this when no more frame will come.
        """
        self._library.sw_fabric_settle(self._owner.handle)
        self._library.sw_switch_end_links(self._handle)
        return self.ready_telemetry()

    def ready_telemetry(self) -> npt.NDArray[Any]:
        """Return the rows that exist already and forget them; a switch writes rows when its clock advances.

        This call does not advance the clock. It therefore changes no later row, even if called between two events of
        the same instant.
        """
        address = ctypes.c_void_p()
        count = self._library.sw_switch_telemetry(self._handle, ctypes.byref(address))
        return np.frombuffer(ctypes.string_at(address, count * TELEMETRY_RECORD.itemsize), TELEMETRY_RECORD)

    def statistics(self) -> dict[str, Any]:
        """Return the counters since creation; `c/switch/statistics.c` lists the keys."""
        self._library.sw_switch_statistics(self._handle, self._ready_text())
        values: dict[str, Any] = json.loads(ctypes.string_at(self._text.bytes, self._text.length))
        return values

    def close(self) -> None:
        """Free the switch. A fabric that holds it must be closed first."""
        if not self._handle:
            return
        if self._loop:
            self._loop.close()
        self._library.sw_text_free(ctypes.byref(self._text))
        self._library.sw_switch_destroy(self._handle)
        self._handle = None

    def __enter__(self) -> SwitchEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ready_text(self) -> Any:
        """Bring the switch's clock up to date and return an empty text buffer for an answer."""
        self._library.sw_fabric_settle(self._owner.handle)
        text = ctypes.byref(self._text)
        self._library.sw_text_clear(text)
        return text

    def _alone(self) -> _Loop:
        if self._loop is None:
            raise RuntimeError("this engine is part of a fabric: drive it through the fabric")
        return self._loop

    def _join(self, loop: _Loop) -> int:
        """Move this engine from its own C fabric to a shared one and return its index there."""
        self._alone().close()
        self._loop = None
        self._owner = loop
        return loop.add(self)


class Fabric:
    """Switches joined by links, run in C. Only departures at edge ports reach the caller.

    Causality is the caller's duty: it must not hand over a frame for a time that was run already. A caller whose
    hosts take at least T to answer runs the fabric for T, then hands over all answers to that step.
    At equal times switch events come before the caller's frames. The order of a switch's events is that of
    `c/switch/switch.h`.
    """

    def __init__(self) -> None:
        self._engines: list[SwitchEngine] = []
        self._indices: dict[int, int] = {}
        """The index of each engine, by the `id` of the engine, which `_engines` keeps alive."""
        self._loop: _Loop | None = None

    def add(self, engine: SwitchEngine) -> int:
        """Add an engine that holds no packets yet and return its index; `connect` calls this itself."""
        index = self._indices.get(id(engine))
        if index is not None:
            return index
        if self._loop is None:
            self._loop = _Loop(engine._library)
        engine._join(self._loop)
        self._engines.append(engine)
        return self._indices.setdefault(id(engine), len(self._engines) - 1)

    def connect(self, engine_a: SwitchEngine, port_a: int, engine_b: SwitchEngine, port_b: int) -> None:
        """Join two ports in both directions; the ports' own rates and delays apply."""
        a, b = self.add(engine_a), self.add(engine_b)
        if self._running().library.sw_fabric_connect(self._running().handle, a, port_a, b, port_b) < 0:
            raise ValueError(f"engine {a} port {port_a} and engine {b} port {port_b} cannot be joined")

    def receive(self, engine: int, port: int, frame: bytes, now_ns: int) -> None:
        """Hand a frame to an edge port."""
        loop = self._running()
        if loop.library.sw_fabric_receive(loop.handle, engine, port, frame, len(frame), now_ns) == -22:
            raise ValueError(f"no engine {engine} or no port {port}")

    def lead(self, engine: int, port: int, peer: int, far_engine: int, far_port: int) -> None:
        """Join a port to a port of another fabric, the peer with this number, for `outgoing`."""
        loop = self._running()
        if loop.library.sw_fabric_lead(loop.handle, engine, port, peer, far_engine, far_port) < 0:
            raise ValueError(f"engine {engine} port {port} cannot be joined to another fabric")

    def outgoing(self, peer: int) -> tuple[memoryview, memoryview]:
        """Return `DEPARTURE` records with the peer's engines and ports, and bytes, for the peer's `put_outgoing`.

        These are the frames since `forget_outgoing`. The views are valid until this fabric runs again.
        """
        loop = self._running()
        address = loop.library.sw_fabric_outgoing(loop.handle, peer)
        outbox = Outbox() if address is None else Outbox.from_address(address)
        if not outbox.count:
            return memoryview(b""), memoryview(b"")
        return (
            _MEMORY_VIEW(outbox.items, outbox.count * DEPARTURE.size, _READ_ONLY),
            _MEMORY_VIEW(outbox.bytes, outbox.n_bytes, _READ_ONLY),
        )

    def forget_outgoing(self) -> None:
        """Forget the frames for all peers."""
        self._running().library.sw_fabric_forget_outgoing(self._running().handle)

    def put_outgoing(self, departures: memoryview, frames: memoryview) -> None:
        """Hand over frames from the `outgoing` of another fabric, in writable memory."""
        if not departures:
            return
        loop = self._running()
        count = len(departures) // DEPARTURE.size
        records, contents = (ctypes.addressof(ctypes.c_char.from_buffer(view)) for view in (departures, frames))
        if loop.library.sw_fabric_put_outgoing(loop.handle, records, count, contents, len(frames)):
            raise ValueError("frames that do not fit these engines")

    def put(self, entries: bytes, frames: bytes) -> None:
        """Hand over many frames with one `ENTRY` each, in any order: a switch sorts them by time and port."""
        loop = self._running()
        if loop.library.sw_fabric_put(loop.handle, entries, len(entries) // ENTRY.size, frames, len(frames)):
            raise ValueError("entries that do not fit their frames or these engines")

    def run(self, until_ns: int) -> tuple[bytes, bytes]:
        """Run all events up to `until_ns`. Return the `DEPARTURE` records and the bytes of the frames.

        The records of a port are in the order in which its packets started on the wire.
        """
        loop = self._running()
        return loop.departed() if loop.library.sw_fabric_drain(loop.handle, until_ns) else (b"", b"")

    def run_ahead(self, until_ns: int) -> tuple[bytes, bytes]:
        """Call `run` to an instant that a later call of `run` will pass: telemetry counts it as run only then."""
        loop = self._running()
        return loop.departed() if loop.library.sw_fabric_run_ahead(loop.handle, until_ns) else (b"", b"")

    def advance(self, until_ns: int) -> list[EdgeDeparture]:
        """Run all events up to `until_ns` and return the departures as a list of tuples."""
        loop = self._running()
        return loop.departures() if loop.library.sw_fabric_drain(loop.handle, until_ns) else []

    def set_block(self, block: bytes) -> None:
        """Set the block in which the tails of frames lie, for frames whose last bytes are described and not stored."""
        self._running().set_block(block)

    def reach_bytes(self) -> int:
        """Return the most bytes from the start of a frame that a switch can read. A frame with a tail should store so
        many before the tail; otherwise a switch copies the tail's bytes from the block."""
        reach: int = self._running().library.sw_fabric_reach_bytes(self._running().handle)
        return reach

    def watch(self, engine: int, port: int) -> None:
        """Record every frame that arrives at a port or leaves by it from now on, for `seen`."""
        if self._running().library.sw_fabric_watch(self._running().handle, engine, port) < 0:
            raise ValueError(f"no engine {engine} or no port {port}")

    def seen(self) -> list[SeenFrame]:
        """Return the frames seen at watched ports since the last call and forget them.

        Arrivals come first, with the time at which they were handed over. Departures follow, with the time at which
        they reach the far end of the link, which may be in the future.
        """
        return self._running().seen()

    def log_departures(self) -> None:
        """Log every frame that leaves a switch from now on, for `logged_departures`."""
        self._running().library.sw_fabric_log_departures(self._running().handle)

    def logged_departures(self) -> npt.NDArray[Any]:
        """Return the log of `log_departures` as DEPARTURE_RECORD; a frame's time is when it has crossed its link."""
        loop = self._running()
        log = Outbox.from_address(loop.library.sw_fabric_departures(loop.handle))
        return np.frombuffer(ctypes.string_at(log.items, log.count * DEPARTURE.size), DEPARTURE_RECORD)

    def next_timer_ns(self) -> int | None:
        """Return the time of the next event of any switch, or of the next arrival at a peer; None without one."""
        return self._running().next_timer_ns()

    @property
    def handle(self) -> int:
        """The address of the C fabric, for `softswitch.meeting`."""
        handle: int = self._running().handle
        return handle

    def close(self) -> None:
        """Free the fabric and close its engines."""
        if self._loop:
            self._loop.close()
            self._loop = None
        for engine in self._engines:
            engine.close()

    def __enter__(self) -> Fabric:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _running(self) -> _Loop:
        if self._loop is None:
            raise RuntimeError("a fabric without engines")
        return self._loop
