# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run on the network of a file keeps the file: it is replayed, exported and swept without it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sfc_testbed.request.network_file import read_network_file
from sfc_testbed.request.spec import RunConfig, RunSpec, config_of
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.execution.hpcc_export import export_hpcc
from sfc_testbed.testbed.execution.network_export import export_network
from sfc_testbed.testbed.execution.stored_flows import stored_topology
from sfc_testbed.testbed.jobs.job import JOB, Job
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.sweep.sweep import SweepFile, jobs_of, read_sweep
from tests.testbed.incasts import run_plan

NETWORK = json.dumps(
    {
        "hosts": {"h1": {}, "h2": {}, "web": {}},
        "switches": {"s1": {}, "s2": {}},
        "links": [["h1", "s1-p1"], ["h2", "s1-p2"], ["s1-p3", "s2-p1", "2us", 40000], ["web", "s2-p2"]],
    }
)
SETTINGS = {"degree": 2, "receiver": "web", "placement": "remote", "message_bytes": 5_000}


def _request(path: Path, **more: object) -> RunSpec:
    settings = {**SETTINGS, **more}
    word = str(path)
    file = read_network_file(word, settings)
    return RunSpec("incast", "irn", clock="virtual", topology=word, settings=settings, network_file=file)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    folder = tmp_path_factory.mktemp("runs")
    path = folder / "net.json"
    path.write_text(NETWORK)
    plan = plan_run(_request(path))
    path.unlink()
    return run_plan(plan, folder)


def _config(run: StoredRun) -> RunConfig:
    return config_of((run.folder / "config.json").read_text())


def test_a_run_completes_on_the_network_of_a_file(finished: StoredRun) -> None:
    assert finished.result.verdict == "faithful"
    assert finished.result.flows.completed == 2
    config = _config(finished)
    assert config.topology == "net.json"
    assert "net.json: 3 of 4 links have no rate" in config.setting_warnings[0]
    assert f"--topology {finished.folder.parent}/net.json" in config.command


def test_a_stored_run_has_its_network_although_the_file_is_gone(finished: StoredRun) -> None:
    topology = stored_topology(_config(finished))
    assert [host.name for host in topology.hosts] == ["h1", "h2", "web"]
    assert topology == plan_run(_again(finished)).topology


def _again(finished: StoredRun) -> RunSpec:
    network_file = _config(finished).network_file
    return RunSpec("incast", "irn", clock="virtual", settings=SETTINGS, network_file=network_file)


def test_the_exported_network_is_read_again(finished: StoredRun, tmp_path: Path) -> None:
    path = export_network(finished.folder, tmp_path)
    again = plan_run(_request(path)).topology
    original = plan_run(_again(finished)).topology
    assert (again.hosts, again.switches, again.links) == (original.hosts, original.switches, original.links)


def test_a_host_without_a_number_cannot_be_exported_to_hpcc(finished: StoredRun, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the HPCC simulator numbers its hosts, and web is not hN"):
        export_hpcc(finished.folder, tmp_path / "out")


def test_the_text_travels_with_a_job(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    path.write_text(NETWORK)
    job = Job("one", _request(path), tmp_path)
    path.unlink()
    again = JOB.validate_json(JOB.dump_json(job))
    assert again.request.network_file == job.request.network_file
    assert len(plan_run(again.request).topology.hosts) == 3


def _sweep(folder: Path, **more: object) -> SweepFile:
    words = {"name": "nets", "scenario": "incast", "schemes": ["irn"], "settings": SETTINGS, **more}
    (folder / "sweep.yaml").write_text(json.dumps(words))
    return read_sweep(folder / "sweep.yaml")


def test_a_sweep_has_files_as_an_axis(tmp_path: Path) -> None:
    """Paths are relative to the file of the sweep. Equal files in two folders are one run."""
    for name in ("one", "two", "three"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "net.json").write_text(NETWORK)
    (tmp_path / "three" / "net.json").write_text(NETWORK.replace("2us", "3us"))
    axes = {"topology.file": ["one/net.json", "two/net.json", "three/net.json"]}
    jobs = jobs_of(_sweep(tmp_path, axes=axes))
    assert len(jobs) == 3
    assert jobs[0].key == jobs[1].key != jobs[2].key


def test_a_sweep_has_one_file_as_its_topology(tmp_path: Path) -> None:
    (tmp_path / "net.json").write_text(NETWORK)
    [job] = jobs_of(_sweep(tmp_path, topology="net.json"))
    assert job.request.topology == str(tmp_path / "net.json")


@pytest.mark.parametrize(
    ("topology", "settings", "words"),
    [
        ("gone.json", {}, "--topology gone.json: No such file or directory"),
        (".", {}, "--topology . is not a regular file"),
        ("a\nb.json", {}, "--topology 'a\\nb.json': No such file or directory"),
        (None, {"topology.file": 7}, "--set topology.file: must be the path of a file, not 7"),
        ("star", {"topology.file": "x.json"}, "both name a network; leave one of them out"),
    ],
)
def test_a_missing_file_is_one_clear_line(topology: str | None, settings: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError) as refused:
        plan_run(RunSpec("incast", clock="virtual", topology=topology, settings=settings))
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


def test_settings_of_a_file_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "net.json"
    path.write_text(NETWORK)
    for settings, words in (
        ({"topology.tors": 4}, "topology net.json: tors: there is no such setting"),
        ({"topology.host_rates_bps": [10**9]}, "host_rates_bps is for shapes"),
    ):
        with pytest.raises(UsageError, match=words):
            plan_run(_request(path, **settings))
