# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The trials that a quick calibration chooses, on simulated machines with a given processor time per frame."""

from __future__ import annotations

import pytest

from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.speed.costs import Wakeups

pytest.importorskip("mininet")

from sfc_testbed.testbed.speed import measurement
from sfc_testbed.testbed.speed.trials import PACKET_NS, Load, Measurement, Trial

LATE = Wakeups(p50_ns=1e5, p99_ns=2e5, max_ns=3e5)


def _trials(frame_ns: float, capacity_cores: float, monkeypatch: pytest.MonkeyPatch) -> list[Trial]:
    """Return the trials of the runs on a machine where every frame costs `frame_ns`."""
    trials = []

    def measured_run(switch: str, scheme: str, trial: Trial, interrupt: Interrupt) -> Measurement:
        trials.append(trial)
        rate = 2e9 / (PACKET_NS * trial.dilation)
        load = Load(rate, min(1.0, rate * frame_ns / 1e9))
        return Measurement(load, load, 10**7, 10**9, 4, 2, 1.0)

    monkeypatch.setattr(measurement, "measured_run", measured_run)
    monkeypatch.setattr(measurement, "measured_capacity", lambda: capacity_cores)
    monkeypatch.setattr(measurement, "measured_wakeups", lambda kind: LATE)
    calibration = measurement.quick_calibration("soft", Interrupt())
    assert calibration.runner_share == 0.01
    assert calibration.capacity_cores == capacity_cores
    return trials


def test_a_machine_is_measured_in_two_runs_and_the_second_is_slower_with_less_processor_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lone, many = _trials(60_000, 2.0, monkeypatch)
    _, quarter = _trials(60_000, 0.5, monkeypatch)
    assert quarter.dilation > many.dilation
    assert lone == measurement._LONE
    assert many.dilation < lone.dilation // 10
    assert many.packets > lone.packets


def test_a_machine_that_lone_frames_keep_busy_is_measured_again_more_slowly(monkeypatch: pytest.MonkeyPatch) -> None:
    """The frames of an overloaded run wait for each other, so their cost is not the cost of isolated frames."""
    busy, lone, many = _trials(2_700_000, 0.9, monkeypatch)
    assert busy == measurement._LONE
    assert busy.dilation < lone.dilation <= measurement._SLOWEST
    assert measurement._FEWEST_PACKETS <= lone.packets < busy.packets
    assert many.dilation < lone.dilation
