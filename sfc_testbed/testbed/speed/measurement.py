# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The calibrations of this machine.

*Exact*, by `doctor --calibrate`, in about a minute. Each cost is a median over repeated runs. Each target runs at two
dilations, which separates the cost of a frame from the cost of waking up. softswitch has extra runs with telemetry. Its
runs with messages of one packet give the cost of a message.

*Quick*, by the first live run on a machine: two short runs of the run's target. In the first run, frames are isolated.
If they keep the machine busy nevertheless, the run is repeated more slowly. Its cost determines the dilation of the
second run. Wake-ups are measured as in the exact calibration. The costs of messages and telemetry are not measured, but
derived from the cost of a frame by the ratios of the built-in costs.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone

import numpy as np

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.speed.costs import MessageCost, ProcessCost, built_in
from sfc_testbed.testbed.speed.dilation import share_of_core
from sfc_testbed.testbed.speed.machine import this_machine
from sfc_testbed.testbed.speed.probe import KINDS
from sfc_testbed.testbed.speed.stored import MOST_BUSY_CORES, Calibration, costly_code
from sfc_testbed.testbed.speed.trials import (
    PACKET_NS,
    PROCESSES,
    Load,
    Measurement,
    Trial,
    busy_cores,
    is_available,
    measured_capacity,
    measured_run,
    measured_wakeups,
    process_cost,
)
from sfc_testbed.testbed.system.limits import cores

_WATCH_SECONDS = 1.0
_TIMES_WITH_TELEMETRY = 2
_TIMES_WITH_SHORT_MESSAGES = 2
PLAIN, _TELEMETRY = "irn", "irn+hpcc"

_QUICK_WATCH_SECONDS = 0.5
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

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Bench:
    """The trials of a target, and the number of runs of each trial."""

    lone: Trial
    many: Trial
    times: int


_BENCHES = {
    "soft": _Bench(Trial(30_000, 500), Trial(1_500, 8_000), 3),
    "bmv2": _Bench(Trial(100_000, 120), Trial(20_000, 600), 2),
}
_SHORT_MESSAGES = Trial(15_000, 1_500, is_short=True)


def check_idle(*, is_forced: bool) -> float:
    """Return how many cores other processes keep busy. Raises UsageError if they are too many, unless forced."""
    busy = busy_cores(_WATCH_SECONDS)
    if busy > MOST_BUSY_CORES and not is_forced:
        raise UsageError(
            f"the machine is busy: other processes take {busy:.2f} of its {cores()} cores, which distorts the "
            "measurement; wait until it is idle, or add --force"
        )
    return busy


def measured(load_before: float, interrupt: Interrupt, tell: Tell) -> Calibration:
    """Run the calibration, in about a minute. Raises RunError if a run fails, KeyboardInterrupt if interrupted."""
    wakeups = {kind: measured_wakeups(kind) for kind in KINDS}
    capacity_cores = measured_capacity()
    lone, many = {}, {}
    for name, bench in _BENCHES.items():
        if is_available(name):
            lone[name] = _runs(name, PLAIN, bench.lone, bench.times, interrupt, tell)
            many[name] = _runs(name, PLAIN, bench.many, bench.times, interrupt, tell)
    telemetry = _runs("soft", _TELEMETRY, _BENCHES["soft"].many, _TIMES_WITH_TELEMETRY, interrupt, tell)
    plain = many["soft"]
    short = _runs("soft", PLAIN, _SHORT_MESSAGES, _TIMES_WITH_SHORT_MESSAGES, interrupt, tell)
    agent = process_cost([run.agent for run in lone["soft"]], [run.agent for run in plain])
    runner_share = statistics.median(run.runner_share for run in plain)
    return Calibration(
        **asdict(this_machine()),
        measured=datetime.now(tz=timezone.utc).replace(microsecond=0),
        is_quick=False,
        code=costly_code(),
        load_before=round(load_before, 3),
        capacity_cores=capacity_cores,
        agent=agent,
        message=_message(short, agent, runner_share),
        switches={
            name: process_cost([run.switch for run in lone[name]], [run.switch for run in many[name]]) for name in many
        },
        telemetry_agent=_ratio([run.agent for run in telemetry], [run.agent for run in plain]),
        telemetry_switch=_ratio([run.switch for run in telemetry], [run.switch for run in plain]),
        runner_share=runner_share,
        wakeups=wakeups,
    )


def _runs(switch: str, scheme: str, trial: Trial, times: int, interrupt: Interrupt, tell: Tell) -> list[Measurement]:
    runs = []
    for number in range(1, times + 1):
        note = ", short messages" if trial.is_short else ""
        tell(f"{switch}, {scheme}, dilation {trial.dilation:,}{note}: {number} of {times}")
        runs.append(measured_run(switch, scheme, trial, interrupt))
    return runs


def _message(runs: Sequence[Measurement], agent: ProcessCost, runner_share: float) -> MessageCost:
    """Return the cost of a message: the time of agents and runner minus the cost of frames and of waking up."""
    agent_ns, runner_ns = [], []
    for run in runs:
        share = run.agent.share - float(share_of_core(agent, np.array(run.agent.rate)))
        agent_ns.append(share * run.seconds * run.agents / run.message_ends * 1e9)
        runner_ns.append((run.runner_ns - runner_share * run.watched_ns) / (run.message_ends / 2))
    return MessageCost(agent_ns=max(0.0, statistics.median(agent_ns)), runner_ns=max(0.0, statistics.median(runner_ns)))


def _ratio(loads: Sequence[Load], reference: Sequence[Load]) -> float:
    """Return the median cost of a frame relative to the cost in `reference`, but at least 1."""
    frame_ns, reference_ns = (statistics.median(load.frame_ns for load in group) for group in (loads, reference))
    return max(1.0, frame_ns / reference_ns)


def quick_calibration(switch: str, interrupt: Interrupt, earlier: Calibration | None = None) -> Calibration:
    """Measure a target in a few seconds. Raises RunError if a run fails, KeyboardInterrupt if interrupted.

    `earlier` is a calibration of this machine without this target; the result keeps its other figures.
    """
    if earlier is not None:
        lone, many = _two_runs(switch, earlier.capacity_cores, interrupt)
        cost = process_cost([lone.switch], [many.switch])
        return earlier.model_copy(update={"switches": {**earlier.switches, switch: cost}})
    load_before = busy_cores(_QUICK_WATCH_SECONDS)
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
    lone = measured_run(switch, PLAIN, trial, interrupt)
    load = _load(lone, capacity_cores)
    if load > _MOST_LONE_LOAD:  # frames wait for each other, so they are not isolated
        slower = min(_SLOWEST, round(trial.dilation * load / _MOST_LONE_LOAD * 2))
        trial = Trial(slower, max(_FEWEST_PACKETS, trial.packets * trial.dilation // slower))
        lone = measured_run(switch, PLAIN, trial, interrupt)
        load = _load(lone, capacity_cores)
    dilation = round(trial.dilation * load / _LONE_OVER_MANY / _LOAD)
    dilation = min(trial.dilation // 2, max(_FASTEST[switch], dilation))
    packets = round(_MANY_SECONDS * 1e9 / (PACKET_NS * dilation))
    return lone, measured_run(switch, PLAIN, Trial(dilation, max(_FEWEST_PACKETS, packets)), interrupt)


def _load(run: Measurement, capacity_cores: float) -> float:
    """Return the load of the machine or of the busiest process, whichever is greater; 1 is full load."""
    machine_share = (2 * run.agent.share + (PROCESSES - 2) * run.switch.share) / capacity_cores
    return max(run.agent.share, run.switch.share, machine_share)
