# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs with an extension: in several processes, in the jobs of a sweep, and live, where agents load it."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from tests.extended import write_extension
from tests.testbed import running

RUN = ("rounds", "--scheme", "irn+half-bdp")
SWEEP = "name: own\nscenario: rounds\nschemes: [irn+half-bdp, deaf]\naxes: {message_bytes: [2000, 4000]}\n"


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_virtual_run_has_the_same_traces_on_one_or_two_processes(workers: str, tmp_path: Path) -> None:
    mine = write_extension(tmp_path)
    words = ("--clock", "virtual", "--workers", workers, "--use", str(mine), "--out", str(tmp_path / "runs"))
    result = running.result_of(*RUN, *words)
    assert result["flows"]["completed"] == 8
    [folder] = (tmp_path / "runs").iterdir()
    assert sorted(pl.read_parquet(folder / "flows.parquet")["tag"].to_list()) == ["first"] * 4 + ["second"] * 4
    assert json.loads((folder / "config.json").read_text())["physics"]["window_bytes"] is not None


def test_jobs_of_a_sweep_load_the_file_and_an_edit_makes_new_jobs(tmp_path: Path) -> None:
    mine, file = write_extension(tmp_path), tmp_path / "sweep.yaml"
    file.write_text(SWEEP)
    words = ("sweep", str(file), "--use", str(mine), "--workers", "2", "--out", str(tmp_path / "runs"))
    assert "4 run now, 0 already complete, 0 failed" in running.run(*words).stdout
    assert "0 run now, 4 already complete" in running.run(*words).stdout
    (tmp_path / "helper.py").write_text("FACTOR = 0.25\n")
    assert "4 run now, 0 already complete" in running.run(*words).stdout


@running.needs_mininet
def test_agents_load_the_file_and_hosts_use_its_control(tmp_path: Path) -> None:
    mine = write_extension(tmp_path)
    words = ("--dilation", "10000", "--use", str(mine), "--out", str(tmp_path / "runs"))
    result = running.result_of(*RUN, *words)
    assert (result["clock"], result["flows"]["completed"], result["unexplained_loss"]) == ("real", 8, 0)


@running.needs_mininet
def test_an_error_in_an_agent_names_the_file_and_the_line(tmp_path: Path) -> None:
    text = (
        "import sfc_testbed as sfc\n\n\n@sfc.congestion_control('crashing')\n"
        "class Crashing(sfc.CongestionControl):\n"
        "    '''It fails.'''\n\n    def on_ack(self, sample, now_ns):\n        1 / 0\n"
    )
    mine = write_extension(tmp_path, text)
    words = ("incast", "--scheme", "irn+crashing", "--dilation", "20000", "--use", str(mine), "--json")
    done = running.run("run", *words, "--out", str(tmp_path / "runs"))
    reasons = json.loads(done.stdout)["verdict_reasons"]
    assert f"Crashing.on_ack raised ZeroDivisionError: division by zero ({mine}:9)" in reasons[0]


def test_workers_of_a_cluster_get_the_text_of_the_file(tmp_path: Path) -> None:
    """The file may not exist on the other machine, or may differ there."""
    mine, file = write_extension(tmp_path), tmp_path / "sweep.yaml"
    file.write_text(SWEEP)
    cluster = tmp_path / "cluster"
    cluster.mkdir()
    with running.dask_cluster(cluster) as address:
        words = ("sweep", str(file), "--use", str(mine), "--scheduler", address, "--out", str(tmp_path / "runs"))
        done = running.run(*words)
    assert "4 run now, 0 already complete, 0 failed" in done.stdout, done.stderr
