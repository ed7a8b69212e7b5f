# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws the PFC pauses that captures of a run have recorded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass
class _Pause:
    begin_ns: int
    end_ns: int
    quanta: int


def write_pauses(file: PerfettoFile, nodes: Mapping[str, int], port: CapturedPort) -> None:
    """Write the pauses at one port. CaptureError or OSError for a capture that cannot be read.

    A track appears with the first PFC frame of its direction.
    """
    pauses: dict[tuple[Direction, int], _Pause] = {}
    tracks: dict[tuple[Direction, int], int] = {}
    for captured in read_capture(port.path):
        frame, time_ns, direction = unpack_frame(captured.frame), _model_ns(captured), captured.direction
        if frame is None or time_ns is None or direction not in _DIRECTIONS:
            continue
        for traffic_class, quanta in frame.pause_quanta.items():
            key = direction, traffic_class
            if key not in tracks:
                prefix = f"port {port.number}: " if port.number else ""
                tracks[key] = file.track(f"{prefix}{_DIRECTIONS[direction]} {port.peer}", nodes[port.node])
            if key in pauses:
                _write_pause(file, tracks[key], traffic_class, pauses.pop(key), time_ns)
            if quanta:
                end_ns = min(LONGEST_NS, time_ns + quanta_ns(quanta, port.rate_bps))
                pauses[key] = _Pause(time_ns, end_ns, quanta)
    for (direction, traffic_class), pause in pauses.items():
        _write_pause(file, tracks[direction, traffic_class], traffic_class, pause, pause.end_ns)


def _write_pause(file: PerfettoFile, track: int, traffic_class: int, pause: _Pause, next_ns: int) -> None:
    """Write a pause, which ends at the next frame for its class or when its time is over."""
    file.begin(track, pause.begin_ns, f"class {traffic_class} paused", {"quanta": pause.quanta})
    file.end(track, max(pause.begin_ns, min(pause.end_ns, next_ns)))


def _model_ns(captured: CapturedFrame) -> int | None:
    time_us = None if captured.interface.clock is None else captured.interface.clock.model_us(captured.time_ns)
    return None if time_us is None else as_ns(time_us)
