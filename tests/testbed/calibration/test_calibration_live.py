# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calibrating on this machine: what is measured, not how much it is."""

from __future__ import annotations

import pytest

from testbed.calibration.sleeper import KINDS
from testbed.errors import UsageError
from testbed.interrupt import Interrupt
from testbed.load.stored import known, store
from testbed.system.limits import cores

pytest.importorskip("mininet")

from testbed.calibration import exact, quick
from testbed.calibration.runs import Pace, measured_capacity

pytestmark = pytest.mark.root


def test_what_is_measured_counts_for_the_next_plan(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Agents, softswitch and sleepers are measured, and a file of it is taken for this machine's."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.setattr(exact, "_BENCHES", {"soft": exact._Bench(Pace(30_000, 40), Pace(4_000, 300), 1)})
    monkeypatch.setattr(exact, "_SHORT_MESSAGES", Pace(15_000, 100, is_short=True))
    steps: list[str] = []
    found = exact.measured(0.5, Interrupt(), steps.append)
    assert [step.partition(":")[0] for step in steps] == [
        "soft, irn, dilation 30,000",
        "soft, irn, dilation 4,000",
        *["soft, irn+hpcc, dilation 4,000"] * 2,
        *["soft, irn, dilation 15,000, short messages"] * 2,
    ]
    assert set(found.switches) == {"soft"}
    assert set(found.wakeups) == set(KINDS)
    assert found.message.agent_ns > 0
    for finding in (found.agent, *found.switches.values()):
        assert 0 < finding.frame_ns <= finding.lone_frame_ns
    store(found)
    assert known().problem is None
    assert known().calibration == found


def test_a_busy_machine_is_not_measured_unless_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line says how busy it was."""
    monkeypatch.setattr(exact, "busy_cores", lambda seconds: 1.25)
    with pytest.raises(UsageError, match=r"other processes take 1\.25 of its \d+ cores"):
        exact.check_idle(is_forced=False)
    assert exact.check_idle(is_forced=True) == 1.25


def test_an_interrupt_ends_it() -> None:
    """Nothing is returned that could be stored."""
    interrupt = Interrupt()
    interrupt.request(2, None)
    with pytest.raises(KeyboardInterrupt):
        exact.measured(0.0, interrupt, lambda step: None)


def test_a_quick_calibration_counts_and_takes_another_target_up(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pytest.TempPathFactory
) -> None:
    """The figures of agents stay when a target is added."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setattr(quick, "_LONE", Pace(30_000, 40))
    monkeypatch.setattr(quick, "_MANY_SECONDS", 0.1)
    first = quick.quick_calibration("soft", Interrupt())
    assert first.is_quick
    assert set(first.switches) == {"soft"}
    assert 0 < first.capacity_cores <= cores()
    assert 0 < first.agent.frame_ns <= first.agent.lone_frame_ns
    assert first.wakeups["agent"].p99_ns > 0
    store(first)
    assert known().calibration is not None
    without = first.model_copy(update={"switches": {"bmv2": first.switches["soft"]}})
    second = quick.quick_calibration("soft", Interrupt(), without)
    assert set(second.switches) == {"soft", "bmv2"}
    assert second.agent == first.agent


def test_processes_get_no_more_than_the_cores_there_are() -> None:
    assert 0 < measured_capacity(0.1) <= cores()
