# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Gathers what a run measures, as it happens, and writes it to the run's folder. The same for both clocks.

Records arrive in model units (`hosts.records`) and go to the journal about once a second of wall time, if whoever runs
the run asks for it as often. A flow's row needs both its ends and is made when the run is over; one that never
finished has a row too.
"""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType

import polars as pl

from hosts.protocol import Congestion, FlowReceived, FlowSent, Goodput, Late, Record, Signal
from telemetry.flow_parts import PLANNED, RECEIVED, SENT
from telemetry.journal import new_journal
from telemetry.queue_samples import Samples
from telemetry.reader import read_trace, scan_trace
from telemetry.schema import CONGESTION, FLOWS, GOODPUT, LATENESS, QUEUES, SIGNALS
from telemetry.writer import SegmentWriter
from testbed.flows.ideal import ideal_fcts_ns
from testbed.plan.plan import RunPlan
from testbed.recording.flow_ends import FlowEnds

SAVE_SECONDS = 1.0
SAVE_SHARE = 0.02
"""Of the time between two saves that saving may take; where it takes longer, saves come less often."""


class Recorder:
    """The traces of one run. Leaving the context writes them, whatever ended the run; the journal stays."""

    def __init__(self, plan: RunPlan, folder: Path) -> None:
        self._folder = folder
        self._ends = FlowEnds(len(plan.flows))
        self._journal = new_journal(folder, [switch.name for switch in plan.topology.switches], plan.dilation.factor)
        self._sent, self._received, self._signals, self._goodput, self._lateness, self._congestion = (
            SegmentWriter(self._journal.segments(schema), schema)
            for schema in (SENT, RECEIVED, SIGNALS, GOODPUT, LATENESS, CONGESTION)
        )
        self._save_due_s = time.monotonic() + SAVE_SECONDS
        self.problems: tuple[str, ...] = ()
        """What could not be written to the traces, as sentences, once they are."""
        planned = SegmentWriter(self._journal.segments(PLANNED), PLANNED)
        planned.append_frame(planned_flows(plan))
        planned.flush()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close(all_told=kind is None)

    @property
    def completed(self) -> int:
        """Flows whose sender has seen the last acknowledgment."""
        return self._ends.completed

    @property
    def is_complete(self) -> bool:
        """Whether every flow is done at both ends, or given up by its sender."""
        return self._ends.is_complete

    @property
    def undelivered(self) -> int:
        """Flows whose sender has seen the last acknowledgment and whose receiver does not have them whole."""
        return self._ends.undelivered

    @property
    def is_save_due(self) -> bool:
        """Whether what was taken since the last `save` should be saved."""
        return time.monotonic() >= self._save_due_s

    def begin(self, start_ns: int) -> None:
        """Model time 0 is at `start_ns` on the clock of the queue samples."""
        self._journal.note(start_ns=start_ns)

    def take(self, record: Record) -> None:
        """What a host tells while the run goes on, or at its end of flows that are not done."""
        if isinstance(record, Goodput):
            self._goodput.append(record)
        elif isinstance(record, Signal):
            self._signals.append(record)
        elif isinstance(record, Late):
            self._lateness.append(record)
        elif isinstance(record, Congestion):
            self._congestion.append(record)
        elif isinstance(record, FlowReceived):
            self._received.append_values((record.flow_id, record.corrupted))
            self._ends.receive(record.flow_id)
        else:
            self._sent.append_values(_sent_values(record))
            if record.gave_up:
                self._ends.give_up(record.flow_id)
            elif record.finish_us is not None:
                self._ends.complete(record.flow_id)

    def queue_samples(self, switch: str, samples: Samples) -> None:
        """Further queue samples of a switch that does not write them to its file by itself."""
        with self._journal.samples(switch).open("ab") as file:
            file.write(samples.tobytes())

    def save(self) -> None:
        """From here on a killed runner does not lose what was taken so far."""
        began_s = time.monotonic()
        traces = (self._sent, self._received, self._signals, self._goodput, self._lateness, self._congestion)
        for trace in traces:
            trace.flush()
        now_s = time.monotonic()
        self._save_due_s = now_s + max(SAVE_SECONDS, (now_s - began_s) / SAVE_SHARE)

    def close(self, *, all_told: bool) -> None:
        """Writes all traces. `all_told`: nothing kept senders from telling of unfinished flows."""
        self.save()
        self._journal.note(all_told=all_told)
        self.problems = tuple(self._journal.write_traces())

    def traces(self) -> tuple[pl.DataFrame, pl.LazyFrame, pl.LazyFrame]:
        """Flows, queues, signals, as they were written; the latter two grow with the packets and may be long."""
        queues, signals = (scan_trace(self._folder / schema.file_name, schema) for schema in (QUEUES, SIGNALS))
        return read_trace(self._folder / FLOWS.file_name, FLOWS), queues, signals

    def remove_journal(self) -> None:
        """Once the run has a result. A run that broke leaves its journal, for others to finish."""
        self._journal.remove()
        self._journal.release()

    def release(self) -> None:
        """Lets others finish the journal, if it is still there."""
        self._journal.release()


def planned_flows(plan: RunPlan) -> pl.DataFrame:
    """The plan's part of the flows trace."""
    flows, nics = plan.columns, plan.transport
    ideal_ns = ideal_fcts_ns(plan.topology, flows, nics.payload_bytes, nic_bps=nics.line_rate_bps)
    hosts = pl.Series([host.name for host in plan.topology.hosts], dtype=pl.String)
    columns = {
        "flow_id": [flow.flow_id for flow in plan.flows],
        "src": hosts.gather(flows.src),
        "dst": hosts.gather(flows.dst),
        "tag": [flow.tag for flow in plan.flows],
        "size_bytes": flows.size_bytes,
        "start_us": [None if flow.after else flow.start_ns / 1000 for flow in plan.flows],
        "ideal_fct_us": ideal_ns / 1000,
    }
    return pl.DataFrame(columns, schema=dict(PLANNED.dtypes))


def _sent_values(record: FlowSent) -> tuple[object, ...]:
    """In the order of the columns of `SENT`."""
    counts = record.counts
    return (
        record.flow_id,
        record.finish_us,
        counts.packets_sent,
        counts.packets_resent,
        counts.bytes_resent,
        counts.timeouts,
        counts.naks,
        record.paused_us,
        record.start_us,
    )
