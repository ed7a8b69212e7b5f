# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for sweeps: the jobs of a file, and that a killed sweep resumes and runs no job twice."""

from __future__ import annotations

import fcntl
import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import psutil
import pytest

from sfc_testbed.analysis.results.comparison import result_row
from sfc_testbed.analysis.results.swept import shared_runs
from sfc_testbed.cli.output import EXIT_DONE, EXIT_INVALID
from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.traffic.sizes import DATA
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.jobs.job import Job, JobFinished
from sfc_testbed.testbed.jobs.run_job import run_job
from sfc_testbed.testbed.jobs.task import Take, Task, TaskEnd
from sfc_testbed.testbed.sweep.run import run_sweep
from sfc_testbed.testbed.sweep.sweep import (
    SweepFile,
    SweepJob,
    jobs_of,
    labels_of_runs,
    read_sweep,
    results_table,
    unfinished,
)
from sfc_testbed.testbed.system.run_ids import STATE_ROOT
from tests.appearing import await_file
from tests.testbed.incasts import run_incast, write_flows
from tests.testbed.running import are_gone, assert_at_most_late, children_of, dask_cluster, needs_mininet, started
from tests.tree import ROOT

FILE = """
name: small
scenario: incast
schemes: [irn, sfc]
seeds: [1, 2]
axes:
  degree: [2, 3, 4]
settings:
  message_bytes: 20000
"""


def _sweep(tmp_path: Path, text: str = FILE) -> Path:
    path = tmp_path / "sweep.yaml"
    path.write_text(text)
    return path


def _start(file: Path, out: Path, *words: str) -> subprocess.Popen[str]:
    return started("sweep", str(file), "--out", str(out), "--workers", "2", *words)


def _started_long(tmp_path: Path, *words: str) -> subprocess.Popen[str]:
    """Start a sweep of long jobs, and return its process once the first one runs."""
    process = _start(_sweep(tmp_path, FILE.replace("20000", "50000000")), tmp_path / "out", *words)
    await_file(tmp_path / "out", "small/jobs/.*.partial/*/flows-input.csv", process)
    return process


def _job(job: SweepJob, folder: Path) -> Job:
    return Job(job.name, job.request, folder / "jobs", job.name)


def _journal(folder: Path) -> Counter[str]:
    return Counter(json.loads(line)["job"] for line in (folder / "jobs" / "journal.jsonl").read_text().splitlines())


def _is_job(process: psutil.Process) -> bool:
    try:
        return "sfc_testbed.testbed.jobs.run_job" in process.cmdline()
    except psutil.NoSuchProcess:
        return False


@pytest.mark.long
def test_a_killed_and_resumed_sweep_runs_no_job_twice(tmp_path: Path) -> None:
    file, folder = _sweep(tmp_path), tmp_path / "out" / "small"
    first = _start(file, tmp_path / "out")
    assert first.stderr is not None
    for line in first.stderr:
        if line.startswith("5/12"):
            break
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    before = {path.parent.name: path.stat().st_mtime_ns for path in (folder / "jobs").glob("*/result.json")}
    journal = _journal(folder)
    assert 5 <= len(journal) < 12
    second = _start(file, tmp_path / "out")
    output, problems = second.communicate(timeout=250)
    assert second.returncode == 0, problems
    [(run_now, complete)] = re.findall(r"(\d+) run now, (\d+) already complete", output)
    assert int(run_now) + int(complete) == 12
    assert int(complete) >= len(journal)  # a job may have ended whose line was not written yet
    assert set(_journal(folder).values()) == {1}
    assert len(_journal(folder)) == 12
    after = {path.parent.name: path.stat().st_mtime_ns for path in (folder / "jobs").glob("*/result.json")}
    assert before.items() <= after.items()
    table = pl.read_parquet(folder / "results.parquet")
    assert table.height == 12
    assert table["verdict"].unique().to_list() == ["faithful"]
    assert sorted(table["axis.degree"].unique().to_list()) == [2, 3, 4]


def test_workers_and_jobs_end_with_a_killed_command(tmp_path: Path) -> None:
    process = _started_long(tmp_path)
    family = children_of(process.pid)
    assert any(_is_job(process) for process in family)
    process.kill()
    process.communicate(timeout=100)
    assert are_gone(family)
    assert not list(tmp_path.glob("out/small/jobs/*/result.json"))


def test_jobs_are_all_combinations_and_have_unique_names(tmp_path: Path) -> None:
    jobs = jobs_of(read_sweep(_sweep(tmp_path)))
    assert len(jobs) == 12
    assert len({job.name for job in jobs}) == 12
    again = jobs_of(SweepFile(name="other", scenario="incast", schemes=("irn",), axes={"degree": (2,)},
                              settings={"message_bytes": 20000}))  # fmt: skip
    assert again[0].name == jobs[0].name


THRESHOLDS = SweepFile(
    name="thresholds",
    scenario="incast",
    schemes=("irn", "sfc"),
    axes={"degree": (2, 3), "switch.q_th_bytes": (250_000, 500_000)},
    settings={"message_bytes": 5000},
)


def test_jobs_that_differ_only_in_an_unused_axis_share_a_run(tmp_path: Path) -> None:
    """The threshold does not affect irn, so 8 jobs share 6 runs. The table has a row for each job."""
    jobs = jobs_of(THRESHOLDS)
    assert len(jobs) == 8
    assert len(unfinished(tmp_path, jobs)) == 6
    names = [job.name.rpartition(".")[0] for job in jobs]
    assert names[:4] == [
        "irn,degree-2,seed-1",
        "sfc,degree-2,q_th_bytes-250000,seed-1",
        "irn,degree-2,seed-1",
        "sfc,degree-2,q_th_bytes-500000,seed-1",
    ]
    (tmp_path / "jobs").mkdir()
    run_job(_job(jobs[0], tmp_path))
    table = results_table(tmp_path, jobs)
    assert table["axis.switch.q_th_bytes"].to_list() == [250_000, 500_000]
    assert table["job"].unique().to_list() == [jobs[0].name]
    assert shared_runs(table) == ("switch.q_th_bytes does not affect irn: its 2 jobs share 1 run.",)
    once = THRESHOLDS.model_copy(update={"axes": {"degree": (2,), "switch.q_th_bytes": (250_000,)}})
    assert "q_th_bytes" in jobs_of(once)[0].name
    assert [job.request.scheme for job in unfinished(tmp_path, jobs_of(once))] == ["sfc"], "the words may differ"


def _break_all(tasks: Sequence[Task], take: Take, *_: object, **__: object) -> None:
    for number in range(len(tasks)):
        take(number, TaskEnd(1, "", "it broke", was_stopped=False))


def test_the_label_of_a_shared_run_lists_the_values_of_the_unused_axis(tmp_path: Path) -> None:
    labels: list[str] = []
    breaking: Any = SimpleNamespace(parallel=1, run=_break_all)
    done = run_sweep(THRESHOLDS, jobs_of(THRESHOLDS), tmp_path, breaking, lambda state: labels.append(str(state.ended)))
    assert labels == [
        f"{scheme} degree={degree} switch.q_th_bytes={threshold} seed=1"
        for degree in (2, 3)
        for scheme, threshold in (("irn", "250000|500000"), ("sfc", "250000"), ("sfc", "500000"))
    ]
    assert done.failures == tuple(f"{label}: it broke" for label in labels)
    axes = {"switch.q_th_bytes": (1_000, 2_000, 3_000, 4_000, 5_000)}
    [label] = labels_of_runs(jobs_of(THRESHOLDS.model_copy(update={"schemes": ("irn",), "axes": axes}))).values()
    assert label == "irn switch.q_th_bytes=1000|2000|3000|+2 seed=1"


def test_jobs_that_differ_in_a_used_setting_a_seed_or_a_fault_are_separate_runs() -> None:
    words = {"name": "a", "scenario": "incast", "schemes": ("irn",)}
    for key, values in (("switch.buffer_bytes", (1_000_000, 2_000_000)), ("transport.payload_bytes", (500, 1000))):
        assert len({job.key for job in jobs_of(SweepFile(**words, axes={key: values}))}) == 2
    assert len({job.key for job in jobs_of(SweepFile(**words, seeds=(1, 2)))}) == 2
    fault = "link:tor2-spine1,down=20us,up=100us"
    [whole], [faulty] = jobs_of(SweepFile(**words)), jobs_of(SweepFile(**words, faults=(fault,)))
    assert faulty.request.faults == (fault,)
    assert whole.name != faulty.name


def test_a_complete_job_is_not_run_again(tmp_path: Path) -> None:
    (tmp_path / "jobs").mkdir()
    [job] = jobs_of(SweepFile(name="one", scenario="incast", schemes=("irn",), settings={"message_bytes": 5000}))
    assert run_job(_job(job, tmp_path)) == JobFinished(folder=tmp_path / "jobs" / job.name)
    assert not unfinished(tmp_path, [job])
    before = (tmp_path / "jobs" / job.name / "result.json").stat().st_mtime_ns
    assert run_job(_job(job, tmp_path)) == JobFinished(folder=tmp_path / "jobs" / job.name)
    assert (tmp_path / "jobs" / job.name / "result.json").stat().st_mtime_ns == before
    assert results_table(tmp_path, [job]).height == 1


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[str]:
    with dask_cluster(tmp_path, workers=2) as address:
        yield address


def test_jobs_run_on_an_existing_cluster(cluster: str, tmp_path: Path) -> None:
    file = _sweep(tmp_path, "name: far\nscenario: incast\nschemes: [irn, sfc]\naxes: {degree: [2, 3]}\n")
    process = _start(file, tmp_path / "out", "--scheduler", cluster)
    output, problems = process.communicate(timeout=250)
    assert process.returncode == 0, problems
    assert "4 run now" in output
    assert set(_journal(tmp_path / "out" / "far").values()) == {1}
    assert pl.read_parquet(tmp_path / "out" / "far" / "results.parquet").height == 4
    assert not list((tmp_path / "out").glob("far/jobs/*/report.html")), "a job wrote a page"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_jobs_on_a_cluster_end_with_the_command(number: signal.Signals, cluster: str, tmp_path: Path) -> None:
    process = _started_long(tmp_path, "--scheduler", cluster)
    running = [child for child in children_of(os.getpid()) if _is_job(child)]
    assert running
    process.send_signal(number)
    process.communicate(timeout=100)
    assert are_gone(running)
    assert not [child for child in children_of(os.getpid()) if _is_job(child)]
    assert (tmp_path / "out" / "small" / "results.parquet").exists() == (number == signal.SIGINT)


def test_without_its_scheduler_a_cluster_ends_the_jobs_and_they_fail(cluster: str, tmp_path: Path) -> None:
    process = _started_long(tmp_path, "--scheduler", cluster)
    family = children_of(os.getpid())
    running = [child for child in family if _is_job(child)]
    [scheduler] = [child for child in family if "scheduler" in child.cmdline()]
    scheduler.kill()
    _, problems = process.communicate(timeout=100)
    assert process.returncode == 3
    assert "Traceback" not in problems
    assert problems.count("the connection to the scheduler was lost") == 12
    assert are_gone(running)
    assert (tmp_path / "out" / "small" / "results.parquet").exists()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nonsense"])
def test_a_scheduler_that_does_not_answer_is_one_clear_line(address: str, tmp_path: Path) -> None:
    process = _start(_sweep(tmp_path), tmp_path / "out", "--scheduler", address)
    _, problems = process.communicate(timeout=100)
    assert process.returncode == 2
    assert problems.strip() == f"runner.py: --scheduler {address}: no Dask scheduler answers there"
    assert not list((tmp_path / "out").glob("*/jobs/*"))


@needs_mininet
def test_jobs_on_the_real_clock_wait_for_its_lock(tmp_path: Path) -> None:
    file = _sweep(tmp_path, FILE.replace("[1, 2]", "1").replace("[2, 3, 4]", "[2]") + "clock: real\n")
    STATE_ROOT.mkdir(parents=True, exist_ok=True)
    folder = tmp_path / "out" / "small"
    lock = os.open(STATE_ROOT, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = started("sweep", str(file), "--out", str(tmp_path / "out"))
        await_file(folder, "jobs/.*.lock", process)
        time.sleep(5)
        assert not list(folder.glob("jobs/.*.partial"))
    finally:
        os.close(lock)
    _, problems = process.communicate(timeout=250)
    results = [json.loads(path.read_text()) for path in folder.glob("jobs/*/result.json")]
    for result in results:
        assert_at_most_late(result)
    is_invalid = "invalid" in {result["verdict"] for result in results}
    assert process.returncode == (EXIT_INVALID if is_invalid else EXIT_DONE), problems
    table = pl.read_parquet(folder / "results.parquet")
    assert table["clock"].to_list() == ["real", "real"]
    assert table["flows_completed"].to_list() == [2, 2]


NAME = "name: {} cannot name the folder of the results: use at most 100"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schemes": []}, "schemes: must have at least 1 entry, not 0"),
        ({"seeds": []}, "seeds: must have at least 1 entry, not 0"),
        ({"seeds": "3..1"}, "seeds: '3..1': 3..1 goes down"),
        ({"seeds": "1,1"}, "seeds: '1,1': a seed is repeated"),
        ({"scenario": None}, "scenario: is missing; only a sweep with `flows: FILE` needs none"),
        ({"flows": "none.csv", "scenario": None}, "none.csv: cannot be read as a flow list: no such file"),
        ({"settings": {"topology.host_rate_bps": "400KB"}}, "must be a rate such as 400G or 25Gbps, not '400KB'"),
        ({"axes": {"degree": [2]}, "settings": {"degree": 3}}, "degree is an axis and a setting"),
        ({"duration_ms": "5KB"}, "duration_ms: must be a time such as 20us or 1.5ms, not '5KB'"),
        ({"name": None}, "name: is missing"),
        ({"nam": "one"}, "nam: there is no such setting; nearest: name"),
        ({"colour": "red"}, "colour: there is no such setting"),
        ({"scenario": "outcast"}, "unknown scenario 'outcast'"),
        ({"schemes": ["tcp"]}, "unknown scheme 'tcp'"),
        ({"axes": {"degree": [0]}}, "degree"),
        ({"schemes": ["sfc", "sfc"]}, "two of its 2 jobs are the same"),
        *(
            ({"name": name}, NAME.format(shown(name)))
            for name in ("../a", "degree/seed", "-x", "über", "two words", ".", "n" * 101)
        ),
    ],
)
def test_a_wrong_file_is_one_clear_line(changes: dict[str, object], message: str, tmp_path: Path) -> None:
    content = {"name": "one", "scenario": "incast", "schemes": ["sfc"], **changes}
    text = json.dumps({key: value for key, value in content.items() if value is not None})
    with pytest.raises(UsageError) as refused:
        jobs_of(read_sweep(_sweep(tmp_path, text)))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_columns_of_the_table_are_documented(tmp_path: Path) -> None:
    columns = result_row(run_incast(tmp_path, "irn").result).keys()
    page = (ROOT / "docs" / "workloads.md").read_text()
    table = page.partition("| column of `results.parquet` |")[2].partition("\n\n")[0]
    named = re.findall(r"`(\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines()[2:]))
    assert named == ["job", *columns]


def test_files_beside_the_sweep_and_ranges_of_seeds_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sizes.csv").write_text((DATA / "rpc.csv").read_text())
    write_flows(tmp_path / "list.csv", "h1,h2,20000,0,x")
    monkeypatch.chdir("/")
    sizes = {"name": "one", "scenario": "datacentre", "schemes": ["sfc"], "settings": {"sizes": "sizes.csv"}}
    jobs = jobs_of(read_sweep(_sweep(tmp_path, json.dumps({**sizes, "seeds": "1..3"}))))
    assert [job.request.seed for job in jobs] == [1, 2, 3]
    assert {job.request.settings["sizes"] for job in jobs} == {str(tmp_path / "sizes.csv")}
    listed = {"name": "two", "flows": "list.csv", "topology": "star", "schemes": ["irn", "sfc"], "seeds": 7}
    jobs = jobs_of(read_sweep(_sweep(tmp_path, json.dumps(listed))))
    assert {job.request.flow_file for job in jobs} == {tmp_path / "list.csv"}
    assert {(job.request.topology, job.request.seed) for job in jobs} == {("star", 7)}


@pytest.mark.parametrize(("text", "message"), [("", "a sweep is a mapping"), ("name: [", "not YAML")])
def test_a_file_that_is_no_mapping_is_one_clear_line(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        read_sweep(_sweep(tmp_path, text))
    with pytest.raises(UsageError, match=r"nothing\.yaml"):
        read_sweep(tmp_path / "nothing.yaml")
