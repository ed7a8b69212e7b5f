# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs on live Mininet: real namespaces, veth pairs and processes; nothing of them stays, however a run ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from testbed.namespace import can_make_namespaces
from testbed.runid import RUN_VARIABLE, STATE_ROOT

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(os.geteuid() != 0, reason="needs root"),
    pytest.mark.skipif(os.geteuid() == 0 and can_make_namespaces() is not None, reason="cannot make namespaces"),
    pytest.mark.skipif(shutil.which("mnexec") is None, reason="Mininet is not installed"),
]
SMALL = ["--scale", "ci", "--dilation", "10000", "--set", "degree=4"]
LONG = ["--scale", "ci", "--dilation", "10000", "--set", "message_bytes=100000000", "--duration", "1000"]


def _command(*words: str) -> list[str]:
    return [sys.executable, str(ROOT / "runner.py"), *words]


def _run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(_command(*words), capture_output=True, text=True, check=False, timeout=200)


def _remains() -> dict[str, set[str]]:
    """Everything of ours that could be left: processes, named namespaces, interfaces, state folders."""
    processes = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if f"{RUN_VARIABLE}=".encode() in (entry / "environ").read_bytes():
                    processes.add(entry.name)
            except OSError:
                continue
    links = subprocess.run(["ip", "-o", "link"], capture_output=True, text=True, check=True).stdout
    netns = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
    return {
        "processes": processes,
        "interfaces": {line.split(":")[1].strip() for line in links.splitlines()},
        "namespaces": set(netns.splitlines()),
        "states": {path.name for path in STATE_ROOT.iterdir()} if STATE_ROOT.is_dir() else set(),
    }


@pytest.fixture(autouse=True)
def _leaves_nothing() -> object:
    """Every test here ends with the machine as it was."""
    before = _remains()
    yield
    assert _remains() == before


def _started(tmp_path: Path) -> subprocess.Popen[bytes]:
    """A long run, once its flows are under way."""
    with (tmp_path / "log").open("wb") as log:
        child = subprocess.Popen(
            _command("run", "incast", *LONG, "--json", "--out", str(tmp_path / "runs")), stdout=log, stderr=log
        )
    deadline = time.monotonic() + 60
    while not list((tmp_path / "runs").glob("*/logs/agent*.json")) and time.monotonic() < deadline:
        assert child.poll() is None, (tmp_path / "log").read_text()
        time.sleep(0.05)
    time.sleep(2)  # not for synchronization: to be anywhere in the middle of the run
    return child


def test_a_live_run_completes_and_is_balanced(tmp_path: Path) -> None:
    """All flows arrive whole over real namespaces, every packet is accounted for, BTS pauses are in the trace."""
    done = _run("run", "incast", "--scheme", "sfc", *SMALL, "--json", "--out", str(tmp_path))
    result = json.loads(done.stdout)
    assert (result["clock"], result["switch"]) == ("real", "soft")
    assert result["flows"] | {"completed": 4, "corrupted": 0, "total": 4} == result["flows"]
    assert result["unexplained_loss"] == 0
    assert result["bts"]["sent"] > 0
    assert done.returncode == (3 if result["verdict"] == "invalid" else 0)


def test_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    """Ctrl-C ends a run cleanly: result and traces are there and say that it was interrupted."""
    child = _started(tmp_path)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) in (0, 3), (tmp_path / "log").read_text()
    [folder] = (tmp_path / "runs").iterdir()
    result = json.loads((folder / "result.json").read_text())
    assert result["interrupted"]
    assert result["packets"]["sent"] > 0
    assert (folder / "queues.parquet").exists()


def test_after_kill_9_clean_leaves_nothing(tmp_path: Path) -> None:
    """A killed runner's remains are found by run id and ended; a stranger's process is not touched."""
    stranger = subprocess.Popen(["sleep", "300"])
    child = _started(tmp_path)
    child.kill()
    child.wait()
    try:
        cleaned = _run("clean")
        assert cleaned.returncode == 0, cleaned.stderr
        assert "ended" in cleaned.stdout
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()


def test_two_runs_at_once_do_not_meet(tmp_path: Path) -> None:
    """Runs have namespaces of their own: same names, no collision."""
    children = [
        subprocess.Popen(
            _command("run", "incast", *SMALL, "--set", "message_bytes=20000", "--json", "--out", str(tmp_path / name)),
            stdout=subprocess.PIPE,
        )
        for name in ("a", "b")
    ]
    for child in children:
        out, _ = child.communicate(timeout=200)
        assert json.loads(out)["flows"]["completed"] == 4


def test_prompt_pings(tmp_path: Path) -> None:
    """In the Mininet prompt hosts of different racks ping each other through the P4 switches."""
    done = subprocess.run(
        _command("cli", "--dilation", "1000"),
        input="h1 ping -c 2 -W 5 h8\nexit\n",
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert "2 received" in done.stderr, done.stdout + done.stderr  # Mininet prints what commands say there
    assert done.returncode == 0
