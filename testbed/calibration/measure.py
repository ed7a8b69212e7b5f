# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What this machine carries: short live runs of two messages across a small Clos, and processes that sleep.

Each target is run at two dilations, which tell what a frame costs from what waking costs; softswitch once more with
telemetry, and with messages of one packet, which tell what a message costs. Everything is repeated, medians count. In
each run all senders are served by one agent and all receivers by another where there are two, so that an agent's mean
is that of both ends.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from scenarios.files.flow_file import format_flows
from scenarios.model.flow import FlowRequest
from testbed.calibration.processor_time import Watch, busy_cores
from testbed.calibration.sleeper import KINDS
from testbed.errors import RunError, UsageError
from testbed.execution import capabilities
from testbed.execution.room import build_programs
from testbed.interrupt import Interrupt
from testbed.live.run import run_live
from testbed.load.costs import ProcessCost
from testbed.load.prediction import share_of_core
from testbed.load.stored import Calibration, MessageFinding, ProcessFinding, WakeupFinding, costly_code, cpu_model
from testbed.plan.plan import RunPlan, RunRequest, plan_run
from testbed.recording.recorder import Recorder
from testbed.system.code import ROOT
from testbed.system.limits import cores

MOST_BUSY_CORES = 0.25
"""That others may take while this is measured."""
_WATCH_SECONDS = 1.0
_SLEEPER_SECONDS = 60.0
_TIMES_WITH_TELEMETRY = 2
_TIMES_WITH_SHORT_MESSAGES = 2
_PAYLOAD_BYTES = 1_000
_PACKET_NS = 100
"""A little more than such a packet takes at 100 Gb/s."""
_TOPOLOGY = ("topology.tors=2", "topology.spines=1", "topology.hosts_per_tor=2")
_PAIRS = (("h1", "h4"), ("h3", "h2"))
_PLAIN, _TELEMETRY = "irn", "irn+hpcc"

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class _Pace:
    """A dilation, and how many packets each sender sends at it."""

    dilation: int
    packets: int
    is_short: bool = False
    """Whether each packet is a message of its own, and its start a packet's time after the one before."""


@dataclass(frozen=True, slots=True)
class _Bench:
    """How a target is run."""

    lone: _Pace
    many: _Pace
    times: int


_BENCHES = {
    "soft": _Bench(_Pace(30_000, 500), _Pace(1_500, 8_000), 3),
    "bmv2": _Bench(_Pace(100_000, 120), _Pace(20_000, 600), 2),
}


_SHORT_MESSAGES = _Pace(15_000, 1_500, is_short=True)


@dataclass(frozen=True, slots=True)
class _Load:
    """Of one process: frames a second, and the share of a core that they take."""

    rate: float
    share: float

    @property
    def frame_ns(self) -> float:
        return self.share / self.rate * 1e9


@dataclass(frozen=True, slots=True)
class _Taken:
    """Means of one run."""

    agent: _Load
    switch: _Load
    runner_ns: int
    whole_ns: int
    """How long the runner was watched."""
    ends_of_messages: int
    agents: int
    seconds: float

    @property
    def runner_share(self) -> float:
        return self.runner_ns / self.whole_ns


def check_idle(*, is_forced: bool) -> float:
    """Cores that others keep busy. UsageError if they are too many, unless forced."""
    busy = busy_cores(_WATCH_SECONDS)
    if busy > MOST_BUSY_CORES and not is_forced:
        raise UsageError(
            f"the machine is busy: other processes take {busy:.2f} of its {cores()} cores, and would be measured too; "
            "wait until it is idle, or add --force"
        )
    return busy


def measured(load_before: float, interrupt: Interrupt, tell: Tell) -> Calibration:
    """Measures, which takes most of a minute. RunError if a run broke; KeyboardInterrupt when it is interrupted."""
    wakeups = {kind: _wakeups(kind) for kind in KINDS}
    lone, many = {}, {}
    for name, bench in _BENCHES.items():
        if _is_there(name):
            lone[name] = _runs(name, _PLAIN, bench.lone, bench.times, interrupt, tell)
            many[name] = _runs(name, _PLAIN, bench.many, bench.times, interrupt, tell)
    told = _runs("soft", _TELEMETRY, _BENCHES["soft"].many, _TIMES_WITH_TELEMETRY, interrupt, tell)
    plain = many["soft"]
    short = _runs("soft", _PLAIN, _SHORT_MESSAGES, _TIMES_WITH_SHORT_MESSAGES, interrupt, tell)
    agent = _finding([each.agent for each in lone["soft"]], [each.agent for each in plain])
    runner_share = statistics.median(each.runner_share for each in plain)
    return Calibration(
        measured=datetime.now(tz=timezone.utc).replace(microsecond=0),
        cpu_model=cpu_model(),
        cores=cores(),
        code=costly_code(),
        load_before=round(load_before, 3),
        agent=agent,
        message=_message(short, agent, runner_share),
        switches={
            name: _finding([each.switch for each in lone[name]], [each.switch for each in many[name]]) for name in many
        },
        telemetry_agent=_ratio([each.agent for each in told], [each.agent for each in plain]),
        telemetry_switch=_ratio([each.switch for each in told], [each.switch for each in plain]),
        runner_share=runner_share,
        wakeups=wakeups,
    )


def _is_there(switch: str) -> bool:
    """Whether the target can be run and its processes be seen; the first one has to be."""
    try:
        capabilities.require("real", switch)
    except UsageError:
        if switch == "soft":
            raise
        return False
    return True


def _runs(switch: str, scheme: str, pace: _Pace, times: int, interrupt: Interrupt, tell: Tell) -> list[_Taken]:
    found = []
    for number in range(1, times + 1):
        what = ", short messages" if pace.is_short else ""
        tell(f"{switch}, {scheme}, dilation {pace.dilation:,}{what}: {number} of {times}")
        with tempfile.TemporaryDirectory(prefix="sfc-testbed-") as folder:
            found.append(_run(_plan(switch, scheme, pace, Path(folder)), Path(folder), interrupt))
        interrupt.stop_if_requested()
    return found


def _plan(switch: str, scheme: str, pace: _Pace, folder: Path) -> RunPlan:
    flows = folder / "calibration.csv"
    flows.write_text(format_flows(_messages(pace), None))
    request = RunRequest(
        "incast",
        scheme=scheme,
        switch=switch,
        dilation=pace.dilation,
        duration_ms=1_000,
        topology="clos",
        settings=_TOPOLOGY,
        flow_file=flows,
    )
    plan = plan_run(request)
    build_programs([plan])
    return plan


def _messages(pace: _Pace) -> list[FlowRequest]:
    """By start."""
    if not pace.is_short:
        return [FlowRequest(src, dst, pace.packets * _PAYLOAD_BYTES, 0, "messages") for src, dst in _PAIRS]
    starts_ns = (number * _PACKET_NS for number in range(pace.packets))
    return [FlowRequest(src, dst, _PAYLOAD_BYTES, at_ns, "messages") for at_ns in starts_ns for src, dst in _PAIRS]


def _run(plan: RunPlan, folder: Path, interrupt: Interrupt) -> _Taken:
    (folder / "logs").mkdir()
    recorder = Recorder(plan, folder)
    watch = Watch()
    try:
        with recorder:
            counters = run_live(plan, folder, recorder, watch, interrupt).counters
        if counters.broken:
            raise RunError(f"the calibration's run broke: {counters.broken[0]}")
        interrupt.stop_if_requested()
        finish_us = recorder.traces()[0]["finish_us"].max()
    finally:
        recorder.release()
    if watch.before is None or watch.after is None or not isinstance(finish_us, float):
        raise RunError("the calibration's run did not finish")
    taken = watch.after.since(watch.before)
    seconds = plan.dilation.wall_ns(finish_us * 1_000) / 1e9
    frames = counters.packets.sent
    switches = len(plan.topology.switches)
    return _Taken(
        agent=_Load(frames / taken.agents / seconds, taken.agents_ns / 1e9 / taken.agents / seconds),
        switch=_Load(frames / seconds, taken.switches_ns / 1e9 / switches / seconds),
        runner_ns=taken.runner_ns,
        whole_ns=taken.at_ns,
        ends_of_messages=2 * len(plan.flows),
        agents=taken.agents,
        seconds=seconds,
    )


def _finding(lone: Sequence[_Load], many: Sequence[_Load]) -> ProcessFinding:
    """The line through two loads: its slope is the cost of a frame among many, its height that of waking."""
    slow, fast = _median(lone), _median(many)
    frame = (fast.share - slow.share) / (fast.rate - slow.rate)
    fixed = slow.share - frame * slow.rate
    if frame <= 0 or fixed < 0:  # waking does not show
        frame, fixed = fast.share / fast.rate, 0.0
    each_ns = [each.frame_ns for each in many]
    return ProcessFinding(
        frame_ns=frame * 1e9,
        lone_frame_ns=max(slow.frame_ns, frame * 1e9),
        fixed_share=fixed,
        spread=(max(each_ns) - min(each_ns)) / statistics.median(each_ns),
    )


def _message(runs: Sequence[_Taken], agent: ProcessFinding, runner_share: float) -> MessageFinding:
    """What is left of agents' and runner's time when frames and waking are paid."""
    frames = ProcessCost(agent.frame_ns, agent.lone_frame_ns, agent.fixed_share)
    agent_ns, runner_ns = [], []
    for each in runs:
        share = each.agent.share - float(share_of_core(frames, np.array(each.agent.rate)))
        agent_ns.append(share * each.seconds * each.agents / each.ends_of_messages * 1e9)
        runner_ns.append((each.runner_ns - runner_share * each.whole_ns) / (each.ends_of_messages / 2))
    return MessageFinding(
        agent_ns=max(0.0, statistics.median(agent_ns)), runner_ns=max(0.0, statistics.median(runner_ns))
    )


def _median(loads: Sequence[_Load]) -> _Load:
    return _Load(statistics.median(each.rate for each in loads), statistics.median(each.share for each in loads))


def _ratio(those: Sequence[_Load], these: Sequence[_Load]) -> float:
    """How many times as much a frame costs there as here; never less than here."""
    there, here = (statistics.median(each.frame_ns for each in loads) for loads in (those, these))
    return max(1.0, there / here)


def _wakeups(kind: str) -> WakeupFinding:
    command = [sys.executable, "-m", "testbed.calibration.sleeper", kind]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=_SLEEPER_SECONDS)
        late_ns = sorted(json.loads(done.stdout))
    except (subprocess.SubprocessError, ValueError) as error:
        raise RunError(f"how late sleepers wake could not be measured: {error}") from error
    return WakeupFinding(
        p50_ns=float(late_ns[len(late_ns) // 2]),
        p99_ns=float(late_ns[int(0.99 * len(late_ns))]),
        max_ns=float(late_ns[-1]),
    )
