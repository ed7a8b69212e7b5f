# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the command's output about calibrations and dilations."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from sfc_testbed.cli.app import main
from sfc_testbed.cli.calibration import calibrate_first, dilation_line
from sfc_testbed.cli.output import console
from sfc_testbed.cli.verbs import doctor
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.speed.dilation import with_dilation
from sfc_testbed.testbed.speed.stored import Calibration, calibration_path, store, stored_calibration
from sfc_testbed.testbed.system.limits import cores
from sfc_testbed.testbed.targets.capabilities import Capability
from tests.testbed.speed.calibrations import calibration

pytest.importorskip("mininet")

from sfc_testbed.testbed.speed import measurement


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


def test_the_line_before_a_live_run_explains_its_dilation() -> None:
    config = with_dilation(plan_run(RunSpec("incast"))).config
    choice = config.dilation_choice
    assert choice is not None
    assert dilation_line(config) == (
        f"dilation {config.dilation:,}: predicted peak load {100 * choice.peak_load:.0f} % of {cores()} cores, "
        f"lateness {100 * choice.late_share:.1f} % of base RTT (not calibrated; doctor --calibrate measures)"
    )
    assert str(dilation_line(with_dilation(plan_run(RunSpec("incast", dilation=500))).config)).endswith(
        f"; {config.dilation:,} would do"
    )
    assert dilation_line(plan_run(RunSpec("incast", clock="virtual")).config) is None
    store(calibration())
    assert "(calibrated 2026-11-22)" in str(dilation_line(with_dilation(plan_run(RunSpec("incast"))).config))


def _live_plan(**changes: object) -> RunPlan:
    return plan_run(replace(RunSpec("incast", switch="soft"), **changes))  # type: ignore[arg-type]


def test_the_first_live_run_measures_and_the_second_does_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(measurement, "quick_calibration", lambda switch, interrupt, earlier: calibration())
    plan = _live_plan()
    calibrate_first([plan])
    assert "first live run on this machine: measuring" in " ".join(capsys.readouterr().err.split())
    calibrate_first([_live_plan()])
    assert capsys.readouterr().err == ""


def test_expired_costs_are_used_until_a_command_measures_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expired = calibration().model_copy(update={"is_quick": True, "load_before": 1.0})
    store(expired)
    assert "The next live run measures again." in _doctor(capsys)
    assert "(calibrated 2026-11-22, quick)" in str(dilation_line(with_dilation(_live_plan()).config))
    monkeypatch.setattr(measurement, "quick_calibration", lambda switch, interrupt, earlier: calibration())
    calibrate_first([_live_plan()])
    assert "the last measurement has expired: measuring" in " ".join(capsys.readouterr().err.split())
    assert stored_calibration().calibration == calibration()


@pytest.mark.parametrize("changes", [{"dilation": 20_000}, {"clock": "virtual"}])
def test_runs_whose_dilation_is_not_chosen_do_not_measure(
    changes: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(measurement, "quick_calibration")
    calibrate_first([_live_plan(**changes)])


def test_a_measurement_that_fails_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> Calibration:
        raise RunError("the calibration's run did not finish")

    monkeypatch.setattr(measurement, "quick_calibration", fail)
    calibrate_first([_live_plan()])
    assert (
        "! not measured: the calibration's run did not finish; --dilation auto uses built-in" in capsys.readouterr().err
    )
    assert not calibration_path().exists()


def test_another_target_is_measured_too(monkeypatch: pytest.MonkeyPatch) -> None:
    store(calibration())
    measurements = []

    def measure(switch: str, _: object, earlier: Calibration) -> Calibration:
        measurements.append((switch, earlier))
        return earlier.model_copy(update={"switches": {**earlier.switches, switch: earlier.switches["soft"]}})

    monkeypatch.setattr(measurement, "quick_calibration", measure)
    plan = _live_plan()
    calibrate_first([plan, replace(plan, config=replace(plan.config, switch="bmv2"))])
    assert measurements == [("bmv2", calibration())]
