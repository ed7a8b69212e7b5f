# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Measurements of a calibration: short live runs of two messages, and processes that sleep or compute.

The messages cross a small Clos. In each run one agent serves all senders and another one all receivers where there are
two agents, so that the mean of an agent is the mean of both ends.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.results.counters import Lateness, Spacing
from scenarios.files.flow_file import format_flows
from scenarios.model.flow import FlowRequest
from testbed.calibration.processor_time import Watch
from testbed.errors import RunError, UsageError
from testbed.execution import capabilities
from testbed.execution.room import build_programs
from testbed.interrupt import Interrupt
from testbed.live.run import run_live
from testbed.load.stored import ProcessFinding, WakeupFinding
from testbed.plan.plan import RunPlan, RunRequest, plan_run
from testbed.recording.recorder import Recorder
from testbed.system.code import ROOT
from testbed.system.limits import cores

_PROCESS_SECONDS = 60.0
_PAYLOAD_BYTES = 1_000
PACKET_NS = 100
"""A little more than a packet takes at 100 Gb/s."""
_TOPOLOGY = ("topology.tors=2", "topology.spines=1", "topology.hosts_per_tor=2")
_PAIRS = (("h1", "h4"), ("h3", "h2"))
PROCESSES = 5
"""Agents and switches of such a run that share its work, where there are two agents."""


@dataclass(frozen=True, slots=True)
class Pace:
    """A dilation, and the number of packets of each sender."""

    dilation: int
    packets: int
    is_short: bool = False
    """Whether each packet is a message of its own, and starts a packet's time after the one before."""


@dataclass(frozen=True, slots=True)
class Load:
    """The load of one process."""

    rate: float
    """Frames per second."""
    share: float
    """Share of a core."""

    @property
    def frame_ns(self) -> float:
        """Processor time of a frame."""
        return self.share / self.rate * 1e9


@dataclass(frozen=True, slots=True)
class Measurement:
    """Means of one run."""

    agent: Load
    switch: Load
    runner_ns: int
    watched_ns: int
    """Wall time during which the processor time was watched."""
    message_ends: int
    agents: int
    seconds: float
    lateness: Mapping[str, WakeupFinding]
    """Lateness of the frames of agents and of switches, errors of their spacing included."""

    @property
    def runner_share(self) -> float:
        """Share of a core that the runner took."""
        return self.runner_ns / self.watched_ns


def is_available(switch: str) -> bool:
    """Whether the target can run here. UsageError if softswitch cannot."""
    try:
        capabilities.require("real", switch)
    except UsageError:
        if switch == "soft":
            raise
        return False
    return True


def measured_run(switch: str, scheme: str, pace: Pace, interrupt: Interrupt) -> Measurement:
    """Run once. RunError if the run breaks or does not finish; KeyboardInterrupt when it is interrupted."""
    with tempfile.TemporaryDirectory(prefix="sfc-testbed-") as folder:
        measurement = _run(_plan(switch, scheme, pace, Path(folder)), Path(folder), interrupt)
    interrupt.stop_if_requested()
    return measurement


def _plan(switch: str, scheme: str, pace: Pace, folder: Path) -> RunPlan:
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


def _messages(pace: Pace) -> list[FlowRequest]:
    """Return the messages in the order of their starts."""
    if not pace.is_short:
        return [FlowRequest(src, dst, pace.packets * _PAYLOAD_BYTES, 0, "messages") for src, dst in _PAIRS]
    starts_ns = (number * PACKET_NS for number in range(pace.packets))
    return [FlowRequest(src, dst, _PAYLOAD_BYTES, at_ns, "messages") for at_ns in starts_ns for src, dst in _PAIRS]


def _run(plan: RunPlan, folder: Path, interrupt: Interrupt) -> Measurement:
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
    return Measurement(
        agent=Load(frames / taken.agents / seconds, taken.agents_ns / 1e9 / taken.agents / seconds),
        switch=Load(frames / seconds, taken.switches_ns / 1e9 / switches / seconds),
        runner_ns=taken.runner_ns,
        watched_ns=taken.at_ns,
        message_ends=2 * len(plan.flows),
        agents=taken.agents,
        seconds=seconds,
        lateness={
            "agent": _lateness(counters.host_lateness, counters.host_spacing),
            "switch": _lateness(counters.switch_lateness, counters.switch_spacing),
        },
    )


def _lateness(lateness: Lateness | None, spacing: Spacing | None) -> WakeupFinding:
    """Return the greater of both, since a verdict limits both."""
    measured = [each for each in (lateness, spacing) if each is not None]
    if not measured:
        raise RunError("the calibration's run sent no frame")
    return WakeupFinding(
        p50_ns=max(each.p50_ns for each in measured),
        p99_ns=max(each.p99_ns for each in measured),
        max_ns=max(each.max_ns for each in measured),
    )


def process_finding(lone: Sequence[Load], many: Sequence[Load]) -> ProcessFinding:
    """Return the line through two loads: its slope is the cost of a frame among many, its height the cost of waking."""
    slow, fast = _median(lone), _median(many)
    frame = (fast.share - slow.share) / (fast.rate - slow.rate)
    fixed = slow.share - frame * slow.rate
    if frame <= 0 or fixed < 0:  # the cost of waking does not show
        frame, fixed = fast.share / fast.rate, 0.0
    frames_ns = [load.frame_ns for load in many]
    return ProcessFinding(
        frame_ns=frame * 1e9,
        lone_frame_ns=max(slow.frame_ns, frame * 1e9),
        fixed_share=fixed,
        spread=(max(frames_ns) - min(frames_ns)) / statistics.median(frames_ns),
    )


def _median(loads: Sequence[Load]) -> Load:
    return Load(statistics.median(load.rate for load in loads), statistics.median(load.share for load in loads))


def wakeup_finding(kind: str) -> WakeupFinding:
    """Return by how much a sleeping process of this kind wakes too late (`testbed.calibration.sleeper`). RunError."""
    [late_ns] = _answers(["testbed.calibration.sleeper", kind], 1)
    late_ns = sorted(late_ns)
    return WakeupFinding(
        p50_ns=float(late_ns[len(late_ns) // 2]),
        p99_ns=float(late_ns[int(0.99 * len(late_ns))]),
        max_ns=float(late_ns[-1]),
    )


def measured_capacity(seconds: float = 0.8) -> float:
    """Return the processor time that processes get together, in cores, while one a core computes. RunError."""
    answers = _answers(["testbed.calibration.spinner", str(seconds)], cores())
    shortest_ns = min(answer["shortest_ns"] for answer in answers)
    worked_ns = sum(answer["rounds"] for answer in answers) * shortest_ns
    return min(float(cores()), float(worked_ns / (seconds * 1e9)))


def _answers(module: Sequence[str], count: int) -> list[Any]:
    """Start `count` processes of a module at once and return the JSON that each prints."""
    command = [sys.executable, "-m", *module]
    processes = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    try:
        return [json.loads(process.communicate(timeout=_PROCESS_SECONDS)[0]) for process in processes]
    except (subprocess.SubprocessError, ValueError) as error:
        raise RunError(f"{module[0]} could not be measured: {error}") from error
    finally:
        for process in processes:
            process.kill()
            process.wait()
