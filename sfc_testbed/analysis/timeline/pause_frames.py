# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads the PFC pauses that captures of a run have recorded, and draws them on the timeline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sfc_testbed.analysis.timeline.perfetto_file import PerfettoFile
from sfc_testbed.analysis.timeline.rows import LONGEST_NS, as_ns
from sfc_testbed.telemetry.captures.pcapng import CapturedFrame, Direction, read_capture
from sfc_testbed.wire.pfc import quanta_ns, unpack_frame

_DIRECTIONS = {Direction.IN: "PFC received from", Direction.OUT: "PFC sent to"}


@dataclass(frozen=True)
class CapturedPort:
    """A port of a node and the capture of its frames."""

    node: str
    number: int
    """The number of the port, from 1. A host's only port is 0."""
    peer: str
    rate_bps: int
    path: Path


@dataclass(frozen=True)
class CapturedPause:
    """A PFC frame, and the pause of one class that it begins; a frame that ends a pause begins none."""

    direction: Direction
    traffic_class: int
    begin_ns: int
    end_ns: int
    """The time of the next frame for the class, or the end of the requested time."""
    quanta: int


def captured_pauses(port: CapturedPort) -> Iterator[CapturedPause]:
    """Yield the pauses at a port. CaptureError or OSError for a capture that cannot be read."""
    pauses: dict[tuple[Direction, int], CapturedPause] = {}
    for captured in read_capture(port.path):
        frame, time_ns, direction = unpack_frame(captured.frame), _model_ns(captured), captured.direction
        if frame is None or time_ns is None or direction not in _DIRECTIONS:
            continue
        for traffic_class, quanta in frame.pause_quanta.items():
            earlier = pauses.pop((direction, traffic_class), None)
            if earlier is not None:
                yield replace(earlier, end_ns=max(earlier.begin_ns, min(earlier.end_ns, time_ns)))
            end_ns = min(LONGEST_NS, time_ns + quanta_ns(quanta, port.rate_bps))
            pauses[direction, traffic_class] = CapturedPause(direction, traffic_class, time_ns, end_ns, quanta)
    yield from pauses.values()


def write_pauses(file: PerfettoFile, nodes: Mapping[str, int], port: CapturedPort) -> None:
    """Write the pauses at one port. CaptureError or OSError for a capture that cannot be read."""
    tracks: dict[tuple[Direction, int], int] = {}
    prefix = f"port {port.number}: " if port.number else ""
    for pause in captured_pauses(port):
        key = pause.direction, pause.traffic_class
        if key not in tracks:
            tracks[key] = file.track(f"{prefix}{_DIRECTIONS[pause.direction]} {port.peer}", nodes[port.node])
        if pause.quanta:
            file.begin(tracks[key], pause.begin_ns, f"class {pause.traffic_class} paused", {"quanta": pause.quanta})
            file.end(tracks[key], pause.end_ns)


def _model_ns(captured: CapturedFrame) -> int | None:
    time_us = None if captured.interface.clock is None else captured.interface.clock.model_us(captured.time_ns)
    return None if time_us is None else as_ns(time_us)
