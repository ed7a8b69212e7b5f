# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Helpers for tests of live runs: the command as a process, and the remains of runs on the machine."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import Any

import psutil
import pytest

from sfc_testbed.telemetry.journal import HEAD_FILE, JOURNAL_FOLDER, Head
from sfc_testbed.testbed.system.namespace import can_make_namespaces
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE, STATE_ROOT, is_alive, known_runs, owner_of
from tests.appearing import await_file, comes_true, found

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS_VARIABLE = "SFC_TESTBED_TESTS"
"""The environment variable that marks the processes of this test process. Other test processes may run in parallel."""
os.environ[TESTS_VARIABLE] = str(os.getpid())

NEEDS_MININET = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() == 0 and can_make_namespaces() is not None, reason="cannot make namespaces"),
    pytest.mark.skipif(shutil.which("mnexec") is None, reason="Mininet is not installed"),
    pytest.mark.filterwarnings("ignore:.*distutils.*:DeprecationWarning"),  # from Mininet, in older versions of Python
]

LEAVES_NOTHING = pytest.mark.usefixtures("leaves_nothing")


def needs_mininet(test: Callable[..., None]) -> Callable[..., None]:
    """Apply the marks of `NEEDS_MININET` to one test."""
    for mark in NEEDS_MININET:
        test = mark(test)
    return test


def command(*words: str) -> list[str]:
    """Return the command line of runner.py with these arguments."""
    return [sys.executable, str(ROOT / "runner.py"), *words]


def outcome_of(words: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command and return its status and its output. `options` are others of `subprocess.run`."""
    return subprocess.run(words, capture_output=True, text=True, check=False, timeout=280, **options)


def run(*words: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run runner.py with these arguments and return the result."""
    return outcome_of(command(*words), cwd=cwd, env=env)


def result_of(*words: str) -> dict[str, Any]:
    """Execute `run` with these arguments and return its result. The verdict may be any, as on a busy machine."""
    done = run("run", *words, "--json")
    assert done.stdout, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    flows = result["flows"]
    is_done = flows["completed"] == flows["total"] or result.get("has_fixed_duration", False)
    assert done.returncode == (3 if result["verdict"] == "invalid" else 0 if is_done else 5)
    return result


def started(*words: str) -> subprocess.Popen[str]:
    """Start runner.py with these arguments in a new session and return its process."""
    return start_interruptible(command(*words))


def start_interruptible(words: list[str]) -> subprocess.Popen[str]:
    """Start a command that hears Ctrl-C, which a shell ignores for tests in the background."""
    return subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def is_of_lateness(reason: str) -> bool:
    """Return whether a reason for a live run's verdict is lateness, which may occur on any busy machine."""
    late = r"(Host|Switch) lateness P99 |P99 error in the spacing of |Use --dilation "
    return re.match(late, reason) is not None


def assert_at_most_late(result: dict[str, Any]) -> None:
    """Check that a live run is faithful, or late as on a busy machine."""
    reasons = result["verdict_reasons"]
    assert result["verdict"] == "faithful" or all(map(is_of_lateness, reasons)), reasons


def kill(child: subprocess.Popen[bytes]) -> None:
    """Kill a runner, so that it cannot end its run."""
    child.kill()
    child.wait()


def clean_run_of(pid: int) -> None:
    """Clean the run of this runner only, because tests in parallel have runs of their own."""
    [run_id] = [path.name for path in STATE_ROOT.iterdir() if _runner_in(path) == pid]
    cleaned = run("clean", run_id)
    assert cleaned.returncode == 0, cleaned.stderr


def _runner_in(state: Path) -> int | None:
    """Return the PID in a run's state folder, or None if a test in parallel has ended that run."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return int((state / "owner").read_text().split()[0])
    return None


def remains() -> dict[str, set[str]]:
    """Return everything that runs may leave behind: processes, named namespaces, interfaces, state folders."""
    ours, unmarked = _processes()
    other_runs = _runs_of_others()
    of_no_live_run = {str(pid) for pid, run_id in unmarked.items() if run_id not in other_runs}
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    netns = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    states = {path.name for path in STATE_ROOT.iterdir()} if STATE_ROOT.is_dir() else set()
    return {
        "processes": ours,
        "unmarked": of_no_live_run,
        "interfaces": {line.split(":")[1].strip() for line in links.splitlines()},
        "namespaces": set(netns.splitlines()),
        "states": states - other_runs,
    }


def _processes() -> tuple[set[str], dict[int, str]]:
    """Return the processes of runs started by these tests, and the run IDs by PID of unmarked processes.

    Processes in containers carry the run ID but not the variable of the tests.
    """
    ours: set[str] = set()
    unmarked: dict[int, str] = {}
    for process in psutil.process_iter(["environ"]):
        environment = process.info["environ"] or {}
        run_id, tests = environment.get(RUN_VARIABLE), environment.get(TESTS_VARIABLE)
        if run_id is not None and tests == os.environ[TESTS_VARIABLE]:
            ours.add(str(process.pid))
        elif run_id is not None and tests is None:
            unmarked[process.pid] = run_id
    return ours, unmarked


def _runs_of_others() -> set[str]:
    """Return the live runs on this machine that this test process did not start."""
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    owners = {run_id: owner_of(run_id) for run_id in known_runs()}
    return {run_id for run_id, owner in owners.items() if owner is not None and owner not in family}


def left_since(before: dict[str, set[str]]) -> dict[str, set[str]]:
    """Return the remains that were not there before.

    Processes marked by these tests count at once. Other remains may belong to tests in parallel, which clean up later.
    They get some time to disappear.
    """
    deadline = time.monotonic() + 60
    while (left := _new_since(before)) and "processes" not in left and time.monotonic() < deadline:
        time.sleep(0.2)
    return left


def _new_since(before: dict[str, set[str]]) -> dict[str, set[str]]:
    now = remains()
    return {kind: now[kind] - before[kind] for kind in now if now[kind] - before[kind]}


def start(folder: Path, *words: str, is_on_terminal: bool = False) -> subprocess.Popen[bytes]:
    """Start a run in `folder`/runs and return it once its hosts are being started. Its output goes to `folder`/log."""
    with _terminal(folder / "log") if is_on_terminal else (folder / "log").open("wb") as log:
        child = subprocess.Popen(command("run", *words, "--out", str(folder / "runs")), stdout=log, stderr=log)
    await_file(folder / "runs", "*/logs/agent*.json", child)
    return child


def end_of(child: subprocess.Popen[bytes], folder: Path, status: int = 3) -> dict[str, Any]:
    """Wait for the end of the run that `start` began in `folder`, check its status, and return the stored result."""
    assert child.wait(150) == status, (folder / "log").read_text()
    [path] = (folder / "runs").glob("*/result.json")
    result: dict[str, Any] = json.loads(path.read_text())
    return result


@contextmanager
def _terminal(log: Path) -> Iterator[int]:
    """Provide a terminal. A thread copies to a file what processes write to it, until all have closed it."""
    near, far = pty.openpty()

    def copy() -> None:
        with log.open("wb", buffering=0) as file, os.fdopen(near, "rb", buffering=0) as terminal, suppress(OSError):
            while piece := terminal.read(1 << 16):  # Linux reports a closed terminal as an error
                file.write(piece)

    Thread(target=copy).start()
    try:
        yield far
    finally:
        os.close(far)


def wait_until_measuring(folder: Path) -> None:
    """Wait until the run that `start` began in `folder` measures. A run that ends earlier stores no results."""

    def is_measuring() -> bool:
        heads = found(folder, f"runs/*/{JOURNAL_FOLDER}/{HEAD_FILE}")
        return any(Head.model_validate_json(head.read_bytes()).start_ns for head in heads)

    assert comes_true(is_measuring), (folder / "log").read_text()


@contextmanager
def dask_cluster(folder: Path, *options: str, workers: int = 1) -> Iterator[str]:
    """Start a Dask scheduler and workers without this tree on their path, and yield the scheduler's address.

    All workers have joined by then.
    """
    file = folder / "scheduler.json"
    with ExitStack() as stack:

        def start(*words: str) -> subprocess.Popen[bytes]:
            log = stack.enter_context((folder / f"{words[0]}.log").open("w"))
            line = [sys.executable, "-m", "dask", *words, "--no-dashboard", "--scheduler-file", str(file), *options]
            process = subprocess.Popen(line, cwd=folder, stdout=log, stderr=log)
            stack.callback(process.wait)
            stack.callback(process.terminate)
            return process

        scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0")
        await_file(folder, "scheduler.json", scheduler)
        assert comes_true(lambda: bool(file.read_text()))  # the scheduler creates the file before it writes it
        start("worker", "--nworkers", str(workers), "--nthreads", "1", "--local-directory", str(folder / "scratch"))
        log = folder / "scheduler.log"
        assert comes_true(lambda: log.read_text().count("Register worker") >= workers)
        yield json.loads(file.read_text())["address"]


def write_program(path: Path, script: str) -> None:
    """Write an executable shell script."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def children_of(pid: int) -> list[psutil.Process]:
    """Return the live processes that a process has started, directly or indirectly."""
    return [child for child in psutil.Process(pid).children(recursive=True) if is_alive(child)]


def are_gone(processes: list[psutil.Process]) -> bool:
    """Wait for processes to end, and return whether all have ended in time."""
    return comes_true(lambda: not any(map(is_alive, processes)), 60)
