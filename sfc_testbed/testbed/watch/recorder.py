# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The recorder of a run that a page shows: it also copies the records that the page needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl

from sfc_testbed.telemetry.flow_parts import PLANNED, RECEIVED, SENT
from sfc_testbed.telemetry.planned import planned_paths, read_planned
from sfc_testbed.telemetry.schema import GOODPUT, SIGNALS, TraceSchema
from sfc_testbed.telemetry.writer import RowValues, SegmentWriter
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.watch.feed import Feed

SHOWN = (SIGNALS, GOODPUT, SENT, RECEIVED)


class _CopyingWriter(SegmentWriter):
    """A writer that also gives each row to `copy`."""

    def __init__(self, folder: Path, schema: TraceSchema, copy: Callable[[str, RowValues], None]) -> None:
        super().__init__(folder, schema)
        self._copy = copy

    def append_values(self, values: RowValues) -> None:
        super().append_values(values)
        self._copy(self.schema.name, values)


def _first_flows(folder: Path) -> pl.DataFrame:
    """Return the planned columns of the first flows of a run."""
    return next((read_planned(path) for path in planned_paths(folder)), PLANNED.empty())


class WatchedRecorder(Recorder):
    """A recorder whose records also go to the page. `samples`: the switches' files, if they are not in the folder."""

    def __init__(self, plan: RunPlan, folder: Path, feed: Feed, samples: Mapping[str, Path] | None = None) -> None:
        self._feed = feed
        super().__init__(plan, folder)
        switches = [switch.name for switch in plan.topology.switches]
        self._samples = samples or {name: self._journal.samples(name) for name in switches}
        config = plan.config
        title = ", ".join([f"{config.scenario} · {config.variant}", *config.overridden])
        feed.begin(plan, title, _first_flows(self._journal.segments(PLANNED)))

    @property
    def is_save_due(self) -> bool:
        """Whether records should be saved now. The clocks ask this often, so the copies are sent here."""
        self._feed.flush_if_due()
        return super().is_save_due

    def begin(self, start_ns: int, zero_ns: int | None = None) -> None:
        super().begin(start_ns, zero_ns)
        self._feed.start(self._samples, start_ns, zero_ns)

    def writer(self, schema: TraceSchema) -> SegmentWriter:
        folder = self._journal.segments(schema)
        return _CopyingWriter(folder, schema, self._feed.add) if schema in SHOWN else super().writer(schema)
