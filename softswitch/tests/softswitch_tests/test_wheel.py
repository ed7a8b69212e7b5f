# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the installed package: its wheel in an empty environment, away from this tree, with real packets."""

import os
import shutil
import socket
import subprocess
import venv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import pytest

from softswitch_tests.p4runtime.controller import Names, connected, exact
from softswitch_tests.p4runtime.frames import EXACT, arrives
from softswitch_tests.p4runtime.running import served
from softswitch_tests.pipeline.harness import PROGRAMS

PROJECT = Path(__file__).resolve().parents[2]
BUILT_FROM = ("pyproject.toml", "README.md", "LICENSE")
OUTSIDE_THE_TREE = ("env", "--unset=PYTHONPATH")
PATIENCE_S = 300.0
ROUTE = "table_add ipv4_lpm ipv4_forward 10.0.0.0/8 => 02:00:00:00:00:09 2\n"
FRAME = bytes(12) + bytes.fromhex("0800 4500001c0000000040110000 0a000001 0a000002 0001000200080000")
TEST = """
add ipv4_lpm hdr.ipv4.dst:0x0a000000/8 ipv4_forward(dst:0x020000000009, port:2)
packet 1 000000000000 000000000000 0800 4500001c 00000000 40110000 0a000001 0a000002
expect 2 020000000009 ************ 0800 4500001c 00000000 3f11**** 0a000001 0a000002 $
"""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `bin` of an environment with the wheel. Skip the tests if pip cannot get what the wheel needs."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in BUILT_FROM:
        (folder / "project").mkdir(exist_ok=True)
        shutil.copy(PROJECT / name, folder / "project")
    ignored = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(PROJECT / "src", folder / "project" / "src", ignore=ignored)
    venv.create(folder / "environment", with_pip=True)
    programs = folder / "environment" / "bin"
    _pip(programs, "wheel", "--no-deps", "--wheel-dir", folder, folder / "project")
    [wheel] = folder.glob("softswitch-*.whl")
    _pip(programs, "install", wheel)
    shutil.rmtree(folder / "project")
    return programs


def _pip(programs: Path, verb: str, *words: str | Path) -> None:
    command = [*OUTSIDE_THE_TREE, programs / "python", "-m", "pip", verb, "--quiet", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode != 0:
        pytest.skip(f"pip {verb} fails: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")


def _output(folder: Path, *words: str | Path) -> str:
    """Run a command outside this tree and return its output."""
    command = [*OUTSIDE_THE_TREE, *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_package_is_complete_without_the_tree(installed: Path, tmp_path: Path) -> None:
    code = "import softswitch.build as build; print(build.SOURCE_DIR)"
    folder = Path(_output(tmp_path, installed / "python", "-c", code).strip())
    assert folder.is_relative_to(installed.parent)
    own = PROJECT / "src" / "softswitch" / "c"
    for kind in ("*.c", "*.h"):
        sources = {path.relative_to(own) for path in own.rglob(kind)}
        assert {path.relative_to(folder) for path in folder.rglob(kind)} == sources != set()


@contextmanager
def _simple_switch(programs: Path, folder: Path, *words: str) -> Iterator[tuple[list[socket.socket], IO[str]]]:
    """Run the installed simple_switch in a folder. Yield its ports 1 and 2, and its output."""
    shutil.copy(PROGRAMS / "basic.json", folder)
    with ExitStack() as stack:
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in (1, 2)]
        outer, inner = ([stack.enter_context(end) for end in ends] for ends in zip(*pairs, strict=True))
        interfaces = [word for port, end in enumerate(inner, start=1) for word in ("-i", f"{port}@fd:{end.fileno()}")]
        switch = subprocess.Popen(
            [*OUTSIDE_THE_TREE, programs / "simple_switch", *interfaces, *words, "basic.json"],
            cwd=folder,
            env={**os.environ, "TMPDIR": "/tmp"},  # the name of a socket must be short
            pass_fds=[end.fileno() for end in inner],
            stdout=subprocess.PIPE,
            text=True,
        )
        stack.enter_context(switch)
        stack.callback(switch.terminate)
        for end in outer:
            end.settimeout(PATIENCE_S)
        assert switch.stdout is not None
        yield outer, switch.stdout


def test_simple_switch_forwards(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "commands").write_text(ROUTE)
    with _simple_switch(installed, tmp_path, "--commands", "commands") as (ports, _):
        ports[0].send(FRAME)
        assert ports[1].recv(1 << 16)[:6] == bytes.fromhex("020000000009")


def test_thrift_server_starts(installed: Path, tmp_path: Path) -> None:
    """The server is a second Python process, which finds the installed package too."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    with _simple_switch(installed, tmp_path, "--thrift-port", str(port)) as (_, output):
        assert {output.readline(), output.readline()} == {"ready\n", f"ready {port}\n"}
        socket.create_connection(("127.0.0.1", port), PATIENCE_S).close()


def test_simple_switch_grpc_forwards_as_its_controller_says(installed: Path) -> None:
    names = Names("controlled")
    with (
        served(command=[installed / "simple_switch_grpc"], inside=OUTSIDE_THE_TREE) as server,
        connected(server.address, "controlled") as client,
    ):
        client.insert(table_entry=names.entry("In.exact_match", [exact(1)], names.action("In.forward", 2)))
        assert arrives(server, 2, EXACT, 1)


def test_packet_tests_run(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "test.stf").write_text(TEST)
    assert _output(tmp_path, installed / "softswitch-stf", PROGRAMS / "basic.json", "test.stf") == ""


def test_engine_runs_in_python(installed: Path, tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from softswitch.build import build_library
from softswitch.engine import SwitchEngine
with SwitchEngine(build_library(Path({str(PROGRAMS / "basic.json")!r}))) as switch:
    switch.command({ROUTE.strip()!r})
    print(*(port for port, _, _ in switch.step(1, {FRAME!r}, 0)))
"""
    assert _output(tmp_path, installed / "python", "-c", code) == "2\n"
