# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Gathers what a run measures, as it happens, and writes it to the run's folder. The same for both clocks.

Rows arrive in model units (`hosts.records`); a flow that never finishes gets a row at the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import polars as pl

from scenarios.model.flow import Flow
from telemetry.queue_samples import Samples, queue_rows
from telemetry.schema import FLOWS, GOODPUT, QUEUES, SIGNALS
from telemetry.writer import TraceWriter
from testbed.plan.plan import RunPlan
from testbed.recording.ideal import ideal_fct_ns
from topologies.routes import Paths

_UNSENT: Mapping[str, Any] = {
    "packets_sent": 0,
    "packets_resent": 0,
    "bytes_resent": 0,
    "timeouts": 0,
    "naks": 0,
    "paused_us": 0.0,
}


class Recorder:
    """The traces of one run. Leaving the context writes them, whatever ended the run."""

    def __init__(self, plan: RunPlan, folder: Path) -> None:
        self._plan = plan
        self._finished: dict[int, Mapping[str, Any]] = {}
        self._unfinished: dict[int, Mapping[str, Any]] = {}
        self._received: dict[int, bool] = {}
        self._queues = TraceWriter(folder / QUEUES.file_name, QUEUES)
        self._signals = TraceWriter(folder / SIGNALS.file_name, SIGNALS)
        self._goodput = TraceWriter(folder / GOODPUT.file_name, GOODPUT)
        self._flows = TraceWriter(folder / FLOWS.file_name, FLOWS)
        self._switch_names = {switch.switch_id: switch.name for switch in plan.topology.switches}
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
        return len(self._finished)

    @property
    def is_complete(self) -> bool:
        """Whether every flow is done at both ends."""
        return len(self._finished) == len(self._received) == len(self._plan.flows)

    def flow_finished(self, row: Mapping[str, Any]) -> None:
        """What the sender knows of a finished flow, as `hosts.records` puts it."""
        self._finished[row["flow_id"]] = row

    def flow_unfinished(self, row: Mapping[str, Any]) -> None:
        """What the sender knows of a flow when the run ends before it does."""
        self._unfinished[row["flow_id"]] = row

    def flow_received(self, flow_id: int, corrupted: bool) -> None:
        """The receiver has the whole message."""
        self._received[flow_id] = corrupted

    def goodput(self, row: Mapping[str, Any]) -> None:
        """What a flow's receiver got in an interval."""
        self._goodput.append(row)

    def signal(self, row: Mapping[str, Any]) -> None:
        """A BTS that reached a host; its `switch` is still a number."""
        number = row["switch"]
        self._signals.append({**row, "switch": self._switch_names.get(number, f"switch {number}")})

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

    def _flow_row(self, flow: Flow) -> dict[str, Any]:
        sender = self._finished.get(flow.flow_id) or self._unfinished.get(flow.flow_id) or {}
        ideal_us = self._ideal(flow)
        start_us = flow.start_ns / 1000
        finish_us = sender.get("finish_us")
        fct_us = None if finish_us is None else finish_us - start_us
        return {
            "flow_id": flow.flow_id,
            "src": flow.src,
            "dst": flow.dst,
            "tag": flow.tag,
            "size_bytes": flow.size_bytes,
            "start_us": start_us,
            "finish_us": finish_us,
            "fct_us": fct_us,
            "ideal_fct_us": ideal_us,
            "slowdown": None if fct_us is None else fct_us / ideal_us,
            **{name: sender.get(name, default) for name, default in _UNSENT.items()},
            "corrupted": self._received.get(flow.flow_id, False),
        }

    def _ideal(self, flow: Flow) -> float:
        key = (flow.src, flow.dst, flow.size_bytes)
        if key not in self._ideal_us:
            path = self._paths.between(flow.src, flow.dst)
            self._ideal_us[key] = ideal_fct_ns(path, flow.size_bytes, self._plan.transport.payload_bytes) / 1000
        return self._ideal_us[key]
