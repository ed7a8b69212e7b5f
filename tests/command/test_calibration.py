# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What the terminal says of a calibration and of a dilation."""

from __future__ import annotations

import os

import pytest

from command.app import main
from command.dilation import dilation_line
from command.output import console
from command.verbs import doctor
from testbed.execution.capabilities import Capability
from testbed.load.costs import built_in
from testbed.load.stored import calibration_path, store
from testbed.plan.plan import RunRequest, plan_run
from testbed.system.limits import cores
from tests.testbed.load.test_stored import calibration


@pytest.fixture(autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def _doctor(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["doctor"]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("width", [80, 60])
def test_doctor_shows_every_word_of_what_is_missing(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Square brackets of a package among them, and of what is needed for it."""
    said = "no module mpi4py; .venv/bin/pip install '.[mpi]' brings it"
    monkeypatch.setattr(doctor, "CAPABILITIES", [Capability("MPI", "a run on --exchange [mpi]", lambda: said)])
    monkeypatch.setattr(console, "width", width)
    store(calibration())
    shown = _doctor(capsys)
    assert "…" not in shown
    for word in (*said.split(), "[mpi]", *["agent", "15.0", "45.0", "10", "%", "6.0", "20.0", "3.0", "0"]):
        assert word in shown, word


def test_doctor_says_that_nobody_has_calibrated(capsys: pytest.CaptureFixture[str]) -> None:
    """And which command does."""
    said = _doctor(capsys)
    assert "This machine is not calibrated: --dilation auto reckons with numbers that are meant to be too much" in said
    assert "sudo ./runner.py doctor --calibrate" in said


def test_doctor_shows_what_is_stored(capsys: pytest.CaptureFixture[str]) -> None:
    """Each figure, when it was measured, and that it counts."""
    store(calibration())
    said = _doctor(capsys)
    assert "agent (packet end) 15.0 us 45.0 us 2.0 % of a core 10 %" in said
    assert "switch (soft) 6.0 us 20.0 us 3.0 % of a core 0 %" in said
    assert "late wake-ups of an agent: P50 50 us, P99 200 us, max 400 us" in said
    assert f"Measured 2026-11-22 12:00 UTC on {cores()} cores" in said
    assert "It counts for --dilation auto" in said


def test_doctor_says_why_what_is_stored_does_not_count(capsys: pytest.CaptureFixture[str]) -> None:
    """In the line that says what counts instead."""
    store(calibration().model_copy(update={"code": "another"}))
    said = _doctor(capsys)
    assert f"not calibrated: {calibration_path()} is of other code of hosts and switches. So --dilation auto" in said


def test_force_alone_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """It says what it goes with."""
    assert main(["doctor", "--force"]) == 2
    assert "--force goes with --calibrate" in capsys.readouterr().err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may")
def test_without_root_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """One line."""
    assert main(["doctor", "--calibrate"]) == 2
    assert "not root" in capsys.readouterr().err


def test_the_line_before_a_live_run_says_why() -> None:
    """Factor, load, lateness, and how that is known; of one that will not do, which would."""
    config = plan_run(RunRequest("incast")).config
    choice = config.dilation_choice
    assert choice is not None
    assert dilation_line(config) == (
        f"dilation {config.dilation:,}: predicted peak load {100 * choice.peak_load:.0f} % of {cores()} cores, "
        f"lateness {100 * choice.late_share:.1f} % of base RTT (not calibrated; doctor --calibrate measures)"
    )
    assert str(dilation_line(plan_run(RunRequest("incast", dilation=500)).config)).endswith(
        f"; {config.dilation:,} would do"
    )
    assert dilation_line(plan_run(RunRequest("incast", clock="virtual")).config) is None
    store(calibration())
    assert "(calibrated 2026-11-22)" in str(dilation_line(plan_run(RunRequest("incast")).config))


def test_what_was_measured_decides_the_dilation() -> None:
    """A machine that carries more than was assumed runs faster."""
    before = plan_run(RunRequest("incast")).config.dilation
    assert calibration().agent.frame_ns < built_in(cores()).agent.frame_ns
    store(calibration())
    assert plan_run(RunRequest("incast")).config.dilation < before
