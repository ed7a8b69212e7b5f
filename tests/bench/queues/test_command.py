# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of `python -m bench.queues`: refusals. test_live.py measures, with our own programs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bench.queues import __main__ as command
from bench.queues.exercises import EXERCISES


def refusal(capsys: pytest.CaptureFixture[str], *words: str | Path) -> str:
    """Return the one line with which the command refuses these words."""
    assert command.main([str(word) for word in words]) == 2
    [line] = capsys.readouterr().err.splitlines()
    return line


def test_missing_clone_of_the_tutorials_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(command.VARIABLE, raising=False)
    assert "--tutorials or SFC_TESTBED_P4_TUTORIALS" in refusal(capsys)
    line = refusal(capsys, "--tutorials", tmp_path)
    assert line == (
        f"bench.queues: {tmp_path}/exercises/mri/solution/mri.p4 not found; "
        f"{tmp_path} must be a clone of github.com/p4lang/tutorials"
    )


def test_missing_privilege_or_switch_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for exercise in EXERCISES.values():
        exercise.program(tmp_path).parent.mkdir(parents=True)
        exercise.program(tmp_path).touch()
    line = refusal(capsys, "--tutorials", tmp_path, "--bmv2", tmp_path / "none")
    reasons = ("--bmv2", "Mininet is not installed") if os.geteuid() == 0 else ("need root",)
    assert any(reason in line for reason in reasons)


def test_rates_that_the_sender_cannot_keep_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["--rates", "100"])
    assert ended.value.code == 2
    assert "not between 0.1 and 20" in capsys.readouterr().err
