# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests with p4runtime-shell, finsy and p4net, each installed in a virtual environment of its own."""

import json
import subprocess
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import text_format

from softswitch_tests.p4runtime.controller import Names
from softswitch_tests.p4runtime.frames import ARRAYS, DIGEST, EXACT, ROUTES, arrives, frame, request_of
from softswitch_tests.p4runtime.running import Served, served
from softswitch_tests.pipeline.harness import PROGRAMS

SESSIONS = Path(__file__).with_name("clients")
INSTALL_S = 600


def python_with(package: str, folder: Path) -> Path:
    """Return the interpreter of a new environment with a package. Skip the test if the package cannot be installed."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    words: list[str | Path] = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
    done = subprocess.run(words, capture_output=True, text=True, timeout=INSTALL_S, check=False)
    if done.returncode != 0:
        pytest.skip(f"{package} cannot be installed: {done.stderr.strip().splitlines()[-1]}")
    return python


class Session:
    """A running session of a client."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process

    def line(self) -> str:
        """Return the next line that the session prints."""
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def go_on(self) -> None:
        """Let the session continue after a line that it has printed."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()


@contextmanager
def session(python: Path, script: str, server: Served, p4info: Path) -> Iterator[Session]:
    """Start a session that sets the program `controlled`, and yield it when the session has configured the switch."""
    words: list[str | Path] = [python, SESSIONS / script, server.address, p4info, PROGRAMS / "controlled.json"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        running = Session(process)
        assert running.line() == "configured\n"
        yield running


def exchange(server: Served) -> dict[str, Any]:
    """Send a frame to each object that every session has configured, and return what leaves the switch."""
    result: dict[str, Any] = {"forwarded": arrives(server, 2, EXACT, 1).key}
    server.send(1, frame(EXACT, 2))
    server.send(1, frame(EXACT, 3))
    result["flooded"] = [request_of(server.receive(port)).color for port in (2, 3)]
    result["routed"] = arrives(server, 3, ROUTES, address=5).address
    result["counted"] = arrives(server, 1, ARRAYS, 1).key
    return result


@pytest.mark.long
@pytest.mark.parametrize(
    ("package", "script", "numbers"),
    [
        ("p4runtime-shell", "shell_session.py", {"metadata": ["01", "05"], "digest": ["06", "01"]}),
        ("finsy", "finsy_session.py", {"metadata": [1, 5], "digest": [6, 1]}),
    ],
)
def test_a_session_controls_every_kind_of_object(
    tmp_path: Path, package: str, script: str, numbers: dict[str, Any]
) -> None:
    python = python_with(package, tmp_path / "venv")
    with served() as server, session(python, script, server, PROGRAMS / "controlled.p4info.txtpb") as running:
        results = exchange(server)
        server.send(1, frame(EXACT, 4))
        results["cloned"] = [request_of(server.receive(port)).color for port in (1, 3)]
        results["learnt"] = arrives(server, 1, DIGEST, address=6).address
        running.go_on()
        reports = json.loads(running.line())
        assert server.receive(2).endswith(b"from the shell" if package == "p4runtime-shell" else b"from finsy")
        assert running.process.wait() == 0
    assert results == {"forwarded": 1, "flooded": [1, 1], "cloned": [0, 1], "routed": 5, "learnt": 6, "counted": 1}
    assert reports == {
        "entries": 4,
        "packet_in": [frame(EXACT, 2).hex(), numbers["metadata"]],
        "digest": numbers["digest"],
        "counter": 1,
        "direct_counter": 1,
        "meter": 200,
    }


@pytest.mark.long
def test_p4net_controls_every_kind_of_object_that_it_knows(tmp_path: Path) -> None:
    """p4net 1.8 cannot read a P4Info with structs, and only digests need them."""
    python = python_with("p4net", tmp_path / "venv")
    p4info = Names("controlled").p4info
    p4info.ClearField("digests")
    p4info.ClearField("type_info")
    (tmp_path / "p4info.txtpb").write_text(text_format.MessageToString(p4info))
    with served() as server, session(python, "p4net_session.py", server, tmp_path / "p4info.txtpb") as running:
        results = exchange(server)
        running.go_on()
        reports = json.loads(running.line())
        assert server.receive(2).endswith(b"from p4net")
        running.go_on()
        assert running.process.wait() == 0
    assert results == {"forwarded": 1, "flooded": [1, 1], "routed": 5, "counted": 1}
    assert reports == {
        "entries": 3,
        "groups": {"7": [2, 3]},
        "packet_in": [frame(EXACT, 2).hex(), [1, 5]],
        "counter": 1,
    }


@pytest.mark.long
def test_a_second_finsy_controller_becomes_a_backup(tmp_path: Path) -> None:
    """Both controllers start with finsy's default election id, and the second one tries a lower id when it is used."""
    python = python_with("finsy", tmp_path / "venv")
    with served() as server:
        words: list[str | Path] = [python, SESSIONS / "finsy_backup.py", server.address]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "first True, second False\n"
