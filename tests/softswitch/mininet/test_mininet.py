# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of SoftSwitch in Mininet scripts, with four programs that behave like the P4 tutorials' exercises.

If `SFC_TESTBED_P4_TUTORIALS` names a checkout of github.com/p4lang/tutorials, its programs are tested too.
"""

import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
import pytest

from sfc_testbed.testbed.system.run_ids import is_alive
from softswitch_tests.pipeline.harness import PROGRAMS
from tests.appearing import comes_true
from tests.softswitch.mininet.frames import BURST, CE, ECT, FLOWS, MANY_PACKETS, TCP_BYTES, address
from tests.testbed import running

pytestmark = running.NEEDS_MININET
NAMES = ("basic", "ecn", "mri", "load_balance")
CHECKOUT = "SFC_TESTBED_P4_TUTORIALS"
PAGE, README = running.ROOT / "docs" / "targets" / "softswitch.md", running.ROOT / "softswitch" / "README.md"
PROMPT = b"mininet> "
PATIENCE_S = 60.0
LIMIT_S = 250


def temporary_in(folder: Path) -> Mapping[str, str]:
    return {**os.environ, "TMPDIR": str(folder)}


def results_of(script: str, *words: str | Path, temporary: Path) -> dict[str, Any]:
    """Run a script of this folder in a network namespace of its own, and return the results that it prints."""
    command = ["unshare", "--net", sys.executable, "-m", f"tests.softswitch.mininet.{script}", *words]
    done = subprocess.run(
        command,
        cwd=running.ROOT,
        env=temporary_in(temporary),
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def programs_of(whose: str) -> list[Path]:
    """Return our compiled programs, or the tutorials' sources, which p4c compiles."""
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
    return results_of("scenario", *programs_of(request.param), temporary=tmp_path_factory.mktemp("run"))


def test_basic_routes_over_links_with_rate_and_delay(outcome: dict[str, Any]) -> None:
    """The slow link takes 2 ms, and the 98 B of a ping take 1.96 ms, in each direction."""
    (slow_ttl, slow_ms), (fast_ttl, _) = outcome["ping"]
    assert (slow_ttl, fast_ttl) == (62, 62)
    assert slow_ms >= 7.9
    assert outcome["tcp"] == TCP_BYTES


def test_ecn_marks_packets_in_a_long_queue(outcome: dict[str, Any]) -> None:
    """The first packets of a burst at a slow port are not marked, the last is; other transports are never marked."""
    marks = dict(outcome["ecn"])
    assert [number for number, _ in outcome["ecn"]] == list(range(BURST))
    assert {marks[number] for number in range(0, BURST, 4)} == {0}
    capable = [number for number in range(BURST) if number % 4]
    assert {marks[number] for number in capable if number < MANY_PACKETS} == {ECT}
    assert marks[capable[-1]] == CE
    assert {marks[number] for number in capable} == {ECT, CE}


def test_mri_records_the_path_and_its_queues(outcome: dict[str, Any]) -> None:
    """Each frame records both switches, last hop first. The queue of s1 is empty for the first frame, then drains."""
    assert [number for number, _ in outcome["mri"]] == list(range(BURST // 2))
    assert {tuple(switch for switch, _ in hops) for _, hops in outcome["mri"]} == {(2, 1)}
    assert {hops[0][1] for _, hops in outcome["mri"]} == {0}
    depths = [hops[1][1] for _, hops in outcome["mri"]]
    assert depths == [0, *reversed(range(BURST // 2 - 1))]


def test_load_balance_spreads_flows_and_keeps_each_together(outcome: dict[str, Any]) -> None:
    """s1 spreads flows over two ports to two hosts and rewrites the destination address."""
    hosts_of: dict[int, list[str]] = {}
    for host, seen in outcome["flows"].items():
        assert {to for _, to in seen} == {address(int(host[1:]))}
        for port, _ in seen:
            hosts_of.setdefault(port, []).append(host)
    assert len(hosts_of) == FLOWS
    assert all(len(hosts) == 2 and len(set(hosts)) == 1 for hosts in hosts_of.values())
    assert min(len(seen) for seen in outcome["flows"].values()) >= FLOWS // 4


def test_wrong_command_stops_the_start_and_names_its_line(outcome: dict[str, Any]) -> None:
    """A switch must not run with only part of its entries."""
    error = outcome["refusal"]
    assert error.startswith("s1: table_add: no table 'no_such_table', there are: ")
    assert error.endswith(" (FILE:2); None")
    assert "\n" not in error


def test_stopped_network_leaves_no_processes_or_sockets(outcome: dict[str, Any]) -> None:
    assert outcome["left"] == []


@pytest.fixture
def temporary() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sfc-", dir="/tmp") as name:
        yield Path(name)


@pytest.mark.parametrize(
    ("document", "limits"), [(PAGE, [["0", "1000000"], ["10000000", "1000000"]]), (README, [["0", "0"], ["0", "0"]])]
)
def test_documented_script_runs_and_may_be_killed(
    document: Path, limits: list[list[str]], tmp_path: Path, temporary: Path
) -> None:
    """If the script is killed, its switch ends and the switch's socket is removed."""
    copy_script_of(document, tmp_path)
    script = subprocess.Popen(
        ["unshare", "--net", sys.executable, "net.py"],
        cwd=tmp_path,
        env=temporary_in(temporary),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    with script:
        try:
            answer_of(script)
            assert "1 received" in ask(script, "py h1.cmd('ping -n -c 1 -W 20 10.0.0.2')")
            ports = [line.split()[:4] for line in ask(script, "py s1.commands('show_ports')[0]").splitlines()]
            assert ports[1:] == [["1", "s1-eth1", *limits[0]], ["2", "s1-eth2", *limits[1]]]
            pid = int(ask(script, "py s1.switch_pid"))
            assert [path.suffix for path in temporary.iterdir()] == [".control"]
        finally:
            script.kill()
    assert comes_true(lambda: not is_process(pid) and not list(temporary.iterdir()), PATIENCE_S)


def copy_script_of(document: Path, folder: Path) -> None:
    text = document.read_text(encoding="utf-8")
    for language, name in (("python", "net.py"), ("text", "s1-commands.txt")):
        [block] = re.findall(rf"^```{language}\n# {re.escape(name)}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        (folder / name).write_text(block, encoding="utf-8")
    shutil.copy(PROGRAMS / "basic.json", folder)


def ask(script: subprocess.Popen[bytes], line: str) -> str:
    assert script.stdin is not None
    script.stdin.write(f"{line}\n".encode())
    script.stdin.flush()
    return answer_of(script)


def answer_of(script: subprocess.Popen[bytes]) -> str:
    assert script.stdout is not None
    error = b""
    while not error.endswith(PROMPT) and select.select([script.stdout], [], [], PATIENCE_S)[0]:
        chunk = os.read(script.stdout.fileno(), 65_536)
        if not chunk:
            break
        error += chunk
    assert error.endswith(PROMPT), error.decode()
    return error.removesuffix(PROMPT).decode()


def is_process(pid: int) -> bool:
    try:
        return is_alive(psutil.Process(pid))
    except psutil.NoSuchProcess:
        return False
