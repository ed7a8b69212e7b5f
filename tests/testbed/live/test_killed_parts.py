# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Killed or stopped processes of a live run: the run ends and saves, and its verdict names the process."""

from __future__ import annotations

import functools
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import psutil
import pytest

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.telemetry.schema import SCHEMAS
from sfc_testbed.testbed.execution.execute import StoredRun, execute
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.testbed.targets.bmv2.installation import missing_bmv2, simple_switch_on_path
from sfc_testbed.testbed.targets.bmv2.process import LocalSwitch
from sfc_testbed.testbed.targets.bmv2.switch import Bmv2Switch
from sfc_testbed.testbed.targets.softswitch import SoftswitchProcess
from tests.testbed import running

pytestmark = [*running.NEEDS_MININET, running.LEAVES_NOTHING]
LONG = ("--dilation", "10000", "--set", "message_bytes=100000000", "--duration", "2")
"""Options of a run that lasts 20 s unless it ends early."""

Method = tuple[type, str]


def _find(pid: int, *words: str) -> psutil.Process | None:
    """Return the process of a run whose command line contains all of these words, and not h10 for h1."""
    for process in running.children_of(pid):
        try:
            line = " ".join(process.cmdline())
        except psutil.NoSuchProcess:
            continue
        if all(re.search(rf"{re.escape(word)}\b", line) for word in words):
            return process
    return None


def _await(pid: int, *words: str) -> psutil.Process:
    deadline = time.monotonic() + 60
    while (process := _find(pid, *words)) is None:
        assert time.monotonic() < deadline, f"no process with {words}"
        time.sleep(0.05)
    return process


def _run_with_signal(tmp_path: Path, number: str, victim: tuple[str, ...], *words: str) -> tuple[int, dict[str, Any]]:
    """Signal one process in the middle of a run; return the exit code and the result."""
    child = running.start(tmp_path, "incast", *words)
    process = _await(child.pid, *victim)
    running.wait_until_measuring(tmp_path)
    time.sleep(1)  # not a synchronization: any moment in the middle of the run will do
    process.send_signal(signal.Signals[f"SIG{number}"])
    status = child.wait(150)
    log = (tmp_path / "log").read_text()
    assert "Traceback" not in log
    assert "Broken pipe" not in log
    [folder] = (tmp_path / "runs").iterdir()
    assert {path.name for path in folder.glob("*.parquet")} == {schema.file_name for schema in SCHEMAS.values()}
    assert (folder / "report.html").exists()
    result: dict[str, Any] = json.loads((folder / "result.json").read_text())
    return status, result


@pytest.mark.parametrize(
    ("number", "victim", "words", "reason"),
    [
        ("KILL", ("tor1.control",), (), "tor1 was ended by SIGKILL (no output; see logs/tor1.log)"),
        ("SEGV", ("spine1.control",), (), "spine1 was ended by SIGSEGV (no output; see logs/spine1.log)"),
        ("TERM", ("tor2.control",), (), "tor2 ended with status 0 ("),
        ("STOP", ("tor1.control",), (), "tor1 "),
        ("KILL", ("sfc_testbed.hosts.agent", "agent1.json"), (), "agent1 was ended by SIGKILL ("),
        ("STOP", ("sfc_testbed.hosts.agent", "agent1.json"), (), "agent1 has been stopped by a signal for 5 s ("),
        ("KILL", ("mininet:h1",), (), "the shell of h1 was ended by SIGKILL"),
        ("KILL", ("iperf3_peer", "client"), ("--background", "iperf3"), "iperf3 client was ended by SIGKILL ("),
        ("KILL", ("iperf3_peer", "server"), ("--background", "iperf3"), "iperf3 "),
    ],
)
def test_a_part_that_ends_makes_the_run_invalid(
    number: str, victim: tuple[str, ...], words: tuple[str, ...], reason: str, tmp_path: Path
) -> None:
    status, result = _run_with_signal(tmp_path, number, victim, *LONG, *words)
    assert result["verdict"] == "invalid"
    assert reason in result["verdict_reasons"][0]
    assert status == 3
    if (number, victim[0]) == ("KILL", "sfc_testbed.hosts.agent"):
        assert result["packets"]["sent"] > 0


@pytest.mark.parametrize(
    ("command", "link"),
    [
        ("link delete tor1-eth1", "h1-tor1 was lost: tor1-eth1"),
        ("link set tor2-eth5 down", "h13-tor2 was lost: tor2-eth5"),
    ],
)
def test_a_link_that_is_lost_is_named_at_once(command: str, link: str, tmp_path: Path) -> None:
    """The run does not wait for the messages that can no longer complete."""
    child = running.start(tmp_path, "incast", *LONG)
    switch = _await(child.pid, "tor1.control")
    running.wait_until_measuring(tmp_path)
    subprocess.run(["nsenter", f"--net=/proc/{switch.pid}/ns/net", "ip", *command.split()], check=True)
    result = running.end_of(child, tmp_path)
    assert result["verdict_reasons"][0] == f"during the run link {link} was taken down, deleted or moved away."


@pytest.mark.parametrize("number", ["KILL", "TERM", "STOP"])
def test_a_lost_capture_degrades_the_run(number: str, tmp_path: Path) -> None:
    """The measurements are complete, but a requested file is not: the verdict says so, without an error."""
    words = ("--dilation", "10000", "--set", "message_bytes=1000000", "--pcap", "h1,h2")
    status, result = _run_with_signal(tmp_path, number, ("tcpdump", "h1-eth0"), *words)
    assert result["verdict"] in ("degraded", "invalid")  # "invalid" for lateness on a busy machine
    [reason] = [text for text in result["verdict_reasons"] if "pcap" in text]
    assert reason.startswith("pcaps/h1-eth0.pcapng ")
    assert "tcpdump of h1 " in reason
    assert status == (3 if result["verdict"] == "invalid" else 0)


def test_a_wire_of_bmv2_that_ends_is_named(tmp_path: Path) -> None:
    """Wires of softswitch connect BMv2's switches if the kernel has no netem."""
    if missing_bmv2() is not None:
        pytest.skip(f"no BMv2: {missing_bmv2()}")
    child = running.start(tmp_path, "incast", "--switch", "bmv2", "--set", "message_bytes=10000000")
    wires = _find(child.pid, "wires1.control")
    if wires is None:
        child.terminate()
        child.wait(100)
        pytest.skip("this kernel has netem")
    time.sleep(2)
    wires.kill()
    result = running.end_of(child, tmp_path)
    assert "wires1 was ended by SIGKILL" in result["verdict_reasons"][0]


# Killed switches, at every stage of a run


def _before(monkeypatch: pytest.MonkeyPatch, method: Method, act: Callable[[], None]) -> None:
    """Call `act` once, just before the next call of a method."""
    owner, name = method
    original = getattr(owner, name)
    calls: list[bool] = []

    @functools.wraps(original)
    def instead(*arguments: Any, **options: Any) -> Any:
        if not calls:
            calls.append(True)
            act()
        return original(*arguments, **options)

    monkeypatch.setattr(owner, name, instead)


def _kill(word: str) -> None:
    process = _await(psutil.Process().pid, word)
    process.kill()
    assert running.are_gone([process])


def _run_of_live() -> type:
    from sfc_testbed.testbed.live import run  # imports Mininet, which is known to be installed here

    return run._Run


SOFT = {
    "at its start": lambda: (SoftswitchProcess, "wait_until_ready"),
    "when flows begin": lambda: (_run_of_live(), "_wait_for_flows"),
    "in the drain": lambda: (_run_of_live(), "_quiesce"),
    "at collection": lambda: (_run_of_live(), "_collect"),
    "when it is counted": lambda: (SoftswitchProcess, "counts"),
    "before its samples": lambda: (SoftswitchProcess, "stop"),
}
BMV2 = {
    **SOFT,
    "at its start": lambda: (LocalSwitch, "connect"),
    "when it is counted": lambda: (Bmv2Switch, "counts"),
    "before its samples": lambda: (Bmv2Switch, "stop"),
}


def _killed(
    monkeypatch: pytest.MonkeyPatch, stage: Callable[[], Method], word: str, request: RunSpec, out: Path
) -> StoredRun:
    _before(monkeypatch, stage(), lambda: _kill(word))
    return execute(plan_run(request), out, Silent())


def _check(run: StoredRun, stage: str) -> None:
    """Check that everything is saved. A switch that had answered everything before it was killed changes no verdict."""
    assert {path.name for path in run.folder.glob("*.parquet")} == {schema.file_name for schema in SCHEMAS.values()}
    assert (run.folder / "result.json").exists()
    assert pl.read_parquet(run.folder / "flows.parquet").height == run.result.flows.total > 0
    if stage == "before its samples":
        return
    assert run.result.verdict == "invalid"
    assert "tor1 was ended by SIGKILL (" in run.result.verdict_reasons[0]
    assert "; see logs/tor1.log)" in run.result.verdict_reasons[0]
    assert "Broken pipe" not in " ".join(run.result.verdict_reasons)


@pytest.mark.parametrize("stage", SOFT)
def test_a_softswitch_that_is_killed(stage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    request = RunSpec("incast", settings={"degree": 2, "message_bytes": 20000}, dilation=10_000)
    _check(_killed(monkeypatch, SOFT[stage], "tor1.control", request, tmp_path), stage)


@pytest.mark.skipif(simple_switch_on_path() is None, reason="no simple_switch on the PATH")
@pytest.mark.parametrize("stage", BMV2)
def test_a_simple_switch_that_is_killed(stage: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    request = RunSpec("incast", switch="bmv2", settings={"degree": 2, "message_bytes": 20000})
    _check(_killed(monkeypatch, BMV2[stage], "tor1-notifications", request, tmp_path), stage)


# Removed TAP devices


def test_a_removed_tap_ends_the_run(tmp_path: Path) -> None:
    """Programs beside the flows need the TAP device."""
    child = running.start(tmp_path, "incast", *LONG, "--background", "iperf3")
    shell = _await(child.pid, "mininet:h1")
    _await(child.pid, "iperf3_peer", "client")
    subprocess.run(["nsenter", f"--net=/proc/{shell.pid}/ns/net", "ip", "link", "delete", "h1-tap0"], check=True)
    result = running.end_of(child, tmp_path)
    assert result["verdict"] == "invalid"
    assert "agent" in result["verdict_reasons"][0]
