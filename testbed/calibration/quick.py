# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The quick calibration, made automatically by the first live run on a machine: two short runs of the run's target.

In the first run, frames are isolated. If they keep the machine busy nevertheless, the run is repeated more slowly. Its
cost determines the dilation of the second run. Wake-ups are measured as in the exact calibration. The costs of
messages and telemetry are not measured, but derived from the cost of a frame by the ratios of the built-in costs.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timezone

from testbed.calibration.probe import KINDS
from testbed.calibration.processor_time import busy_cores
from testbed.calibration.runs import (
    PACKET_NS,
    PROCESSES,
    Measurement,
    Trial,
    measured_capacity,
    measured_run,
    measured_wakeups,
    process_cost,
)
from testbed.interrupt import Interrupt
from testbed.load.costs import MessageCost, built_in
from testbed.load.machine import this_machine
from testbed.load.stored import Calibration, costly_code

_WATCH_SECONDS = 0.5
_SCHEME = "irn"
_LONE = Trial(100_000, 120)
_MANY_SECONDS = 0.8
_FASTEST = {"soft": 1_500, "bmv2": 20_000}
_LONE_OVER_MANY = 4
"""The usual cost of an isolated frame relative to a frame among many; only used to choose the second dilation."""
_LOAD = 0.6
"""The target load of the second run."""
_MOST_LONE_LOAD = 0.3
"""The load of the first run above which the run is repeated more slowly."""
_SLOWEST = 1_000_000
_FEWEST_PACKETS = 40


def quick_calibration(switch: str, interrupt: Interrupt, earlier: Calibration | None = None) -> Calibration:
    """Measure a target in a few seconds. Raises RunError if a run fails, KeyboardInterrupt if interrupted.

    `earlier` is a calibration of this machine without this target; the result keeps its other figures.
    """
    if earlier is not None:
        lone, many = _two_runs(switch, earlier.capacity_cores, interrupt)
        cost = process_cost([lone.switch], [many.switch])
        return earlier.model_copy(update={"switches": {**earlier.switches, switch: cost}})
    load_before = busy_cores(_WATCH_SECONDS)
    capacity_cores = measured_capacity()
    lone, many = _two_runs(switch, capacity_cores, interrupt)
    agent = process_cost([lone.agent], [many.agent])
    usual = built_in(this_machine().cores)
    return Calibration(
        **asdict(this_machine()),
        measured=datetime.now(tz=timezone.utc).replace(microsecond=0),
        is_quick=True,
        code=costly_code(),
        load_before=round(load_before, 3),
        capacity_cores=capacity_cores,
        agent=agent,
        message=MessageCost(
            agent_ns=agent.frame_ns * usual.message.agent_ns / usual.agent.frame_ns,
            runner_ns=agent.frame_ns * usual.message.runner_ns / usual.agent.frame_ns,
        ),
        switches={switch: process_cost([lone.switch], [many.switch])},
        telemetry_agent=usual.telemetry_agent,
        telemetry_switch=usual.telemetry_switch,
        runner_share=lone.runner_share,
        wakeups={kind: measured_wakeups(kind) for kind in KINDS},
    )


def _two_runs(switch: str, capacity_cores: float, interrupt: Interrupt) -> tuple[Measurement, Measurement]:
    """Return the run with isolated frames and the run with many frames."""
    trial = _LONE
    lone = measured_run(switch, _SCHEME, trial, interrupt)
    load = _load(lone, capacity_cores)
    if load > _MOST_LONE_LOAD:  # frames wait for each other, so they are not isolated
        slower = min(_SLOWEST, round(trial.dilation * load / _MOST_LONE_LOAD * 2))
        trial = Trial(slower, max(_FEWEST_PACKETS, trial.packets * trial.dilation // slower))
        lone = measured_run(switch, _SCHEME, trial, interrupt)
        load = _load(lone, capacity_cores)
    dilation = round(trial.dilation * load / _LONE_OVER_MANY / _LOAD)
    dilation = min(trial.dilation // 2, max(_FASTEST[switch], dilation))
    packets = round(_MANY_SECONDS * 1e9 / (PACKET_NS * dilation))
    return lone, measured_run(switch, _SCHEME, Trial(dilation, max(_FEWEST_PACKETS, packets)), interrupt)


def _load(run: Measurement, capacity_cores: float) -> float:
    """Return the load of the machine or of the busiest process, whichever is greater; 1 is full load."""
    machine_share = (2 * run.agent.share + (PROCESSES - 2) * run.switch.share) / capacity_cores
    return max(run.agent.share, run.switch.share, machine_share)
