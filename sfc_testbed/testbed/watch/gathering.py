# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Gathers what is new in an active run: the samples that switches append to their files, and the records of hosts.

All rows of a chunk are older than the rows of the next chunk. Switches and hosts report at their own times, so a chunk
ends at a time up to which all have reported, and later rows wait.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import inf
from operator import itemgetter
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sfc_testbed.analysis.watch.chunk import Columns
from sfc_testbed.telemetry.flow_parts import RECEIVED, SENT
from sfc_testbed.telemetry.queue_samples import (
    SAMPLE_DTYPE,
    Samples,
    is_of_link,
    is_of_queue,
    model_us,
    samples_from_bytes,
)
from sfc_testbed.telemetry.schema import GOODPUT, SIGNALS, TraceSchema

MOST_SAMPLES = 4096
"""Samples of a switch that are read at a time; the rest is read later."""
MOST_ROWS = 4000
"""Signals, and rows of goodput, in one chunk. Of more, every n-th is kept."""
HOLD_NS = 150_000_000
"""The wall time for which rows wait for earlier ones. Agents report every 50 ms, each at its own time."""
SILENT_NS = 500_000_000
"""The wall time after which rows no longer wait for a switch that writes no samples."""
_SAMPLE_BYTES = SAMPLE_DTYPE.itemsize
_TIME = Struct("=q")
"""The first field of a sample."""
Row = Sequence[Any]


class SampleFile:
    """The file to which a switch appends its samples. It stays readable after the run has deleted it."""

    def __init__(self, switch: str, descriptor: int) -> None:
        self.switch = switch
        self.latest_ns = 0
        """The end of the latest interval that was read, on the clock of the samples."""
        self.has_more = False
        """Whether the file had more samples than were read."""
        self._descriptor = descriptor
        self._read_bytes = 0

    def new(self) -> bytes:
        """Return samples that were not returned before, in order. A switch that starts again truncates its file."""
        size = os.fstat(self._descriptor).st_size
        if size < self._read_bytes:
            self._read_bytes = 0
        unread = (size - self._read_bytes) // _SAMPLE_BYTES
        count = min(unread, MOST_SAMPLES)
        self.has_more = unread > count
        content = os.pread(self._descriptor, count * _SAMPLE_BYTES, self._read_bytes) if count else b""
        self._read_bytes += len(content)
        if content:
            [self.latest_ns] = _TIME.unpack_from(content, len(content) - _SAMPLE_BYTES)
        return content

    def close(self) -> None:
        os.close(self._descriptor)


@dataclass(frozen=True)
class Gathered:
    """New rows of a run."""

    until_us: float
    """The model time up to which the run has been measured."""
    parts: Mapping[str, Columns]
    """The rows of each part of a chunk, by the name of the part."""
    until_ns: int
    """The same time in wall ns after model time 0."""
    is_last: bool
    is_thinned: bool
    """Whether signals or rows of goodput were left out so far, because there were too many."""


class _Waiting:
    """Rows of a trace that hosts have reported."""

    def __init__(self, schema: TraceSchema, time: str, *, may_thin: bool = True) -> None:
        """`time` is the column by which rows are ordered; a row without a time comes first.

        `may_thin`: whether rows may be left out if there are many at a time.
        """
        self._most_rows = MOST_ROWS if may_thin else None
        self._names = schema.column_names
        self._place = self._names.index(time)
        self._rows: list[tuple[float, Row]] = []
        self.is_thinned = False
        """Whether rows were left out."""

    def add(self, rows: Iterable[Row]) -> None:
        self._rows += [(row[self._place] or 0.0, row) for row in rows]

    def take(self, until_us: float) -> dict[str, Sequence[Any]]:
        """Return the columns of the rows up to a time, in the order of time, and keep the later rows."""
        due = [row for row in self._rows if row[0] <= until_us]
        if not due:
            return {}
        self._rows = [row for row in self._rows if row[0] > until_us]
        due.sort(key=itemgetter(0))
        if self._most_rows is not None and len(due) > self._most_rows:
            self.is_thinned = True
            due = due[:: -(-len(due) // self._most_rows)]
        return dict(zip(self._names, zip(*(row for _, row in due), strict=True), strict=True))


class Gathering:
    """The measurements of one run that the page has not got yet."""

    def __init__(self, dilation_factor: int) -> None:
        self._factor = dilation_factor
        self._files: list[SampleFile] = []
        self._start_ns: int | None = None
        self._samples: list[Samples] = []
        """Samples that wait, and the place of their file in the list of files for each of them."""
        self._places: list[NDArray[np.intp]] = []
        self._records = {
            "signals": _Waiting(SIGNALS, "received_us"),
            "goodput": _Waiting(GOODPUT, "until_us"),
            "sent": _Waiting(SENT, "finish_us", may_thin=False),
        }
        self._planned: list[Mapping[str, Sequence[Any]]] = []
        self._received: dict[int, Row] = {}
        """Reports of receivers by flow, until the sender's report comes."""

    def open(self, files: Iterable[SampleFile]) -> None:
        """Add the files of switches."""
        self._files += files

    def begin(self, start_ns: int) -> None:
        """Note that model time 0 is at `start_ns` on the clock of the samples."""
        self._start_ns = start_ns

    def plan(self, flows: Mapping[str, Sequence[Any]]) -> None:
        """Add flows that are not in the scene, as columns."""
        self._planned.append(flows)

    def add(self, records: Mapping[str, Sequence[Row]]) -> None:
        """Add records of hosts, by the name of their trace."""
        for name, rows in records.items():
            if name == RECEIVED.name:
                self._received |= {row[0]: row for row in rows}
            else:
                self._records[name].add(rows)

    def take(self, *, is_over: bool = False) -> Gathered | None:
        """Return the new rows up to a time until which all have reported; None if there is no such time yet.

        If the run is over, return all rows, at several calls if there are many samples.
        """
        if self._start_ns is None:
            return None
        self._read()
        is_all_read = not any(file.has_more for file in self._files)
        newest_ns = max((file.latest_ns for file in self._files), default=0)
        if is_over and is_all_read:
            until_ns = newest_ns
        else:
            active = [file for file in self._files if file.has_more or file.latest_ns > newest_ns - SILENT_NS]
            until_ns = min([newest_ns - HOLD_NS, *(file.latest_ns for file in active)])
        if until_ns <= self._start_ns and not is_over:
            return None
        until_us = (until_ns - self._start_ns) / (1000 * self._factor)
        parts: dict[str, Columns] = self._taken_samples(until_ns, self._start_ns)
        if self._planned:
            parts["planned"] = {name: [*chain(*(flows[name] for flows in self._planned))] for name in self._planned[0]}
            self._planned = []
        for name, waiting in self._records.items():
            columns = waiting.take(inf if is_over and is_all_read else until_us)
            if columns:
                parts |= {"flows": self._flows(columns)} if name == SENT.name else {name: columns}
        is_thinned = any(waiting.is_thinned for waiting in self._records.values())
        return Gathered(until_us, parts, until_ns - self._start_ns, is_over and is_all_read, is_thinned)

    def close(self) -> None:
        for file in self._files:
            file.close()

    def _read(self) -> None:
        """Read new samples."""
        contents = [file.new() for file in self._files]
        counts = [len(content) // _SAMPLE_BYTES for content in contents]
        self._samples.append(samples_from_bytes(b"".join(contents)))
        self._places.append(np.repeat(np.arange(len(counts)), counts))

    def _taken_samples(self, until_ns: int, start_ns: int) -> dict[str, Columns]:
        """Return the queues and links up to a time, and keep the later samples."""
        samples, places = np.concatenate(self._samples), np.concatenate(self._places)
        order = np.argsort(samples["time_ns"], kind="stable")
        samples, places = samples[order], places[order]
        first, end = np.searchsorted(samples["time_ns"], (start_ns, until_ns), side="right")
        self._samples, self._places = [samples[end:]], [places[end:]]
        samples, places = samples[first:end], places[first:end]
        times_us = model_us(samples["time_ns"], start_ns=start_ns, dilation_factor=self._factor)
        switches = np.array([file.switch for file in self._files], dtype=object)[places]
        parts: dict[str, Columns] = {}
        is_held = is_of_queue(samples) & (samples["high_water_bytes"] > 0)
        for name, chosen, columns in (("queues", is_held, _QUEUE), ("links", is_of_link(samples), _LINK)):
            if chosen.any():
                values = {column: samples[field][chosen] for column, field in columns.items()}
                parts[name] = {"time_us": times_us[chosen], "switch": switches[chosen].tolist(), **values}
        return parts

    def _flows(self, sent: Mapping[str, Sequence[Any]]) -> Columns:
        """Return reports of senders with what their receivers have reported."""
        received = [self._received.pop(number, None) for number in sent["flow_id"]]
        names = RECEIVED.column_names
        columns = {
            name: [None if row is None else row[place] for row in received]
            for place, name in enumerate(names)
            if name not in sent
        }
        return {**sent, **columns}


_QUEUE = {name: name for name in ("port", "class", "depth_bytes", "high_water_bytes")}
_LINK = {"port": "port", "sent_bytes": "high_water_bytes", "received_bytes": "depth_bytes"}
"""The fields of samples by the columns of the traces."""
