# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""tools/fresh.sh without building a root: its syntax, refused arguments, and the clean-up after a kill."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.appearing import await_file, comes_true, found

TOOLS = Path(__file__).resolve().parent.parent / "tools"


@pytest.mark.parametrize("script", sorted(TOOLS.glob("*.sh")), ids=lambda path: path.name)
def test_scripts_parse(script: Path) -> None:
    subprocess.run(["bash", "-n", script], check=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "unknown suite ''; choose bookworm, trixie, jammy, noble or resolute"),
        (["sarge"], "unknown suite 'sarge'"),
        (
            ["bookworm", "lunch"],
            "unknown part 'lunch'; choose demo, test, test-without-root, short-test, softswitch, wheel or virtual",
        ),
        (["bookworm", "demo", ""], "unknown part ''"),
    ],
)
def test_unknown_argument_is_refused_before_anything_is_written(
    words: list[str], expected: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [TOOLS / "fresh.sh", *words],
        env={**os.environ, "FRESH_ROOT": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert expected in done.stderr
    assert list(tmp_path.iterdir()) == []


STUBS = {
    "apt-config": "",
    "apt-get": "",
    "id": "echo 0",
    "unshare": 'while [ "${1#-}" != "$1" ] || [ "$1" = private ]; do shift; done; exec "$@"',
}
"""Replacements of commands that let the script run without root and without namespaces."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a checkout whose fresh-root.sh only creates the file `begun` and sleeps, with a mirror in a folder."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    tools = tmp_path / "tree" / "tools"
    for name, script in STUBS.items():
        _write_script(tmp_path / "bin" / name, script)
    _write_script(tools / "provision.sh", "")
    _write_script(tools / "fresh-root.sh", 'touch "$1/begun"; exec sleep 600')
    shutil.copy(TOOLS / "fresh.sh", tools)
    subprocess.run(["git", "init", "--quiet", tools.parent], check=True)
    (tmp_path / "mirror" / "dists" / "bookworm").mkdir(parents=True)
    (tmp_path / "mirror" / "dists" / "bookworm" / "Release").touch()
    (tmp_path / "work").mkdir()
    return tools.parent


def _write_script(path: Path, script: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_leaves_nothing(number: signal.Signals, tree: Path) -> None:
    machine = tree.parent
    environment = {
        **os.environ,
        "SFC_TESTBED_P4_TUTORIALS": "",  # a checkout may not be compiled
        "PATH": f"{machine / 'bin'}:{os.environ['PATH']}",
        "FRESH_ROOT": str(machine / "work"),
        "FRESH_MIRROR": f"file:{machine / 'mirror'}",
        "FRESH_KEYRING": str(machine / "mirror" / "dists" / "bookworm" / "Release"),
    }
    with subprocess.Popen([tree / "tools" / "fresh.sh", "bookworm"], env=environment, stderr=subprocess.PIPE) as run:
        await_file(machine / "work", "*/begun", run)
        run.send_signal(number)
        assert run.wait() != 0
        assert run.stderr is not None
        run.stderr.read()  # returns when the last process that holds the pipe has ended
    assert comes_true(lambda: not found(machine / "work", "*"))
