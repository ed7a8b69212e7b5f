# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calibrations of this machine: which figures are measured, but not their values."""

from __future__ import annotations

import pytest

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.speed.probe import KINDS
from sfc_testbed.testbed.speed.stored import store, stored_calibration
from sfc_testbed.testbed.system.limits import cores

pytest.importorskip("mininet")

from sfc_testbed.testbed.speed import measurement
from sfc_testbed.testbed.speed.trials import Trial, measured_capacity

pytestmark = pytest.mark.root


def test_an_exact_calibration_is_used_by_the_next_plan(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setattr(measurement, "_BENCHES", {"soft": measurement._Bench(Trial(30_000, 40), Trial(4_000, 300), 1)})
    monkeypatch.setattr(measurement, "_SHORT_MESSAGES", Trial(15_000, 100, is_short=True))
    steps: list[str] = []
    result = measurement.measured(0.5, Interrupt(), steps.append)
    assert [step.partition(":")[0] for step in steps] == [
        "soft, irn, dilation 30,000",
        "soft, irn, dilation 4,000",
        *["soft, irn+hpcc, dilation 4,000"] * 2,
        *["soft, irn, dilation 15,000, short messages"] * 2,
    ]
    assert set(result.switches) == {"soft"}
    assert set(result.wakeups) == set(KINDS)
    assert result.message.agent_ns > 0
    for finding in (result.agent, *result.switches.values()):
        assert 0 < finding.frame_ns <= finding.lone_frame_ns
    store(result)
    assert stored_calibration().problem is None
    assert stored_calibration().calibration == result


def test_a_busy_machine_is_not_measured_unless_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measurement, "busy_cores", lambda seconds: 1.25)
    with pytest.raises(UsageError, match=r"other processes take 1\.25 of its \d+ cores"):
        measurement.check_idle(is_forced=False)
    assert measurement.check_idle(is_forced=True) == 1.25


def test_an_interrupt_ends_a_calibration() -> None:
    interrupt = Interrupt()
    interrupt.request(2, None)
    with pytest.raises(KeyboardInterrupt):
        measurement.measured(0.0, interrupt, lambda step: None)


def test_a_quick_calibration_is_valid_and_can_add_another_target(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(measurement, "_LONE", Trial(30_000, 40))
    monkeypatch.setattr(measurement, "_MANY_SECONDS", 0.1)
    first = measurement.quick_calibration("soft", Interrupt())
    assert first.is_quick
    assert set(first.switches) == {"soft"}
    assert 0 < first.capacity_cores <= cores()
    assert 0 < first.agent.frame_ns <= first.agent.lone_frame_ns
    assert first.wakeups["agent"].p99_ns > 0
    store(first)
    assert stored_calibration().calibration is not None
    without = first.model_copy(update={"switches": {"bmv2": first.switches["soft"]}})
    second = measurement.quick_calibration("soft", Interrupt(), without)
    assert set(second.switches) == {"soft", "bmv2"}
    assert second.agent == first.agent


def test_processes_get_at_most_the_number_of_cores() -> None:
    assert 0 < measured_capacity(0.1) <= cores()
