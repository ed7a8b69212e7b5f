# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of `python -m softswitch`, and of options that depend on privileges."""

import subprocess
import sys
from pathlib import Path

import pytest

from softswitch_tests.pipeline.harness import PROGRAMS
from softswitch_tests.process.running import NotReady, running
from softswitch_tests.programs.steered import steer

L3 = PROGRAMS / "l3.json"


def softswitch(*arguments: str | Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "softswitch", *arguments]
    process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert process.stdout == ""
    return process.returncode, process.stderr


def test_program_is_built_and_becomes_the_switch() -> None:
    """Options after the program belong to the switch, so the switch reports the missing interface."""
    assert softswitch(L3, "-i", "1@no-such-interface") == (2, "softswitch: no interface 'no-such-interface'\n")


STEERING = "\x1b]0;owned\x07\x9b31m\x7f\u202e"


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("softswitch", [f"{STEERING}.json", "-i", "1@lo"]),
        ("softswitch", [L3, "-i", f"1@{STEERING}"]),
        ("softswitch.bmv2_command", [f"{STEERING}.json"]),
        ("softswitch.stf", [L3, f"{STEERING}.stf"]),
        ("softswitch.thrift", ["--control", "/nowhere", "--program", f"{STEERING}.json"]),
    ],
    ids=["program", "interface", "as-bmv2", "stf", "thrift"],
)
def test_names_in_errors_cannot_control_the_terminal(module: str, arguments: list[str | Path]) -> None:
    """Names may come from a program by another author."""
    command = [sys.executable, "-m", module, *arguments]
    process = subprocess.run(command, capture_output=True, timeout=120, check=False)
    [line] = process.stderr.decode().splitlines()
    assert process.returncode == 2
    assert line.isprintable()
    assert "\\x1b]0;owned\\x07" in line


def test_missing_program_prints_usage() -> None:
    status, text = softswitch("-i", "1@lo")
    assert status == 2
    assert text.startswith("usage: ")


def test_realtime_forwards_or_names_the_capability() -> None:
    try:
        with running("--realtime") as switch:
            switch.send(1, steer(2, tag=5))
            assert switch.receive(2)[-1] == 5
            assert switch.stop() == (0, "")
    except NotReady as refused:
        assert "CAP_SYS_NICE" in str(refused)
