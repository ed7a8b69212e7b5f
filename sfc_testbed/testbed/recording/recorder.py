# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Collects the measurements of a run and writes them to the run's folder, for both clocks.

Records arrive in model units (`hosts.records`). The clock saves them to the journal about once per second of wall time.
The row of a flow needs the reports of both ends, so it is made after the run. Unfinished flows have rows, too.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

import polars as pl

from sfc_testbed.hosts.protocol import Congestion, FlowReceived, FlowSent, Goodput, Late, Record, Signal
from sfc_testbed.telemetry.flow_parts import PLANNED, RECEIVED, SENT
from sfc_testbed.telemetry.journal import new_journal
from sfc_testbed.telemetry.queue_samples import Samples
from sfc_testbed.telemetry.reader import scan_trace
from sfc_testbed.telemetry.schema import CONGESTION, FLOWS, GOODPUT, LATENESS, LINKS, QUEUES, SIGNALS, TraceSchema
from sfc_testbed.telemetry.writer import RowValues, SegmentWriter
from sfc_testbed.testbed.flows.planned import write_planned_parts
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.plan.suitability import path_change
from sfc_testbed.testbed.recording.flow_ends import FlowEnds

SCHEMAS: Mapping[type[Record], TraceSchema] = {
    FlowSent: SENT,
    FlowReceived: RECEIVED,
    Signal: SIGNALS,
    Goodput: GOODPUT,
    Late: LATENESS,
    Congestion: CONGESTION,
}
"""The schema of the segments that contain the records of each class."""
SAVE_SECONDS = 1.0
SAVE_SHARE = 0.02
"""The fraction of the run time that saving may take. If a save takes longer, the next one comes later."""


class Recorder:
    """The traces of one run. Leaving the context writes them, even after an error. The journal remains."""

    def __init__(self, plan: RunPlan, folder: Path) -> None:
        self._folder = folder
        self.ends = FlowEnds(len(plan.flows))
        self._journal = new_journal(folder, [switch.name for switch in plan.topology.switches], plan.dilation.factor)
        self._writers = {kind: self.writer(schema) for kind, schema in SCHEMAS.items()}
        self._save_due_s = time.monotonic() + SAVE_SECONDS
        self.problems: tuple[str, ...] = ()
        """Sentences about data that could not be written to the traces. Set by `close`."""
        change = path_change(plan.switch_settings, plan.transport)
        write_planned_parts(self._journal.segments(PLANNED), plan.topology, plan.flows, plan.transport, change=change)

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(all_told=kind is None)

    @property
    def is_save_due(self) -> bool:
        """Whether records should be saved now."""
        return time.monotonic() >= self._save_due_s

    def writer(self, schema: TraceSchema) -> SegmentWriter:
        """Return the writer of a trace's segments."""
        return SegmentWriter(self._journal.segments(schema), schema)

    def begin(self, start_ns: int, zero_ns: int | None = None) -> None:
        """Note that model time 0 is at `start_ns` on the clock of the queue samples.

        `zero_ns`, in a live run, is the same instant on CLOCK_MONOTONIC.
        """
        self._journal.note(start_ns=start_ns)

    def take(self, record: Record) -> None:
        """Take a record of a host. Unfinished flows are reported at the end of the run."""
        self._writers[type(record)].append(record)
        if isinstance(record, FlowReceived):
            self.ends.receive(record.flow_id)
        elif isinstance(record, FlowSent):
            if record.gave_up:
                self.ends.give_up(record.flow_id)
            elif record.finish_us is not None:
                self.ends.complete(record.flow_id)

    def take_values(self, kind: type[Record], values: RowValues) -> None:
        """Take the values of a record of a host, if another process counts the ends of flows."""
        self._writers[kind].append_values(values)

    def queue_samples(self, switch: str, samples: Samples) -> None:
        """Append queue samples of a switch that does not write its own file."""
        with self._journal.samples(switch).open("ab") as file:
            file.write(samples.tobytes())

    def save(self) -> None:
        """Save the records taken so far, so that they survive a kill of the runner."""
        began_s = time.monotonic()
        for writer in self._writers.values():
            writer.flush()
        now_s = time.monotonic()
        self._save_due_s = now_s + max(SAVE_SECONDS, (now_s - began_s) / SAVE_SHARE)

    def close(self, *, all_told: bool) -> None:
        """Write all traces. `all_told`: senders were able to report their unfinished flows."""
        self.save()
        self._journal.note(all_told=all_told)
        self.problems = tuple(self._journal.write_traces())

    def traces(self) -> dict[str, pl.LazyFrame]:
        """Return the traces that figures need, by name, as written. They are lazy because they may be long."""
        schemas = (FLOWS, QUEUES, SIGNALS, LINKS)
        return {schema.name: scan_trace(self._folder / schema.file_name, schema) for schema in schemas}

    def remove_journal(self) -> None:
        """Remove the journal, once the run has a result. The journal of a failed run remains for later recovery."""
        self._journal.remove()
        self._journal.release()

    def release(self) -> None:
        """Release the journal, if it still exists, so that another process may recover it."""
        self._journal.release()
