# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the command's output about calibrations and dilations."""

from __future__ import annotations

import os

import pytest

from sfc_testbed.cli.app import main
from sfc_testbed.cli.output import console
from sfc_testbed.cli.verbs import doctor
from sfc_testbed.testbed.speed.stored import store
from sfc_testbed.testbed.system.limits import cores
from sfc_testbed.testbed.targets.capabilities import Capability
from tests.testbed.speed.calibrations import calibration

pytest.importorskip("mininet")


@pytest.fixture(autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


def _doctor(capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["doctor"]) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("width", [80, 60])
def test_doctor_shows_missing_capabilities_uncut(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = "no module mpi4py; .venv/bin/pip install '.[mpi]' brings it"
    monkeypatch.setattr(doctor, "CAPABILITIES", [Capability("MPI", "a run on --exchange [mpi]", lambda: missing)])
    monkeypatch.setattr(console, "width", width)
    store(calibration())
    output = _doctor(capsys)
    assert "…" not in output
    for word in (*missing.split(), "[mpi]", *["agent", "15.0", "45.0", "10", "%", "6.0", "20.0", "3.0", "0"]):
        assert word in output, word


def test_doctor_says_that_the_machine_is_not_calibrated(capsys: pytest.CaptureFixture[str]) -> None:
    output = _doctor(capsys)
    assert (
        "This machine is not calibrated: the first live run with --dilation auto measures for some ten seconds"
        in output
    )
    assert "sudo ./runner.py doctor --calibrate" in output


def test_doctor_shows_the_stored_calibration(capsys: pytest.CaptureFixture[str]) -> None:
    store(calibration())
    output = _doctor(capsys)
    assert "agent (packet end) 15.0 us 45.0 us 2.0 % of a core 10 %" in output
    assert "switch (soft) 6.0 us 20.0 us 3.0 % of a core 0 %" in output
    assert "late wake-ups of an agent: P50 50 us, P99 200 us, max 400 us" in output
    assert f"Measured exactly, on 2026-11-22 12:00 UTC on {cores()} cores" in output
    assert "--dilation auto uses this calibration" in output


def test_doctor_says_that_the_code_has_changed_or_why_a_calibration_is_not_used(
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = store(calibration().model_copy(update={"code": "another"}))
    assert "The code of hosts and switches has changed since." in _doctor(capsys)
    path.write_text("{}")
    assert f"not calibrated: {path} is not a calibration of this release" in _doctor(capsys)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may")
def test_without_root_nothing_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--calibrate"]) == 2
    assert "not root" in capsys.readouterr().err


def test_doctor_says_that_the_costs_have_expired(capsys: pytest.CaptureFixture[str]) -> None:
    store(calibration().model_copy(update={"is_quick": True, "load_before": 1.0}))
    assert "The next live run measures again." in _doctor(capsys)
