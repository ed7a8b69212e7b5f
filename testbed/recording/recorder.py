# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Gathers what a run measures, as it happens, and writes it to the run's folder. The same for both clocks.

Records arrive in model units (`hosts.records`). A flow's row needs both its ends and is made when the run is over; one
that never finished has a row too.
"""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import polars as pl

from hosts.protocol import FlowReceived, FlowSent, Goodput, Record, Signal
from hosts.transport.messages import SendingCounts
from scenarios.model.flow import Flow
from telemetry.queue_samples import Samples, queue_rows
from telemetry.rows import FlowRow
from telemetry.schema import FLOWS, GOODPUT, QUEUES, SIGNALS
from telemetry.writer import TraceWriter
from testbed.plan.plan import RunPlan
from testbed.recording.ideal import ideal_fct_ns
from topologies.routes import Paths


class Recorder:
    """The traces of one run. Leaving the context writes them, whatever ended the run."""

    def __init__(self, plan: RunPlan, folder: Path) -> None:
        self._plan = plan
        self._sent: dict[int, FlowSent] = {}
        self._completed = 0
        self._received: dict[int, bool] = {}
        self._queues = TraceWriter(folder / QUEUES.file_name, QUEUES)
        self._signals = TraceWriter(folder / SIGNALS.file_name, SIGNALS)
        self._goodput = TraceWriter(folder / GOODPUT.file_name, GOODPUT)
        self._flows = TraceWriter(folder / FLOWS.file_name, FLOWS)
        self._paths = Paths(plan.topology)
        self._ideal_us: dict[tuple[str, str, int], float] = {}

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def completed(self) -> int:
        """Flows whose sender has seen the last acknowledgment."""
        return self._completed

    @property
    def is_complete(self) -> bool:
        """Whether every flow is done at both ends."""
        return self._completed == len(self._received) == len(self._plan.flows)

    def take(self, record: Record) -> None:
        """What a host tells while the run goes on, or at its end of flows that are not done."""
        if isinstance(record, Goodput):
            self._goodput.append(record)
        elif isinstance(record, Signal):
            self._signals.append(record)
        elif isinstance(record, FlowReceived):
            self._received[record.flow_id] = record.corrupted
        else:
            self._sent[record.flow_id] = record
            self._completed += record.finish_us is not None

    def queue_samples(self, switch: str, samples: Samples, start_ns: int) -> None:
        """Queue samples of one switch; `start_ns` is model time 0 on the switch's clock."""
        factor = self._plan.dilation.factor
        self._queues.append_frame(queue_rows(samples, switch=switch, start_ns=start_ns, dilation_factor=factor))

    def frames(self) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
        """Flows, queues, signals."""
        return self._flows.frame(), self._queues.frame(), self._signals.frame()

    def close(self) -> None:
        """Writes all traces."""
        if not len(self._flows):
            for flow in self._plan.flows:
                self._flows.append(self._flow_row(flow))
        for trace in (self._flows, self._queues, self._signals, self._goodput):
            trace.close()

    def _flow_row(self, flow: Flow) -> FlowRow:
        sent = self._sent.get(flow.flow_id) or FlowSent(flow.flow_id, None, 0.0, SendingCounts())
        ideal_us = self._ideal(flow)
        start_us = flow.start_ns / 1000
        fct_us = None if sent.finish_us is None else sent.finish_us - start_us
        return FlowRow(
            flow_id=flow.flow_id,
            src=flow.src,
            dst=flow.dst,
            tag=flow.tag,
            size_bytes=flow.size_bytes,
            start_us=start_us,
            finish_us=sent.finish_us,
            fct_us=fct_us,
            ideal_fct_us=ideal_us,
            slowdown=None if fct_us is None else fct_us / ideal_us,
            packets_sent=sent.counts.packets_sent,
            packets_resent=sent.counts.packets_resent,
            bytes_resent=sent.counts.bytes_resent,
            timeouts=sent.counts.timeouts,
            naks=sent.counts.naks,
            paused_us=sent.paused_us,
            corrupted=self._received.get(flow.flow_id, False),
        )

    def _ideal(self, flow: Flow) -> float:
        key = (flow.src, flow.dst, flow.size_bytes)
        if key not in self._ideal_us:
            path = self._paths.between(flow.src, flow.dst)
            self._ideal_us[key] = ideal_fct_ns(path, flow.size_bytes, self._plan.transport.payload_bytes) / 1000
        return self._ideal_us[key]
