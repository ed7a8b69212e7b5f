# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""SoftSwitch in Mininet scripts: four programs that behave as those of the P4 tutorials, and the tutorials' own.

`SFC_TESTBED_P4_TUTORIALS` names a checkout of github.com/p4lang/tutorials, whose programs then get the same tables.
"""

from __future__ import annotations

import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from testbed.system.run_ids import is_alive
from tests.softswitch.mininet.frames import BURST, CE, ECT, FLOWS, MANY_PACKETS, TCP_BYTES, address
from tests.softswitch.pipeline.harness import PROGRAMS
from tests.testbed import running

pytestmark = running.NEEDS_MININET
NAMES = ("basic", "ecn", "mri", "load_balance")
CHECKOUT = "SFC_TESTBED_P4_TUTORIALS"
DOCUMENT = running.ROOT / "docs" / "targets" / "softswitch.md"
PROMPT = b"mininet> "
PATIENCE_S = 60.0


def in_own_network(*words: str | Path) -> list[str | Path]:
    """A script of this folder in a network namespace that goes with it."""
    return ["unshare", "--net", sys.executable, "-m", *words]


def temporary_in(folder: Path) -> Mapping[str, str]:
    """The environment of a script whose temporary files are all in a folder."""
    return {**os.environ, "TMPDIR": str(folder)}


def programs_of(whose: str) -> list[Path]:
    """Ours are compiled, the tutorials' are left to p4c."""
    if whose == "ours":
        return [PROGRAMS / f"{name}.json" for name in NAMES]
    checkout = os.environ.get(CHECKOUT)
    if not checkout:
        pytest.skip(f"{CHECKOUT} names no checkout of the P4 tutorials")
    if not shutil.which("p4c-bm2-ss"):
        pytest.skip("needs p4c-bm2-ss for the P4 tutorials")
    return [Path(checkout, "exercises", name, "solution", f"{name}.p4") for name in NAMES]


@pytest.fixture(scope="module", params=("ours", "tutorials"))
def outcome(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one run of the scenario told."""
    programs = programs_of(request.param)
    environment = temporary_in(tmp_path_factory.mktemp("run"))
    command = in_own_network("tests.softswitch.mininet.scenario", *programs)
    done = subprocess.run(
        command, cwd=running.ROOT, env=environment, capture_output=True, text=True, timeout=200, check=False
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_basic_routes_over_links_with_rate_and_delay(outcome: dict[str, Any]) -> None:
    """Two hops away; the slow link takes 2 ms and the 98 B of a ping 1.96 ms, there and back. A host's TCP passes."""
    (slow_ttl, slow_ms), (fast_ttl, _) = outcome["ping"]
    assert (slow_ttl, fast_ttl) == (62, 62)
    assert slow_ms >= 7.9
    assert outcome["tcp"] == TCP_BYTES


def test_ecn_marks_what_waits_behind_many(outcome: dict[str, Any]) -> None:
    """Of a burst at a slow port: none of the first, the last, and never what is not capable of it."""
    marks = dict(outcome["ecn"])
    assert [number for number, _ in outcome["ecn"]] == list(range(BURST))
    assert {marks[number] for number in range(0, BURST, 4)} == {0}
    capable = [number for number in range(BURST) if number % 4]
    assert {marks[number] for number in capable if number < MANY_PACKETS} == {ECT}
    assert marks[capable[-1]] == CE
    assert {marks[number] for number in capable} == {ECT, CE}


def test_mri_tells_the_path_and_its_queues(outcome: dict[str, Any]) -> None:
    """Each frame knows both switches, the last first; the burst's first finds s1 empty, then it empties by ones."""
    assert [number for number, _ in outcome["mri"]] == list(range(BURST // 2))
    assert {tuple(switch for switch, _ in hops) for _, hops in outcome["mri"]} == {(2, 1)}
    assert {hops[0][1] for _, hops in outcome["mri"]} == {0}
    depths = [hops[1][1] for _, hops in outcome["mri"]]
    assert depths == [0, *reversed(range(BURST // 2 - 1))]


def test_load_balance_spreads_flows_and_keeps_each_together(outcome: dict[str, Any]) -> None:
    """Over two ports of s1 to two hosts, whose addresses the frames then bear."""
    hosts_of: dict[int, list[str]] = {}
    for host, seen in outcome["flows"].items():
        assert {to for _, to in seen} == {address(int(host[1:]))}
        for port, _ in seen:
            hosts_of.setdefault(port, []).append(host)
    assert len(hosts_of) == FLOWS
    assert all(len(hosts) == 2 and len(set(hosts)) == 1 for hosts in hosts_of.values())
    assert min(len(seen) for seen in outcome["flows"].values()) >= FLOWS // 4


def test_a_wrong_command_stops_the_start_with_its_line(outcome: dict[str, Any]) -> None:
    """One line; the switch does not run on with half of its entries."""
    said = outcome["refusal"]
    assert said.startswith("s1: table_add: no table 'no_such_table', there are: ")
    assert said.endswith(" (FILE:2); None")
    assert "\n" not in said


def test_a_stopped_network_leaves_nothing(outcome: dict[str, Any]) -> None:
    """No process, no socket."""
    assert outcome["left"] == []


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder with a name as short as a socket's must be."""
    with tempfile.TemporaryDirectory(prefix="sfc-", dir="/tmp") as name:
        yield Path(name)


def test_the_script_of_the_document_runs_and_may_be_killed(tmp_path: Path, temporary: Path) -> None:
    """It forwards and answers at Mininet's prompt; the switch of a script that is killed goes, and its socket too."""
    copy_document_script(tmp_path)
    environment = {**temporary_in(temporary), "PYTHONPATH": str(running.ROOT)}
    script = subprocess.Popen(
        ["unshare", "--net", sys.executable, "net.py"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    with script:
        try:
            answer_of(script)
            assert "1 received" in ask(script, "py h1.cmd('ping -n -c 1 -W 20 10.0.0.2')")
            ports = [line.split()[:4] for line in ask(script, "py s1.commands('show_ports')[0]").splitlines()]
            assert ports[1:] == [["1", "s1-eth1", "0", "1000000"], ["2", "s1-eth2", "10000000", "1000000"]]
            pid = int(ask(script, "py s1.switch_pid"))
            assert [path.suffix for path in temporary.iterdir()] == [".control"]
        finally:
            script.kill()
    deadline = time.monotonic() + PATIENCE_S
    while (is_process(pid) or list(temporary.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_process(pid)
    assert list(temporary.iterdir()) == []


def copy_document_script(folder: Path) -> None:
    """Puts what the document shows into a folder, beside the program."""
    text = DOCUMENT.read_text(encoding="utf-8")
    for language, name in (("python", "net.py"), ("text", "s1-commands.txt")):
        [block] = re.findall(rf"^```{language}\n# {re.escape(name)}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        (folder / name).write_text(block, encoding="utf-8")
    shutil.copy(PROGRAMS / "basic.json", folder)


def ask(script: subprocess.Popen[bytes], line: str) -> str:
    """What Mininet's prompt answers."""
    assert script.stdin is not None
    script.stdin.write(f"{line}\n".encode())
    script.stdin.flush()
    return answer_of(script)


def answer_of(script: subprocess.Popen[bytes]) -> str:
    """All until the next prompt."""
    assert script.stdout is not None
    said = b""
    while not said.endswith(PROMPT) and select.select([script.stdout], [], [], PATIENCE_S)[0]:
        chunk = os.read(script.stdout.fileno(), 65_536)
        if not chunk:
            break
        said += chunk
    assert said.endswith(PROMPT), said.decode()
    return said.removesuffix(PROMPT).decode()


def is_process(pid: int) -> bool:
    """Whether it still runs; a zombie does not."""
    try:
        return is_alive(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False
