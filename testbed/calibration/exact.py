# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The exact calibration, `doctor --calibrate`, which takes about a minute.

Each cost is a median over repeated runs. Each target runs at two dilations, which separates the cost of a frame from
the cost of waking up. softswitch has extra runs with telemetry. Its runs with messages of one packet give the cost of a
message.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timezone

import numpy as np

from testbed.calibration.probe import KINDS
from testbed.calibration.processor_time import busy_cores
from testbed.calibration.runs import (
    Load,
    Measurement,
    Trial,
    is_available,
    measured_capacity,
    measured_run,
    measured_wakeups,
    process_cost,
)
from testbed.dilation.prediction import share_of_core
from testbed.errors import UsageError
from testbed.interrupt import Interrupt
from testbed.load.costs import MessageCost, ProcessCost
from testbed.load.machine import this_machine
from testbed.load.stored import MOST_BUSY_CORES, Calibration, costly_code
from testbed.system.limits import cores

_WATCH_SECONDS = 1.0
_TIMES_WITH_TELEMETRY = 2
_TIMES_WITH_SHORT_MESSAGES = 2
PLAIN, _TELEMETRY = "irn", "irn+hpcc"

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
