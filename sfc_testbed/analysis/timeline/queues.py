# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws the queues of switches as counters: the most bytes that were queued at once in each sampling interval.

A counter is written only where its value changes, so an idle queue costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sfc_testbed.analysis.timeline.perfetto_file import BYTES, PerfettoFile
from sfc_testbed.analysis.timeline.rows import batches, in_ns
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.telemetry.schema import WHOLE_BUFFER

_MEANING = "The most bytes that were queued at once in each sampling interval."

Queue = tuple[int, int]
"""A port and a class; both are WHOLE_BUFFER for the whole buffer of a switch."""


class _SwitchCounters:
    """The counters of one switch, and the rows of the sampling interval that is being read."""

    def __init__(self, file: PerfettoFile, tracks: Mapping[Queue, int]) -> None:
        self._file = file
        self._tracks = tracks
        self._shown: dict[Queue, int] = {}
        self._begin_ns = self._end_ns = 0
        self._peaks: dict[Queue, int] = {}
        self._depths: dict[Queue, int] = {}
        for track in tracks.values():
            file.count(track, 0, 0)

    def add(self, time_ns: int, queue: Queue, depth_bytes: int, peak_bytes: int) -> None:
        """Take one row. The rows of one interval follow each other."""
        if time_ns != self._end_ns:
            self._set(self._begin_ns, self._peaks)
            self._begin_ns, self._end_ns = self._end_ns, time_ns
            self._peaks, self._depths = {}, {}
        self._peaks[queue] = peak_bytes
        self._depths[queue] = depth_bytes

    def finish(self) -> None:
        """Draw the last interval and, after its end, the bytes that are still in the queues."""
        self._set(self._begin_ns, self._peaks)
        self._set(self._end_ns, self._depths)

    def _set(self, time_ns: int, values: Mapping[Queue, int]) -> None:
        """Set the counters that change. A queue without a value is empty."""
        for queue, value in {**dict.fromkeys(self._shown, 0), **values}.items():
            if value != self._shown.get(queue, 0):
                self._file.count(self._tracks[queue], time_ns, value)
        self._shown = {queue: value for queue, value in values.items() if value}


def write_queues(
    file: PerfettoFile, nodes: Mapping[str, int], queues: pl.LazyFrame, peers: Mapping[tuple[str, int], str]
) -> None:
    """Write the samples of all switches. `peers`: the neighbour at each port, by switch and port number."""
    names = answer(queues.select("switch", "port", "class").unique()).sort("switch", "port", "class")
    has_classes = names.filter(pl.col("port") != WHOLE_BUFFER)["class"].n_unique() > 1
    tracks: dict[str, dict[Queue, int]] = {}
    for switch, port, traffic_class in names.iter_rows():
        name = _name(port, traffic_class if has_classes else None, peers.get((switch, port)))
        track = file.counter(name, nodes[switch], BYTES, _MEANING)
        tracks.setdefault(switch, {})[port, traffic_class] = track
    counters = {switch: _SwitchCounters(file, of_switch) for switch, of_switch in tracks.items()}
    columns = (in_ns("time_us"), "switch", "port", "class", "depth_bytes", "high_water_bytes")
    for batch in batches(queues.select(*columns)):
        for time_ns, switch, port, traffic_class, depth_bytes, peak_bytes in batch.iter_rows():
            counters[switch].add(time_ns, (port, traffic_class), depth_bytes, peak_bytes)
    for switch_counters in counters.values():
        switch_counters.finish()


def _name(port: int, traffic_class: int | None, peer: str | None) -> str:
    if port == WHOLE_BUFFER:
        return "buffer"
    to = f" to {peer}" if peer is not None else ""
    return f"port {port}{to}" + (f", class {traffic_class}" if traffic_class is not None else "")
