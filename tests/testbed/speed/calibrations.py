# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Calibrations of this machine for tests."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone

from sfc_testbed.testbed.speed.costs import SWITCH_COSTS, MessageCost, ProcessCost, Wakeups, built_in
from sfc_testbed.testbed.speed.machine import this_machine
from sfc_testbed.testbed.speed.stored import Calibration, costly_code
from sfc_testbed.testbed.system.limits import cores


def calibration() -> Calibration:
    """Return an exact calibration with the figures of a fast machine."""
    late = Wakeups(p50_ns=50_000.0, p99_ns=200_000.0, max_ns=400_000.0)
    return Calibration(
        **asdict(this_machine()),
        measured=datetime(2026, 11, 22, 12, 0, tzinfo=timezone.utc),
        is_quick=False,
        code=costly_code(),
        load_before=0.1,
        capacity_cores=float(cores()),
        agent=ProcessCost(frame_ns=15_000.0, lone_frame_ns=45_000.0, fixed_share=0.02, spread=0.1),
        message=MessageCost(agent_ns=80_000.0, runner_ns=40_000.0),
        switches={"soft": ProcessCost(frame_ns=6_000.0, lone_frame_ns=20_000.0, fixed_share=0.03)},
        telemetry_agent=1.2,
        telemetry_switch=1.1,
        runner_share=0.03,
        wakeups={"agent": late, "switch": late},
    )


def built_in_calibration() -> Calibration:
    """Return a calibration with the built-in costs."""
    costs = built_in(cores()).model_copy(update={"switches": SWITCH_COSTS})
    return calibration().model_copy(update={**dict(costs), "capacity_cores": calibration().capacity_cores})
