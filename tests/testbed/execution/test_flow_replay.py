# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run keeps its flows; they can be replayed under every scheme, and leave in the HPCC simulator's formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenarios.files.flow_file import FILE_NAME
from testbed.errors import UsageError
from testbed.execution.execute import StoredRun, execute
from testbed.execution.hpcc_export import export_hpcc
from testbed.plan.plan import RunRequest, plan_run
from testbed.recording.outcome import Silent

SETTINGS = ("arrivals_us=60", "warmup_us=10", "cooldown_us=10", "load=0.2", "incast_load=0.3", "incast_degree=7",
            "incast_spacing=even", "sizes=storage")  # fmt: skip


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """A short run of data-centre traffic."""
    request = RunRequest("datacentre", scheme="irn", clock="virtual", seed=3, settings=SETTINGS)
    return execute(plan_run(request), tmp_path_factory.mktemp("runs"), Silent())


def test_the_stored_list_replays_under_another_scheme(finished: StoredRun) -> None:
    """Same flows, same measured window, whatever the workload's own seed would have made."""
    replay = RunRequest("datacentre", scheme="sfc", clock="virtual", seed=99, flow_file=finished.folder / FILE_NAME)
    plan = plan_run(replay)
    original = plan_run(RunRequest("datacentre", scheme="irn", clock="virtual", seed=3, settings=SETTINGS))
    assert plan.flows == original.flows
    assert plan.config.measured_window_us == original.config.measured_window_us == (10.0, 50.0)
    assert str(finished.folder / FILE_NAME) in plan.config.command


def test_trimming_is_said_in_the_result(finished: StoredRun) -> None:
    """Flows outside the window count in the totals and not in the slowdown."""
    result = finished.result
    assert result.measured_window_us == (10.0, 50.0)
    assert 0 < result.fct_slowdown["all"].flows < result.flows.total


def test_export_and_replay_of_the_simulator_s_flow_file(finished: StoredRun, tmp_path: Path) -> None:
    """flow.txt comes back as the same flows (its tags are incast and background); fct.txt has a line a flow."""
    flow, fct, cdf = export_hpcc(finished.folder, tmp_path)
    plan = plan_run(RunRequest("datacentre", scheme="irn", clock="virtual", flow_file=flow))
    original = plan_run(RunRequest("datacentre", scheme="irn", clock="virtual", seed=3, settings=SETTINGS))
    key = [(each.src, each.dst, each.size_bytes, each.start_ns) for each in plan.flows]
    assert key == [(each.src, each.dst, each.size_bytes, each.start_ns) for each in original.flows]
    assert len(fct.read_text().splitlines()) == finished.result.flows.completed
    assert all(len(line.split()) == 8 for line in fct.read_text().splitlines())
    assert cdf.read_text().splitlines()[-1] == "2000000 100"


def test_a_missing_flow_file_is_refused(tmp_path: Path) -> None:
    """In one line."""
    with pytest.raises(UsageError, match="cannot be read as a flow list"):
        plan_run(RunRequest("datacentre", clock="virtual", flow_file=tmp_path / "nothing.csv"))


def test_a_damaged_configuration_cannot_be_exported(finished: StoredRun, tmp_path: Path) -> None:
    """It says which folder."""
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in finished.folder.glob("*.*"):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "config.json").write_text(json.dumps({"topology": "clos"}))
    with pytest.raises(UsageError, match="cannot be exported"):
        export_hpcc(folder, tmp_path / "out")
