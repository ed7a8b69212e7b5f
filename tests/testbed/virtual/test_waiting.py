# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs whose messages wait for other messages: start times, completion, and messages that never start."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.analysis.formatting import format_us
from sfc_testbed.analysis.report.terminal_tables import key_figures
from sfc_testbed.scenarios.traffic.flow_file import FILE_NAME
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.hpcc_export import export_hpcc
from sfc_testbed.testbed.virtual.workers import simulate_shared
from tests.testbed.incasts import assert_same_run, plan_virtual, run_plan, trace
from tests.testbed.virtual.ranks import over_threads

_plan = partial(plan_virtual, "allreduce", "sfc")
RING = ("ranks=6", "chunks=2", "vector_bytes=120000", "add_us=3", "topology.hosts_per_tor=4")
BESIDE = (*RING, "degree=3", "message_bytes=150000", "switch.q_th_bytes=60000", "switch.q_tg_bytes=30000")


def test_a_ring_alone_takes_little_more_than_its_ideal(tmp_path: Path) -> None:
    plan = _plan(*RING)
    run = run_plan(plan, tmp_path)
    flows = trace(run, "flows")
    starts, ideals = flows["start_us"].to_list(), flows["ideal_fct_us"].to_list()
    for flow in plan.flows:
        for number in flow.after:
            assert starts[flow.flow_id - 1] >= starts[number - 1] + ideals[number - 1] / 2 + 3
    completion = run.result.completion["allreduce"]
    assert completion.took_us == pytest.approx(flows["finish_us"].max())
    assert completion.slowdown is not None
    assert 0.999 < completion.slowdown < 1.1
    figure = dict(key_figures(run.result))["completion of allreduce"]
    assert figure.startswith(f"{format_us(completion.took_us)}, ideal {format_us(completion.ideal_us)}: slowdown 1")
    with pytest.raises(UsageError, match="has no flows that wait"):
        export_hpcc(run.folder, tmp_path / "out")


def test_workers_and_ranks_give_the_same_run(tmp_path: Path) -> None:
    """Each host decides locally when a message may start. A replay of the stored flow list is the same run too."""
    plan = _plan(*BESIDE)
    alone = run_plan(plan, tmp_path / "alone")
    for name, clock in (("workers", partial(simulate_shared, workers=2)), ("ranks", over_threads(2))):
        assert_same_run(run_plan(plan, tmp_path / name, clock).folder, alone.folder)
    network = [setting for setting in BESIDE if setting.startswith(("topology.", "switch."))]
    assert _plan(*network, flow_file=alone.folder / FILE_NAME).flows == plan.flows
    assert alone.result.flows.completed == len(plan.flows)


def test_flows_that_never_started_are_reported(tmp_path: Path) -> None:
    run = run_plan(_plan(*RING, duration_ms=0.04), tmp_path)
    flows, counts = trace(run, "flows"), run.result.flows
    never = flows["start_us"].null_count()
    assert 0 < never == counts.never_started < counts.total - counts.completed < counts.total
    assert flows.filter(pl.col("start_us").is_null())["packets_sent"].sum() == 0
    assert run.result.completion["allreduce"].took_us is None
    unfinished = f"{counts.total - counts.completed} of {counts.total} flows did not finish"
    assert run.result.unfinished_work.startswith(f"{unfinished}; {never} of them never started")
    assert not any("did not finish" in reason for reason in run.result.verdict_reasons)
