# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the calibration before a first live run, and for lines about dilations."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sfc_testbed.api.dilations import calibrate_first, dilation_line, note_dilations
from sfc_testbed.api.reporter import SilentReporter
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.speed.dilation import with_dilation
from sfc_testbed.testbed.speed.stored import Calibration, calibration_path, store, stored_calibration
from sfc_testbed.testbed.system.limits import cores
from tests.testbed.speed.calibrations import calibration

pytest.importorskip("mininet")

from sfc_testbed.testbed.speed import measurement


@pytest.fixture(autouse=True)
def _own_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


class Lines(SilentReporter):
    """A reporter that keeps the lines of text."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, line: str, style: str = "") -> None:
        self.lines.append(line)


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


def test_the_first_live_run_measures_and_the_second_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "quick_calibration", lambda switch, interrupt, earlier: calibration())
    plan = _live_plan()
    reporter = Lines()
    calibrate_first([plan], reporter)
    assert "first live run on this machine: measuring" in reporter.lines[0]
    calibrate_first([_live_plan()], reporter)
    assert len(reporter.lines) == 1


def test_expired_costs_are_used_until_a_command_measures_again(monkeypatch: pytest.MonkeyPatch) -> None:
    expired = calibration().model_copy(update={"is_quick": True, "load_before": 1.0})
    store(expired)
    assert "(calibrated 2026-11-22, quick)" in str(dilation_line(with_dilation(_live_plan()).config))
    monkeypatch.setattr(measurement, "quick_calibration", lambda switch, interrupt, earlier: calibration())
    reporter = Lines()
    calibrate_first([_live_plan()], reporter)
    assert "the last measurement has expired: measuring" in reporter.lines[0]
    assert stored_calibration().calibration == calibration()


@pytest.mark.parametrize("changes", [{"dilation": 20_000}, {"clock": "virtual"}])
def test_runs_whose_dilation_is_not_chosen_do_not_measure(
    changes: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(measurement, "quick_calibration")
    calibrate_first([_live_plan(**changes)], Lines())


def test_a_measurement_that_fails_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Calibration:
        raise RunError("the calibration's run did not finish")

    monkeypatch.setattr(measurement, "quick_calibration", fail)
    reporter = Lines()
    calibrate_first([_live_plan()], reporter)
    assert "! not measured: the calibration's run did not finish; --dilation auto uses built-in" in reporter.lines[-1]
    assert not calibration_path().exists()


def test_another_target_is_measured_too(monkeypatch: pytest.MonkeyPatch) -> None:
    store(calibration())
    measurements = []

    def measure(switch: str, _: object, earlier: Calibration) -> Calibration:
        measurements.append((switch, earlier))
        return earlier.model_copy(update={"switches": {**earlier.switches, switch: earlier.switches["soft"]}})

    monkeypatch.setattr(measurement, "quick_calibration", measure)
    plan = _live_plan()
    calibrate_first([plan, replace(plan, config=replace(plan.config, switch="bmv2"))], Lines())
    assert measurements == [("bmv2", calibration())]


def test_lines_about_live_runs_name_their_seeds() -> None:
    reporter = Lines()
    note_dilations([with_dilation(plan_run(RunSpec("incast", seed=seed))) for seed in (3, 4)], reporter)
    names = [line.partition(": ")[0] for line in reporter.lines]
    assert [name.rpartition(", ")[2] for name in names] == ["seed 3", "seed 4"]
