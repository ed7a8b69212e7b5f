# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the engine behind sweeps and reproductions: the results of jobs, and that no process is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.analysis.report.html_pages import write_run_report
from sfc_testbed.place import ROOT
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.interrupt import EXIT_STATUS
from sfc_testbed.testbed.jobs import run_job
from sfc_testbed.testbed.jobs.job import (
    JOB,
    JOB_RESULT,
    Job,
    JobFailed,
    JobFinished,
    JobInterrupted,
    JobResults,
    JobsState,
    Tell,
    run_jobs,
)
from sfc_testbed.testbed.jobs.local import LocalExecutor
from sfc_testbed.testbed.jobs.process import PARENT_VARIABLE, TaskProcess
from sfc_testbed.testbed.jobs.task import TaskEnd
from sfc_testbed.testbed.system import code
from tests.appearing import await_file
from tests.testbed.running import children_of, outcome_of

SHORT, LONG = "message_bytes=5000", "message_bytes=1000000000"


def _job(out: Path, *settings: str) -> Job:
    return Job(
        "label",
        RunSpec("incast", clock="virtual", settings={"degree": 2, **parse_settings(settings)}, duration_ms=1_000.0),
        out,
    )


def _run(jobs: list[Job], tell: Tell) -> JobResults:
    return run_jobs(jobs, LocalExecutor(2), tell)


def test_results_are_in_the_order_of_the_jobs_and_progress_is_reported(tmp_path: Path) -> None:
    """The first job runs and the second is refused."""
    states: list[JobsState] = []
    done = _run([_job(tmp_path, SHORT), _job(tmp_path, "degree=0")], states.append)
    finished, failed = done.in_order
    assert isinstance(finished, JobFinished)
    assert (finished.folder / "result.json").exists()
    assert isinstance(failed, JobFailed)
    assert "degree" in failed.reason
    assert [(state.done, state.total, state.ended) for state in states if state.ended] == [
        (1, 2, "label"),
        (2, 2, "label"),
    ]
    assert not done.is_interrupted


def test_jobs_and_answers_are_utf8_whatever_the_configured_encoding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment's encoding applies only to output for people."""
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    [done] = _run([_job(tmp_path / "µ", SHORT)], lambda *words: None).in_order
    assert isinstance(done, JobFinished)
    assert done.folder.parent == tmp_path / "µ"


def test_a_job_without_a_page_does_not_load_matplotlib(tmp_path: Path) -> None:
    """The page can be written from the folder later."""
    words = JOB.dump_json(replace(_job(tmp_path, SHORT), page=False)).decode()
    code = f"import sys\nfrom {run_job.__name__} import *\nmain()\nassert 'matplotlib' not in sys.modules"
    done = outcome_of([sys.executable, "-c", code], cwd=ROOT, input=words)
    assert done.returncode == 0, done.stderr
    finished = JOB_RESULT.validate_json(done.stdout)
    assert isinstance(finished, JobFinished)
    assert (finished.folder / "result.json").exists()
    assert not (finished.folder / "report.html").exists()
    assert write_run_report(finished.folder).exists()


def test_a_job_without_memory_fails_with_a_reason_of_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    def no_memory(*_: object) -> StoredRun:
        raise MemoryError

    monkeypatch.setattr(run_job, "_make_run", no_memory)
    result = run_job.run_job(_job(tmp_path, SHORT))
    assert result == JobFailed(reason="no memory left")


def test_jobs_share_a_process_but_no_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last job has the same traces as the first one, which ran in a new process. A refused job comes between."""
    started: list[Sequence[str]] = []
    begin = TaskProcess.__init__

    def count(self: TaskProcess, words: Sequence[str], payload: str | None, folder: str) -> None:
        started.append(words)
        begin(self, words, payload, folder)

    monkeypatch.setattr(TaskProcess, "__init__", count)
    jobs = [_job(tmp_path, SHORT), _job(tmp_path, "degree=0"), _job(tmp_path, SHORT, "degree=3"), _job(tmp_path, SHORT)]
    first, refused, _, last = run_jobs(jobs, LocalExecutor(1), lambda *_: None).in_order
    assert len(started) == 1
    assert isinstance(refused, JobFailed)
    assert isinstance(first, JobFinished)
    assert isinstance(last, JobFinished)
    for path in first.folder.glob("*.parquet"):
        assert pl.read_parquet(path).equals(pl.read_parquet(last.folder / path.name)), path.name
    assert not children_of(os.getpid())


def test_output_printed_during_a_run_is_not_taken_for_its_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output is not taken for the end of a job either, so folders belong to their jobs."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "def chatter(event, words):\n"
        "    if event == 'open' and 'config.json' in str(words[0]):\n"
        "        print('of a library', flush=True)\n"
        "sys.addaudithook(chatter)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    outs = [tmp_path / name for name in "abc"]
    done = run_jobs([_job(out, SHORT) for out in outs], LocalExecutor(1), lambda *_: None)
    assert [result.folder.parent for result in done.in_order if isinstance(result, JobFinished)] == outs


def test_after_a_killed_process_the_next_job_gets_a_new_one(tmp_path: Path) -> None:

    def kill(state: JobsState) -> None:
        if state.done == 1 and state.ended:
            [child] = children_of(os.getpid())
            child.kill()
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)

    done = run_jobs([_job(tmp_path, SHORT), _job(tmp_path, SHORT)], LocalExecutor(1), kill)
    assert all(isinstance(result, JobFinished) for result in done.in_order)


def test_a_job_is_not_run_by_code_that_was_edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that has run another job before the edit refuses the job, too."""
    source = tmp_path / "any" / "source.py"
    source.parent.mkdir()
    source.write_text("1")
    monkeypatch.setattr(code.code_digest.__wrapped__, "__defaults__", (tmp_path, ("any",)))
    code.code_digest.cache_clear()
    planned = replace(_job(tmp_path, SHORT), code=code.code_digest())
    assert isinstance(run_job.run_job(planned), JobFinished)
    source.write_text("2")
    assert run_job.run_job(planned) == JobFailed(
        reason="the code has changed since the jobs were planned; start them again"
    )
    code.code_digest.cache_clear()


def test_a_killed_task_names_its_signal() -> None:
    """A line on stderr before the signal is not the cause."""
    assert TaskEnd(-9, "", "a warning\n", was_stopped=False).last_words == "killed by SIGKILL"


def test_ctrl_c_ends_running_jobs_and_keeps_measurements(tmp_path: Path) -> None:
    """The first job is finished at Ctrl-C, the second is running, and the third has not started."""
    outs = [tmp_path / name for name in "abc"]

    def press(state: JobsState) -> None:
        if state.done == 1 and state.ended:
            await_file(outs[1], "*/*.csv")
            time.sleep(1)  # until the run is in progress
            os.kill(os.getpid(), signal.SIGINT)

    done = _run([_job(outs[0], SHORT), _job(outs[1], LONG), _job(outs[2], LONG)], press)
    first, second, third = done.in_order
    assert isinstance(first, JobFinished)
    assert isinstance(second, JobInterrupted)
    assert second.folder is not None
    assert (second.folder / "flows.parquet").exists()
    assert third == JobInterrupted()
    assert done.is_interrupted
    assert not children_of(os.getpid())


def test_a_job_whose_starter_is_gone_does_not_begin(tmp_path: Path) -> None:
    """The starter may be killed before the job has asked the kernel for a death signal."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    environment = {**os.environ, PARENT_VARIABLE: str(gone.pid)}
    words = [sys.executable, "-m", "sfc_testbed.testbed.jobs.run_job"]
    done = outcome_of(words, cwd=ROOT, env=environment, input="")
    assert done.returncode == EXIT_STATUS
    assert not done.stdout
