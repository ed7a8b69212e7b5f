# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Live runs under test: the command as a process, and what of ours is on the machine."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from telemetry.journal import HEAD_FILE, JOURNAL_FOLDER, Head
from testbed.system.namespace import can_make_namespaces
from testbed.system.run_ids import RUN_VARIABLE, STATE_ROOT, is_alive, known_runs, owner_of
from tests.appearing import found

ROOT = Path(__file__).resolve().parent.parent.parent
TESTS_VARIABLE = "SFC_TESTBED_TESTS"
"""In the environment of whatever these tests start: other tests may run beside them, and kill runs of their own."""
os.environ[TESTS_VARIABLE] = str(os.getpid())

NEEDS_MININET = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(os.geteuid() == 0 and can_make_namespaces() is not None, reason="cannot make namespaces"),
    pytest.mark.skipif(shutil.which("mnexec") is None, reason="Mininet is not installed"),
]


def needs_mininet(test: Callable[..., None]) -> Callable[..., None]:
    """The same of one test."""
    for mark in NEEDS_MININET:
        test = mark(test)
    return test


def command(*words: str) -> list[str]:
    """runner.py with these words."""
    return [sys.executable, str(ROOT / "runner.py"), *words]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """runner.py, done."""
    return subprocess.run(command(*words), capture_output=True, text=True, check=False, timeout=200)


def is_of_lateness(reason: str) -> bool:
    """Whether a reason for a live run's verdict is that it was late, as it may be wherever the machine is busy."""
    return re.match(r"(Host|Switch) lateness P99 |Spacing of (host|switch) frames |About D = ", reason) is not None


def sleeper(environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """A process with this environment that waits, once it shows it: a program that has just begun shows none."""
    child = subprocess.Popen(["sleep", "300"], env=environment)
    deadline = time.monotonic() + 60
    while psutil.Process(child.pid).environ() != environment:
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.001)
    return child


def kill(child: subprocess.Popen[bytes]) -> None:
    """Kills a runner, which has no chance to end its run."""
    child.kill()
    child.wait()


def clean_run_of(pid: int) -> subprocess.CompletedProcess[str]:
    """`clean` of what this runner left, and of nobody else's: tests beside these look for their own."""
    [run_id] = [path.name for path in STATE_ROOT.iterdir() if runner_in(path) == pid]
    return run("clean", run_id)


def runner_in(state: Path) -> int | None:
    """The pid in a run's folder; none once a test beside these has ended that run."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return int((state / "owner").read_text().split()[0])
    return None


def remains() -> dict[str, set[str]]:
    """Everything of ours that could be left: processes, named namespaces, interfaces, state folders."""
    ours, unmarked = _processes()
    strangers = _runs_of_others()
    of_nobody = {str(each) for each, run_id in unmarked.items() if run_id not in strangers}
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    netns = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    states = {path.name for path in STATE_ROOT.iterdir()} if STATE_ROOT.is_dir() else set()
    return {
        "processes": ours,
        "unmarked": of_nobody,
        "interfaces": {line.split(":")[1].strip() for line in links.splitlines()},
        "namespaces": set(netns.splitlines()),
        "states": states - strangers,
    }


def _processes() -> tuple[set[str], dict[int, str]]:
    """Processes of runs: those that these tests made, and the run of each that does not say who did: a container's have
    no environment of ours, but they have the run's."""
    ours: set[str] = set()
    unmarked: dict[int, str] = {}
    for each in psutil.process_iter(["environ"]):
        environment = each.info["environ"] or {}
        run_id, tests = environment.get(RUN_VARIABLE), environment.get(TESTS_VARIABLE)
        if run_id is not None and tests == os.environ[TESTS_VARIABLE]:
            ours.add(str(each.pid))
        elif run_id is not None and tests is None:
            unmarked[each.pid] = run_id
    return ours, unmarked


def _runs_of_others() -> set[str]:
    """Runs under way on this machine that no test of this process started."""
    family = [psutil.Process(), *psutil.Process().children(recursive=True)]
    owners = {run_id: owner_of(run_id) for run_id in known_runs()}
    return {run_id for run_id, owner in owners.items() if owner is not None and owner not in family}


def left_since(before: dict[str, set[str]], patience_s: float = 60) -> dict[str, set[str]]:
    """What is there now and was not before. A marked process is ours or is not; for all else, what tests beside these
    have killed and not yet cleaned may stand there for a while."""
    deadline = time.monotonic() + patience_s
    while (left := _new_since(before)) and "processes" not in left and time.monotonic() < deadline:
        time.sleep(0.2)
    return left


def _new_since(before: dict[str, set[str]]) -> dict[str, set[str]]:
    now = remains()
    return {kind: now[kind] - before[kind] for kind in now if now[kind] - before[kind]}


def start(folder: Path, *words: str) -> subprocess.Popen[bytes]:
    """A run in `folder`/runs, once its hosts are being started; what it prints goes to `folder`/log."""
    with (folder / "log").open("wb") as log:
        child = subprocess.Popen(command("run", *words, "--out", str(folder / "runs")), stdout=log, stderr=log)
    deadline = time.monotonic() + 60
    while not found(folder / "runs", "*/logs/agent*.json") and time.monotonic() < deadline:
        assert child.poll() is None, (folder / "log").read_text()
        time.sleep(0.05)
    return child


def wait_until_measuring(folder: Path) -> None:
    """Until the run that `start` began in `folder` has a model time 0; one that ends before leaves nothing."""
    deadline = time.monotonic() + 60
    while not any(
        Head.model_validate_json(head.read_bytes()).start_ns
        for head in found(folder, f"runs/*/{JOURNAL_FOLDER}/{HEAD_FILE}")
    ):
        assert time.monotonic() < deadline, (folder / "log").read_text()
        time.sleep(0.05)


def hear_interrupts() -> None:
    """Before a command starts: a shell that put the tests in the background has made it ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def children_of(pid: int) -> list[psutil.Process]:
    """Living processes that this one started, and theirs."""
    return [child for child in psutil.Process(pid).children(recursive=True) if is_alive(child)]


def are_gone(processes: list[psutil.Process], patience_s: float = 60) -> bool:
    """Whether all of them end within a while."""
    deadline = time.monotonic() + patience_s
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.1)
    return not any(map(is_alive, processes))
