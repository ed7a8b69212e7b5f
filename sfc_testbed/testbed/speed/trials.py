# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Measurements of a calibration: short live runs of two messages, and processes that sleep or compute.

The messages cross a small Clos network. With two agents, one serves both senders and the other both receivers, so the
mean of the agents is the mean of both ends. The processor time counts between the start of a run and its last flow.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from os_helpers.temporary import temporary_folder
from sfc_testbed.place import TEMPORARY, neutral_folder
from sfc_testbed.request.settings import parse_settings
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.traffic.flow_file import format_flows
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.telemetry.schema import FLOWS
from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.execution.programs import build_programs
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.live.run import run_live
from sfc_testbed.testbed.plan.plan import RunPlan, plan_run
from sfc_testbed.testbed.recording.outcome import Silent
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.speed.costs import ProcessCost, Wakeups
from sfc_testbed.testbed.system.limits import cores
from sfc_testbed.testbed.targets import capabilities

_PROCESS_SECONDS = 60.0
_PAYLOAD_BYTES = 1_000
PACKET_NS = 100
"""Slightly more than the duration of a packet at 100 Gb/s."""
_TOPOLOGY = ("topology.tors=2", "topology.spines=1", "topology.hosts_per_tor=2")
_PAIRS = (("h1", "h4"), ("h3", "h2"))
PROCESSES = 5
"""The number of agents and switches that share the work of such a run, if there are two agents."""

_AGENT = "sfc_testbed.hosts.agent"
_SWITCH = ("--die-with-parent", "simple_switch")


@dataclass(frozen=True, slots=True)
class Trial:
    """A run of a calibration: its dilation, and the number of packets per sender."""

    dilation: int
    packets: int
    is_short: bool = False
    """Whether each packet is its own message, which starts one packet time after the previous one."""


@dataclass(frozen=True, slots=True)
class Load:
    """The load of a process."""

    rate: float
    """Frames per second."""
    share: float
    """The used share of a core."""

    @property
    def frame_ns(self) -> float:
        """The processor time per frame."""
        return self.share / self.rate * 1e9


@dataclass(frozen=True, slots=True)
class Measurement:
    """Mean values of one run."""

    agent: Load
    switch: Load
    runner_ns: int
    watched_ns: int
    """The wall time of the measurement of processor time."""
    message_ends: int
    agents: int
    seconds: float

    @property
    def runner_share(self) -> float:
        """The share of a core that the runner used."""
        return self.runner_ns / self.watched_ns


def is_available(switch: str) -> bool:
    """Return whether the target can run here. Raises UsageError if softswitch cannot."""
    try:
        capabilities.require("real", switch)
    except UsageError:
        if switch == "soft":
            raise
        return False
    return True


def measured_run(switch: str, scheme: str, trial: Trial, interrupt: Interrupt) -> Measurement:
    """Execute one run. Raises RunError if it fails or does not finish, KeyboardInterrupt if interrupted."""
    with temporary_folder(TEMPORARY) as folder:
        measurement = _run(_plan(switch, scheme, trial, folder), folder, interrupt)
    interrupt.stop_if_requested()
    return measurement


def _plan(switch: str, scheme: str, trial: Trial, folder: Path) -> RunPlan:
    flows = folder / "calibration.csv"
    flows.write_text(format_flows(_messages(trial), None))
    request = RunSpec(
        "incast",
        scheme=scheme,
        switch=switch,
        dilation=trial.dilation,
        duration_ms=1_000,
        topology="clos",
        settings=parse_settings(_TOPOLOGY),
        flow_file=flows,
    )
    plan = plan_run(request)
    build_programs([plan])
    return plan


def _messages(trial: Trial) -> list[FlowRequest]:
    """Return the messages in the order of their start times."""
    if not trial.is_short:
        return [FlowRequest(src, dst, trial.packets * _PAYLOAD_BYTES, 0, "messages") for src, dst in _PAIRS]
    starts_ns = (number * PACKET_NS for number in range(trial.packets))
    return [FlowRequest(src, dst, _PAYLOAD_BYTES, at_ns, "messages") for at_ns in starts_ns for src, dst in _PAIRS]


def _run(plan: RunPlan, folder: Path, interrupt: Interrupt) -> Measurement:
    (folder / "logs").mkdir()
    recorder = Recorder(plan, folder)
    watch = Watch()
    try:
        with recorder:
            counters = run_live(plan, folder, recorder, watch, interrupt).counters
        if counters.broken:
            raise RunError(f"the calibration's run failed: {counters.broken[0]}")
        interrupt.stop_if_requested()
        finish_us = answer(recorder.traces()[FLOWS.name])["finish_us"].max()
    finally:
        recorder.release()
    if watch.before is None or watch.after is None or not isinstance(finish_us, float):
        raise RunError("the calibration's run did not finish")
    used = watch.after.since(watch.before)
    seconds = plan.dilation.wall_ns(finish_us * 1_000) / 1e9
    frames = counters.packets.sent
    switches = len(plan.topology.switches)
    return Measurement(
        agent=Load(frames / used.agents / seconds, used.agents_ns / 1e9 / used.agents / seconds),
        switch=Load(frames / seconds, used.switches_ns / 1e9 / switches / seconds),
        runner_ns=used.runner_ns,
        watched_ns=used.at_ns,
        message_ends=2 * len(plan.flows),
        agents=used.agents,
        seconds=seconds,
    )


def process_cost(lone: Sequence[Load], many: Sequence[Load]) -> ProcessCost:
    """Fit a line through two loads: its slope is the cost of a frame among many, its height the cost of waking up."""
    slow, fast = _median(lone), _median(many)
    frame = (fast.share - slow.share) / (fast.rate - slow.rate)
    fixed = slow.share - frame * slow.rate
    if frame <= 0 or fixed < 0:  # the cost of waking up cannot be measured
        frame, fixed = fast.share / fast.rate, 0.0
    frames_ns = [load.frame_ns for load in many]
    return ProcessCost(
        frame_ns=frame * 1e9,
        lone_frame_ns=max(slow.frame_ns, frame * 1e9),
        fixed_share=fixed,
        spread=(max(frames_ns) - min(frames_ns)) / statistics.median(frames_ns),
    )


def _median(loads: Sequence[Load]) -> Load:
    return Load(statistics.median(load.rate for load in loads), statistics.median(load.share for load in loads))


def measured_wakeups(kind: str) -> Wakeups:
    """Return how late a sleeping process of this kind wakes up (`testbed.speed.probe`). Raises RunError."""
    [late_ns] = _answers(kind, 1)
    late_ns = sorted(late_ns)
    return Wakeups(
        p50_ns=float(late_ns[len(late_ns) // 2]),
        p99_ns=float(late_ns[int(0.99 * len(late_ns))]),
        max_ns=float(late_ns[-1]),
    )


def measured_capacity(seconds: float = 0.8) -> float:
    """Return the processor time, in cores, that one computing process per core gets in total. Raises RunError.

    The costs of frames are processor time too, so a core that is slow at times counts as a core.
    """
    used_ns = sum(_answers(str(seconds), cores()))
    return min(float(cores()), float(used_ns / (seconds * 1e9)))


def _answers(word: str, count: int) -> list[Any]:
    """Start `count` processes of `testbed.speed.probe` at once, and return the JSON that each prints."""
    command = [sys.executable, "-m", "sfc_testbed.testbed.speed.probe", word]
    processes = [
        subprocess.Popen(command, cwd=neutral_folder(), stdout=subprocess.PIPE, text=True) for _ in range(count)
    ]
    try:
        return [json.loads(process.communicate(timeout=_PROCESS_SECONDS)[0]) for process in processes]
    except (subprocess.SubprocessError, ValueError) as error:
        raise RunError(f"sfc_testbed.testbed.speed.probe {word} could not be measured: {error}") from error
    finally:
        for process in processes:
            process.kill()
            process.wait()


@dataclass(frozen=True, slots=True)
class ProcessorTime:
    """Processor time since the start of each process, summed by kind of process, and the time of the reading."""

    at_ns: int
    agents_ns: int
    agents: int
    switches_ns: int
    """The time of switches and of other processes that forward frames, such as wires that add delays."""
    runner_ns: int

    def since(self, before: ProcessorTime) -> ProcessorTime:
        """Return the processor time between two readings; `at_ns` becomes the wall time between them."""
        return ProcessorTime(
            self.at_ns - before.at_ns,
            self.agents_ns - before.agents_ns,
            self.agents,
            self.switches_ns - before.switches_ns,
            self.runner_ns - before.runner_ns,
        )


class Watch(Silent):
    """Progress that reads the processor time when all hosts are up and when all flows are done."""

    def __init__(self) -> None:
        self.before: ProcessorTime | None = None
        self.after: ProcessorTime | None = None

    def hosts_up(self, count: int, total: int) -> None:
        if count == total:
            self.before = processor_time()

    def flows_done(self, count: int, total: int) -> None:
        if count == total and self.after is None:
            self.after = processor_time()


def processor_time() -> ProcessorTime:
    """Return the processor time of this process and its children so far."""
    agents, switches = [], []
    for child in psutil.Process().children(recursive=True):
        try:
            words = child.cmdline()
            if _AGENT in words:
                agents.append(_of(child))
            elif any(mark in word for word in words for mark in _SWITCH):
                switches.append(_of(child))
        except psutil.NoSuchProcess:
            continue
    return ProcessorTime(time.monotonic_ns(), sum(agents), len(agents), sum(switches), _of(psutil.Process()))


def _of(process: psutil.Process) -> int:
    """Return a process's time in ns, from the scheduler's statistics, or else from ticks of 10 ms."""
    try:
        tasks = list(Path(f"/proc/{process.pid}/task").iterdir())
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks)
    except (OSError, IndexError, ValueError):
        times = process.cpu_times()
        ticks_ns: int = round((times.user + times.system) * 1e9)
        return ticks_ns


def busy_cores(seconds: float) -> float:
    """Return how many cores the machine keeps busy while this process sleeps for some seconds."""
    share: float = psutil.cpu_percent(interval=seconds)
    return share / 100 * (os.cpu_count() or 1)
