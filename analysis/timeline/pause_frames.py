# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws the PFC pauses that captures of a run have recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.timeline.perfetto_file import PerfettoFile
from analysis.timeline.rows import LONGEST_NS, as_ns
from telemetry.captures.pcapng import CapturedFrame, Direction, read_capture
from wire.pfc import quanta_ns, unpack_frame

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


@dataclass
class _Pause:
    begin_ns: int
    end_ns: int
    quanta: int


class PauseTracks:
    """The tracks of pauses at captured ports. A track appears with the first PFC frame of its port and direction."""

    def __init__(self, file: PerfettoFile, nodes: Mapping[str, int]) -> None:
        self._file = file
        self._nodes = nodes

    def write(self, port: CapturedPort) -> None:
        """Write the pauses at one port. CaptureError or OSError for a capture that cannot be read."""
        pauses: dict[tuple[Direction, int], _Pause] = {}
        tracks: dict[tuple[Direction, int], int] = {}
        for seen in read_capture(port.path):
            frame = unpack_frame(seen.frame)
            time_ns = _model_ns(seen)
            if frame is None or time_ns is None or seen.direction not in _DIRECTIONS:
                continue
            for traffic_class, quanta in frame.pause_quanta.items():
                key = seen.direction, traffic_class
                if key not in tracks:
                    tracks[key] = self._add_track(port, seen.direction)
                if key in pauses:
                    self._write_pause(tracks[key], traffic_class, pauses.pop(key), time_ns)
                if quanta:
                    end_ns = min(LONGEST_NS, time_ns + quanta_ns(quanta, port.rate_bps))
                    pauses[key] = _Pause(time_ns, end_ns, quanta)
        for (direction, traffic_class), pause in pauses.items():
            self._write_pause(tracks[direction, traffic_class], traffic_class, pause, pause.end_ns)

    def _add_track(self, port: CapturedPort, direction: Direction) -> int:
        name = f"{_DIRECTIONS[direction]} {port.peer}"
        if port.number:
            name = f"port {port.number}: {name}"
        return self._file.track(name, self._nodes[port.node])

    def _write_pause(self, track: int, traffic_class: int, pause: _Pause, next_ns: int) -> None:
        """Write a pause, which ends at the next frame for its class or when its time is over."""
        self._file.begin(track, pause.begin_ns, f"class {traffic_class} paused", {"quanta": pause.quanta})
        self._file.end(track, max(pause.begin_ns, min(pause.end_ns, next_ns)))


def _model_ns(seen: CapturedFrame) -> int | None:
    time_us = None if seen.interface.clock is None else seen.interface.clock.model_us(seen.time_ns)
    return None if time_us is None else as_ns(time_us)
