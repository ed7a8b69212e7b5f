# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Incasts in virtual time for tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
from polars.testing import assert_frame_equal

from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.telemetry.schema import SCHEMAS
from sfc_testbed.testbed.execution.execute import StoredRun, execute
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.virtual.simulation import simulate


def plan_incast(scheme: str = "sfc", *settings: str, **more: Any) -> RunPlan:
    """Plan an incast in virtual time. `more` are other fields of the RunSpec."""
    return plan_run(RunSpec("incast", scheme, clock="virtual", settings=parse_settings(settings), **more))


def run_incast(folder: Path, scheme: str = "sfc", *settings: str, page: bool = False, **more: Any) -> StoredRun:
    """Execute an incast in virtual time and store it below a folder. Drawing a page would take longer than the run."""
    return execute(plan_incast(scheme, *settings, **more), folder, Silent(), page=page)


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
