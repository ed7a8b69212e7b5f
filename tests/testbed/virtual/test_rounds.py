# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Rounds of virtual time: their length does not change the traces, only when the end of a run is noticed."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from testbed.execution.execute import execute
from testbed.plan.plan import RunPlan, RunRequest, plan_run
from testbed.recording.outcome import Silent
from testbed.virtual import simulation
from testbed.virtual.part import lookahead_ns

_FAULTS = ("jitter:all,max=2us", "duplicate:all,rate=2%", "loss:all,rate=0.5%")


def _plan(scheme: str, *faults: str) -> RunPlan:
    return plan_run(RunRequest("incast", scheme=scheme, clock="virtual", faults=faults, duration_ms=20.0))


def _traces(plan: RunPlan, folder: Path) -> tuple[pl.DataFrame, ...]:
    folder.mkdir()
    run_folder = execute(plan, folder, Silent()).folder
    flows, signals, goodput = (
        pl.read_parquet(run_folder / f"{name}.parquet") for name in ("flows", "signals", "goodput")
    )
    return flows, signals.sort(pl.all()), goodput.sort(pl.all())


@pytest.mark.parametrize(("scheme", "faults"), [("sfc", ()), ("pfc", _FAULTS)])
def test_shorter_rounds_give_the_same_run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, scheme: str, faults: tuple[str, ...]
) -> None:
    plan = _plan(scheme, *faults)
    whole = lookahead_ns(plan.topology, plan.dilation)
    expected = _traces(plan, tmp_path / "whole")
    assert expected[1].height > 0 or scheme == "pfc"
    monkeypatch.setattr(simulation, "lookahead_ns", lambda *_: whole // 7)
    for short, whole_trace in zip(_traces(plan, tmp_path / "short"), expected, strict=True):
        assert_frame_equal(short, whole_trace)


def test_links_without_delay_make_rounds_of_one_instant(tmp_path: Path) -> None:
    settings = ("topology.host_delay_ns=0",)
    plan = plan_run(RunRequest("incast", clock="virtual", settings=settings))
    assert lookahead_ns(plan.topology, plan.dilation) == 1
    result = execute(plan, tmp_path, Silent()).result
    assert result.flows.completed == result.flows.total
    assert result.unexplained_loss == 0
