# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`python -m softswitch`, and options that depend on privileges."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.softswitch.process.running import NotReady, running
from tests.softswitch.programs.steered import steer

SFC = Path(__file__).resolve().parents[3] / "switch-bmv2" / "artifacts" / "sfc.json"


def softswitch(*arguments: str | Path) -> tuple[int, str]:
    """Exit status and stderr."""
    command = [sys.executable, "-m", "softswitch", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == ""
    return done.returncode, done.stderr


def test_program_is_built_and_becomes_the_switch() -> None:
    """The options after the program are the switch's: it is the one that misses the interface."""
    assert softswitch(SFC, "-i", "1@no-such-interface") == (2, "softswitch: no interface 'no-such-interface'\n")


def test_missing_program_is_one_line(tmp_path: Path) -> None:
    """The file is named."""
    status, text = softswitch(tmp_path / "nothing.json", "-i", "1@lo")
    assert status == 2
    assert "nothing.json" in text
    assert text.count("\n") == 1


STEERING = "\x1b]0;owned\x07\x9b31m\x7f\u202e"


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("softswitch", [f"{STEERING}.json", "-i", "1@lo"]),
        ("softswitch", [SFC, "-i", f"1@{STEERING}"]),
        ("softswitch.bmv2_command", [f"{STEERING}.json"]),
        ("softswitch.stf", [SFC, f"{STEERING}.stf"]),
        ("softswitch.thrift", ["--control", "/nowhere", "--program", f"{STEERING}.json"]),
    ],
    ids=["program", "interface", "as-bmv2", "stf", "thrift"],
)
def test_no_name_in_a_refusal_steers_the_terminal(module: str, arguments: list[str | Path]) -> None:
    """The names may come with a program from another author."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, capture_output=True, timeout=120, check=False)
    [line] = done.stderr.decode().splitlines()
    assert done.returncode == 2
    assert line.isprintable()
    assert "\\x1b]0;owned\\x07" in line


def test_usage_comes_without_a_program() -> None:
    """An option cannot be the program."""
    status, text = softswitch("-i", "1@lo")
    assert status == 2
    assert text.startswith("usage: ")


def test_realtime_forwards_or_names_the_capability() -> None:
    """With the privilege it runs; without, the refusal says which one."""
    try:
        with running("--realtime") as switch:
            switch.send(1, steer(2, tag=5))
            assert switch.receive(2)[-1] == 5
            assert switch.stop() == (0, "")
    except NotReady as refused:
        assert "CAP_SYS_NICE" in str(refused)
