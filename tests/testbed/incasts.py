# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs in virtual time for tests, most of them incasts."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

from sfc_testbed.analysis.results.result import RunResult, counted, read_result
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.telemetry.schema import SCHEMAS
from sfc_testbed.testbed.execution.execute import Clock, StoredRun, execute
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.virtual.simulation import simulate


def plan_virtual(scenario: str, scheme: str = "sfc", *settings: str, **more: Any) -> RunPlan:
    """Plan a run in virtual time. `more` are other fields of the RunSpec."""
    return plan_run(RunSpec(scenario, scheme, clock="virtual", settings=parse_settings(settings), **more))


plan_incast = partial(plan_virtual, "incast")


def run_plan(plan: RunPlan, folder: Path, clock: Clock | None = None, *, page: bool = False) -> StoredRun:
    """Execute a plan and store the run below a folder. Drawing a page would take longer than the run."""
    return execute(plan, folder, Silent(), clock, page=page)


def run_incast(folder: Path, scheme: str = "sfc", *settings: str, page: bool = False, **more: Any) -> StoredRun:
    return run_plan(plan_incast(scheme, *settings, **more), folder, page=page)


def write_flows(file: Path, *rows: str, columns: str = "") -> Path:
    """Write a flow list with these rows, and return its path. `columns` are further columns of the header."""
    file.write_text("\n".join([f"src,dst,size_bytes,start_ns,tag{columns}", *rows, ""]))
    return file


def assert_all_arrived(result: RunResult) -> None:
    """Check that all messages arrived whole, all packets are accounted for, and the run is faithful."""
    assert result.flows.completed == result.flows.total > 0
    assert result.flows.corrupted == 0
    assert result.unexplained_loss == counted(result.packets).in_flight == 0
    assert result.verdict == "faithful", result.verdict_reasons


def simulated(plan: RunPlan, folder: Path) -> Recorder:
    """Run a plan in virtual time without a result, and return its recorder, which has written the traces."""
    with Recorder(plan, folder) as recorder:
        simulate(plan, folder, recorder, Silent(), Interrupt())
    return recorder


def trace(run: StoredRun, name: str) -> pl.DataFrame:
    return pl.read_parquet(run.folder / f"{name}.parquet")


def assert_same_run(one: Path, other: Path) -> None:
    """Check that traces, captures and results in two folders are equal, except for the cost of the runs."""
    names = [{path.name for path in folder.glob("*.parquet")} for folder in (one, other)]
    assert names[0] == names[1] >= {schema.file_name for schema in SCHEMAS.values()}
    for name in names[0]:
        assert_frame_equal(*(pl.read_parquet(folder / name) for folder in (one, other)))
    captures = [{path.name: path.read_bytes() for path in folder.glob("pcaps/*")} for folder in (one, other)]
    assert captures[0] == captures[1]
    cost = {"wall_s", "packets_per_s"}
    assert read_result(one).model_dump(exclude=cost) == read_result(other).model_dump(exclude=cost)
