# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The runner's reports to the process that serves the page: the scene of each run, its measurements and its end.

Switches and hosts do nothing for the page. The runner opens the files to which switches append their samples anyway,
and copies the records that hosts report anyway.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from sfc_testbed.analysis.watch.scene import scene_of
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.targets.common.commands import LINK_SAMPLE_NS, SAMPLE_NS
from sfc_testbed.testbed.watch.channel import MOST_FILES, Sender

_FLUSH_SECONDS = 0.05
MOST_FLOWS = 8_000
"""The most planned flows on the page."""


class Feed:
    """The reports about one run after the other. No method waits, except that `begin` computes the scene."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender
        self._records: dict[str, list[Sequence[Any]]] = {}
        self._flush_due_s = 0.0

    def begin(self, plan: RunPlan, title: str, flows: pl.DataFrame) -> None:
        """Report that the run of a plan begins, with a title and the planned columns of its flows."""
        self._records = {}
        self._sender.send({"kind": "begin", "dilation": plan.dilation.factor, "scene": _scene(plan, title, flows)})

    def start(self, samples: Mapping[str, Path], start_ns: int, zero_ns: int | None) -> None:
        """Report that model time 0 is at `start_ns` on the clock of the samples, and the sample file of each switch.

        `zero_ns` is the same instant on CLOCK_MONOTONIC; None in virtual time.
        """
        names = list(samples)
        for first in range(0, len(names), MOST_FILES):
            part = names[first : first + MOST_FILES]
            files = [os.open(samples[name], os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644) for name in part]
            self._sender.send({"kind": "files", "switches": part}, files)
        self._sender.send({"kind": "start", "start_ns": start_ns, "zero_ns": zero_ns})

    def plan(self, flows: Mapping[str, Sequence[Any]]) -> None:
        """Report flows that are not in the scene, as planned columns."""
        self._sender.send({"kind": "planned", "flows": flows}, is_optional=True)

    def add(self, trace: str, row: Sequence[Any]) -> None:
        """Copy a row of a trace. `flush` sends it."""
        self._records.setdefault(trace, []).append(row)

    def flush_if_due(self) -> None:
        """Send the copied rows, unless rows were sent just before."""
        now_s = time.monotonic()
        if now_s >= self._flush_due_s:
            self._flush_due_s = now_s + _FLUSH_SECONDS
            self.flush()

    def flush(self) -> None:
        """Send the copied rows."""
        if self._records:
            records, self._records = self._records, {}
            self._sender.send({"kind": "records", "records": records}, is_optional=True)
        else:
            self._sender.flush()

    def end(self, sentence: str, notes: Sequence[str]) -> None:
        """Report the end of the run."""
        self.flush()
        lost = self._sender.lost
        more = [f"{lost} reports of hosts are missing here, because the page did not keep up."] if lost else []
        self._sender.send({"kind": "end", "sentence": sentence, "notes": [*notes, *more]})


def _scene(plan: RunPlan, title: str, flows: pl.DataFrame) -> dict[str, Any]:
    config = plan.config
    scene = scene_of(
        plan.topology,
        flows.head(MOST_FLOWS),
        title=title,
        label=config.variant,
        queue_interval_us=SAMPLE_NS / 1000,
        link_interval_us=LINK_SAMPLE_NS / 1000,
        thresholds_bytes=config.thresholds_bytes,
        faults=config.fault_spans,
        infers_pauses=plan.switch_settings.pfc,
        notes=_notes(plan, flows.height),
    )
    return {**scene, "dilation": plan.dilation.factor}


def _notes(plan: RunPlan, flows: int) -> list[str]:
    notes = ["Drops are not marked while the run is active; `watch FOLDER` shows them afterwards."]
    if flows > MOST_FLOWS:
        notes.append(f"Flows: only the first {MOST_FLOWS:,} are on this page.")
    if plan.switch_settings.pfc:
        notes.append("PFC frames are not recorded; a hollow sign marks a port that a pause probably stops.")
    return notes
