# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests with p4runtime-shell and finsy, each installed in a virtual environment of its own."""

import json
import subprocess
import venv
from pathlib import Path
from typing import Any

import pytest

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


def exchange(server: Served) -> dict[str, Any]:
    """Send a frame to each object that the session has configured, and return what leaves the switch."""
    result: dict[str, Any] = {"forwarded": arrives(server, 2, EXACT, 1).key}
    server.send(1, frame(EXACT, 2))
    server.send(1, frame(EXACT, 3))
    result["flooded"] = [request_of(server.receive(port)).color for port in (2, 3)]
    server.send(1, frame(EXACT, 4))
    result["cloned"] = [request_of(server.receive(port)).color for port in (1, 3)]
    result["routed"] = arrives(server, 3, ROUTES, address=5).address
    result["learnt"] = arrives(server, 1, DIGEST, address=6).address
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
    program = [str(PROGRAMS / f"controlled.{suffix}") for suffix in ("p4info.txtpb", "json")]
    with served() as server:
        words: list[str | Path] = [python, SESSIONS / script, server.address, *program]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
            assert session.stdin is not None
            assert session.stdout is not None
            assert session.stdout.readline() == "configured\n"
            results = exchange(server)
            session.stdin.write("\n")
            session.stdin.flush()
            reports = json.loads(session.stdout.readline())
            assert server.receive(2).endswith(b"from the shell" if package == "p4runtime-shell" else b"from finsy")
            assert session.wait() == 0
    assert results == {"forwarded": 1, "flooded": [1, 1], "cloned": [0, 1], "routed": 5, "learnt": 6, "counted": 1}
    assert reports == {
        "entries": 4,
        "packet_in": [frame(EXACT, 2).hex(), numbers["metadata"]],
        "digest": numbers["digest"],
        "counter": 1,
        "direct_counter": 1,
        "meter": 200,
    }
