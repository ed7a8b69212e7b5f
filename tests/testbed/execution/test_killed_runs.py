# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""kill -9 of the runner at chosen moments: `report` finishes the run, and nothing that was saved is missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfc_testbed.telemetry.reader import read_trace
from sfc_testbed.telemetry.schema import SCHEMAS
from tests.testbed import running

RECORDER = "sfc_testbed.testbed.recording.recorder:Recorder"
SIMULATION = "sfc_testbed.testbed.virtual.simulation:_Simulation"
JOURNAL = "sfc_testbed.telemetry.journal:Journal"
LIVE = "sfc_testbed.testbed.live.run:_Run"
TARGET = "sfc_testbed.testbed.targets.softswitch:Softswitch"

VIRTUAL_MOMENTS = {
    "before model time 0": f"{SIMULATION}.run_until:before:1",
    "after the first save": f"{RECORDER}.save:after:1",
    "after the sixteenth save": f"{RECORDER}.save:after:16",
    "in the drain": f"{SIMULATION}.drain:before:1",
    "while saving": f"{JOURNAL}._write_samples:before:1",
}
AFTER_RESULT = "sfc_testbed.analysis.results.result:write_result:after:1"
LIVE_MOMENTS = {
    "before the switches": f"{TARGET}Target.start:before:1",
    "after the first save": f"{RECORDER}.save:after:1",
    "in the drain": f"{LIVE}._quiesce:before:1",
}
FURTHER_LIVE_MOMENTS = {
    "while hosts come up": "sfc_testbed.testbed.live.agents:AgentProcess.wait_until_ready:before:1",
    "before the first flow": f"{RECORDER}.begin:after:1",
    "at the first record": f"{RECORDER}.take:after:1",
    "after the sixth save": f"{RECORDER}.save:after:6",
    "after twenty records": f"{RECORDER}.take:after:20",
    "while switches stop": f"{TARGET}Process.stop:after:2",
    "while saving": f"{JOURNAL}._write_samples:before:1",
}
BEFORE_TIME_ZERO = (
    LIVE_MOMENTS["before the switches"],
    FURTHER_LIVE_MOMENTS["while hosts come up"],
    FURTHER_LIVE_MOMENTS["before the first flow"],
)
ALL_MOMENTS = "SFC_TESTBED_ALL_MOMENTS"
"""An environment variable that `make kill-test` sets, since ten live runs take long."""

VIRTUAL = ("incast", "--clock", "virtual", "--seed", "5")
REAL = ("incast", "--dilation", "10000", "--set", "window_us=100")


def killed(tmp_path: Path, moment: str, *words: str) -> tuple[Path, int, int]:
    """Kill a run at a moment; return its folder, the finished flows at the last save, and the runner's PID."""
    notes = tmp_path / "notes"
    notes.touch()
    line = [sys.executable, "-m", "tests.testbed.killed", moment, str(notes), "run", *words]
    output = tmp_path / "said"
    with output.open("wb") as log:
        child = subprocess.Popen([*line, "--out", str(tmp_path / "runs")], cwd=running.ROOT, stdout=log, stderr=log)
    assert child.wait(200) == -signal.SIGKILL, output.read_text()
    [folder] = (tmp_path / "runs").iterdir()
    assert (folder / "result.json").exists() == (moment == AFTER_RESULT)
    return folder, max(map(int, notes.read_text().split()), default=0), child.pid


def reported(folder: Path) -> tuple[dict[str, Any], dict[str, pl.DataFrame]]:
    """Run `report` twice, check that both calls give the same result, and return the result and the traces."""
    first = running.run("report", str(folder))
    assert first.returncode == 3, first.stderr
    text = (folder / "result.json").read_text()
    again = running.run("report", str(folder))
    assert (again.returncode, again.stdout, (folder / "result.json").read_text()) == (3, first.stdout, text)
    assert not (folder / "journal").exists()
    assert list((folder / "logs").glob("*.samples")) == []
    assert (folder / "report.html").is_file()
    result = json.loads(text)
    assert (result["verdict"], result["interrupted"]) == ("invalid", True)
    assert result["verdict_reasons"][0].startswith("The runner was killed")
    assert "not measured" in first.stdout
    return result, {name: read_trace(folder / schema.file_name, schema) for name, schema in SCHEMAS.items()}


def check(folder: Path, known_done: int) -> dict[str, pl.DataFrame]:
    """Check that the result agrees with the saved records, and that unknown counters are null."""
    result, traces = reported(folder)
    finished = traces["flows"].filter(pl.col("finish_us").is_not_null())
    assert known_done <= finished.height == result["flows"]["completed"]
    assert result["flows"]["total"] == traces["flows"].height > 0
    for name in ("packets", "drops", "bts", "pfc", "unexplained_loss", "kernel_drops", "wall_s"):
        assert result[name] is None
    return traces


@pytest.mark.parametrize("moment", VIRTUAL_MOMENTS.values(), ids=VIRTUAL_MOMENTS.keys())
@pytest.mark.long
def test_a_killed_virtual_run_can_be_reported(tmp_path: Path, moment: str) -> None:
    folder, known_done, _ = killed(tmp_path, moment, *VIRTUAL)
    refused = running.run("export", str(folder))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "`./runner.py report` finishes it" in refused.stderr
    traces = check(folder, known_done)
    assert (traces["queues"].height > 0) == (moment != VIRTUAL_MOMENTS["before model time 0"])


@pytest.mark.long
def test_rows_of_a_killed_run_equal_rows_of_the_whole_run(tmp_path: Path) -> None:
    whole = running.run("run", *VIRTUAL, "--out", str(tmp_path / "whole"))
    assert whole.returncode == 0, whole.stderr
    [folder] = (tmp_path / "whole").iterdir()
    expected = {name: read_trace(folder / schema.file_name, schema) for name, schema in SCHEMAS.items()}
    partial, known_done, _ = killed(tmp_path, VIRTUAL_MOMENTS["after the sixteenth save"], *VIRTUAL)
    traces = check(partial, known_done)
    for name in ("signals", "goodput"):
        assert 0 < traces[name].height < expected[name].height
        assert traces[name].equals(expected[name].head(traces[name].height))
    for name in ("queues", "links"):
        assert 0 < traces[name].height < expected[name].height
        assert traces[name].join(expected[name], on=traces[name].columns, how="anti").height == 0
    assert (
        traces["flows"]
        .select("flow_id", "src", "dst", "start_us", "ideal_fct_us")
        .equals(expected["flows"].select("flow_id", "src", "dst", "start_us", "ideal_fct_us"))
    )


def test_a_run_killed_after_its_result_keeps_the_result(tmp_path: Path) -> None:
    """The page and the removal of the journal are still missing then."""
    folder, _, _ = killed(tmp_path, AFTER_RESULT, *VIRTUAL)
    text = (folder / "result.json").read_text()
    assert running.run("report", str(folder)).returncode == 0
    assert (folder / "result.json").read_text() == text
    assert json.loads(text)["verdict"] == "faithful"
    assert not (folder / "journal").exists()


def live_moments() -> list[Any]:
    """Return three moments to test always, and the others with a mark that skips them by default."""
    all_moments = pytest.mark.skipif(ALL_MOMENTS not in os.environ, reason="seven more moments: make kill-test")
    moments = [pytest.param(moment, id=name) for name, moment in LIVE_MOMENTS.items()]
    further = FURTHER_LIVE_MOMENTS.items()
    return moments + [pytest.param(moment, id=name, marks=all_moments) for name, moment in further]


@pytest.mark.root
@pytest.mark.parametrize("moment", live_moments())
def test_a_killed_live_run_can_be_cleaned_and_reported(tmp_path: Path, moment: str) -> None:
    before = running.remains()
    folder, known_done, runner = killed(tmp_path, moment, *REAL)
    stranger = subprocess.Popen(["sleep", "300"])
    if moment != FURTHER_LIVE_MOMENTS["while saving"]:  # the network has been removed by then
        running.clean_run_of(runner)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()
    assert running.left_since(before) == {}
    traces = check(folder, known_done)
    if moment in BEFORE_TIME_ZERO:
        assert traces["queues"].height == 0
    elif moment != LIVE_MOMENTS["after the first save"]:  # this save may precede the first sample
        assert traces["queues"].height > 0
