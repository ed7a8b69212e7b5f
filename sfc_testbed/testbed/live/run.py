# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run on the real clock: Mininet's network, one process per switch, and a few agents for all hosts."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from os_helpers.waiting import readable
from sfc_testbed.analysis.results.counters import RunCounters
from sfc_testbed.hosts.io.summaries import LatenessSummary, SpacingSummary
from sfc_testbed.hosts.protocol import (
    AgentEvent,
    AgentLateness,
    Congestion,
    FlowReceived,
    FlowSent,
    Goodput,
    HostStatistics,
    Late,
    Quiesce,
    Signal,
    Start,
    Stop,
)
from sfc_testbed.hosts.records import SwitchClock
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.control_plane.faults import PlannedCommand, fault_commands, longest_hold_ns
from sfc_testbed.testbed.control_plane.features import suppression_period_us
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.live.agents import AgentProcess, start_agents
from sfc_testbed.testbed.live.background import Iperf3
from sfc_testbed.testbed.live.capture import LiveCaptures
from sfc_testbed.testbed.live.container import host_containers
from sfc_testbed.testbed.live.emulation import Emulation, emulation
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.captures import capture_folder
from sfc_testbed.testbed.recording.counters import run_counters
from sfc_testbed.testbed.recording.outcome import ClockOutcome, Progress
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE, claim_state_directory, new_run_id, remove_state_directory
from sfc_testbed.testbed.targets.common.commands import LINK_SAMPLE_NS
from sfc_testbed.testbed.targets.common.counters import SwitchCounts
from sfc_testbed.testbed.targets.common.statistics import PartStatistics
from sfc_testbed.testbed.targets.common.target import RunningSwitch, Target
from sfc_testbed.testbed.targets.table import TARGETS

# Time from the moment when all are ready to model time 0: agents read the start line and sort their messages meanwhile.
_START_MARGIN_NS = 200_000_000
_START_MARGIN_PER_FLOW_NS = 10_000
_START_MARGIN_PER_FAULT_COMMAND_NS = 500_000
_LONGEST_WAIT_NS = 1_000_000_000
_MOST_INSTANTS = 1_000
_POLL_SECONDS = 0.25
_DRAIN_SECONDS = 5.0
_DRAIN_MODEL_NS = 200_000
_DRAIN_RTTS = 3

_Answer = TypeVar("_Answer")
_Other = TypeVar("_Other")


@dataclass
class LiveNetwork:
    """A network whose switches run. `epoch_ns` is the time on CLOCK_MONOTONIC at which their clocks were at 0."""

    plan: RunPlan
    run_id: str
    logs: Path
    epoch_ns: int
    emulation: Emulation
    target: Target
    switches: Sequence[RunningSwitch]


@contextmanager
def live_network(plan: RunPlan, logs: Path, interrupt: Interrupt | None = None) -> Iterator[LiveNetwork]:
    """Provide Mininet's nodes and a running switch for each; remove everything at the end, also after an error.

    Raises KeyboardInterrupt if it is interrupted before the network is up.
    """
    run_id = new_run_id()
    state = claim_state_directory(run_id)
    os.environ[RUN_VARIABLE] = run_id  # inherited by Mininet's shells
    try:
        target = TARGETS[plan.config.switch](plan, state, logs)
        with (
            host_containers(plan.config.hosts, run_id) as containers,
            emulation(
                plan.topology, target.wires, interrupt, mtu_bytes=plan.mtu_bytes, containers=containers
            ) as network,
        ):
            if containers is not None:
                replace_text(logs / "hosts.json", containers.described())
            epoch_ns = time.monotonic_ns()
            try:
                switches = target.start(network, epoch_ns)
                yield LiveNetwork(plan, run_id, logs, epoch_ns, network, target, switches)
            finally:
                target.stop()
    finally:
        del os.environ[RUN_VARIABLE]
        with suppress(OSError):  # `clean` may have removed the directory
            remove_state_directory(run_id)


def run_live(plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt) -> ClockOutcome:
    """Run the plan until all flows are done, its duration is over, or Ctrl-C; keep the measurements in any case.

    Raises KeyboardInterrupt if it is interrupted before anything is measured, or a second time.
    """
    began_s = time.perf_counter()
    try:
        with live_network(plan, folder / "logs", interrupt) as network:
            return run_on(network, folder, recorder, progress, interrupt, began_s=began_s)
    except RunError as error:  # raised before the hosts could send
        wall_s = time.perf_counter() - began_s
        return ClockOutcome(run_counters([], [], [], interrupted=False, wall_s=wall_s, broken=[_sentence(str(error))]))


def run_on(
    network: LiveNetwork,
    folder: Path,
    recorder: Recorder,
    progress: Progress,
    interrupt: Interrupt,
    *,
    began_s: float,
    programs: bool = False,
) -> ClockOutcome:
    """Run the network's plan on the network; its switches have ended afterwards. `programs`: see `start_agents`."""
    plan, pids = network.plan, network.emulation.host_pids()
    network.emulation.watch_links()
    agents = agents_of(network, plan, programs=programs)
    with ExitStack() as ends:
        for agent in agents:
            ends.callback(agent.stop)
        background = None
        if plan.config.background is not None:
            background = Iperf3(plan, pids, network.run_id, network.logs)
            ends.callback(background.stop)
        pcaps = capture_folder(folder, plan.captured)
        captures = LiveCaptures(
            plan.topology,
            plan.captured,
            pids,
            pcaps,
            network.run_id,
            network.logs,
            plan.dilation.factor,
            plan.captured_flows,
        )
        ends.callback(captures.stop)
        run = _Run(network, agents, recorder, progress, interrupt, background, captures, began_s)
        return run.outcome(folder)


def in_phase(earliest_ns: int, epoch_ns: int, period_ns: int, sample_ns: int) -> int:
    """Return an instant at which a timer with this period resets, and a sampling interval ends as nearly as possible.

    Timer and intervals have been running since `epoch_ns`. A run begins at this instant, so that the switches' timers
    and samples are in phase with it, as on the virtual clock. A period of 0 stands for no timer. The instant is the
    best one within a sampling interval or `_LONGEST_WAIT_NS`. Each BMv2 switch has its own epoch, so it is out of phase
    with the run.
    """
    step_ns = period_ns or sample_ns
    first_ns = earliest_ns + (epoch_ns - earliest_ns) % step_ns
    last_ns = first_ns + max(sample_ns, _LONGEST_WAIT_NS)
    instants_ns = range(first_ns, last_ns, step_ns)[:_MOST_INSTANTS]
    return min(instants_ns, key=lambda instant_ns: abs(_remainder(instant_ns - epoch_ns, sample_ns)))


def _remainder(duration_ns: int, interval_ns: int) -> int:
    """Return the distance of a duration from the nearest multiple of an interval."""
    return (duration_ns + interval_ns // 2) % interval_ns - interval_ns // 2


def agents_of(network: LiveNetwork, plan: RunPlan, *, programs: bool) -> list[AgentProcess]:
    """Start the agents of the network's hosts for a plan. `programs`: see `start_agents`."""
    numbers = {switch.name: switch.switch_id for switch in plan.topology.switches}
    return start_agents(
        plan,
        network.run_id,
        network.logs,
        pids=network.emulation.host_pids(),
        switches={numbers[each.name]: SwitchClock(each.name, each.clock_lag_ns) for each in network.switches},
        epoch_ns=network.epoch_ns,
        programs=programs,
    )


def common_epoch_ns(network: LiveNetwork) -> int | None:
    """Return when the clocks of all switches were at 0; None if each switch has its own epoch."""
    return None if any(switch.clock_lag_ns for switch in network.switches) else network.epoch_ns


@dataclass
class _Run:
    """A run on a network that is up."""

    network: LiveNetwork
    agents: list[AgentProcess]
    recorder: Recorder
    progress: Progress
    interrupt: Interrupt
    background: Iperf3 | None
    captures: LiveCaptures
    began_s: float
    start_ns: int = 0
    failure: str | None = None
    lost: set[str] = field(default_factory=set)
    """The names of switches that no longer answer."""
    hosts: list[HostStatistics] = field(default_factory=list)
    latenesses: list[LatenessSummary] = field(default_factory=list)
    spacings: list[SpacingSummary] = field(default_factory=list)

    @property
    def plan(self) -> RunPlan:
        return self.network.plan

    def outcome(self, folder: Path) -> ClockOutcome:
        self._start()
        self._wait_for_flows()
        interrupted = self.interrupt.is_requested
        if self.background is not None:
            report = self.background.stop()
            replace_text(folder / "background.json", json.dumps(report, indent=2) + "\n")
            self._fail(self.background.failure())
        self._quiesce()
        counters = self._collect(interrupted)
        return ClockOutcome(counters, tuple(self.network.target.notes()))

    def _start(self) -> None:
        up = 0
        for agent in self.agents:
            agent.wait_until_ready(self.interrupt)
            up += len(agent.hosts)
            self.progress.hosts_up(up, len(self.plan.topology.hosts))
        if self.background is not None:
            self.background.start()
        self.interrupt.stop_if_requested()
        faults = fault_commands(self.plan.topology, self.plan.faults, self.plan.dilation, self.plan.configured)
        margin_ns = _START_MARGIN_NS + _START_MARGIN_PER_FLOW_NS * len(self.plan.flows)
        margin_ns += _START_MARGIN_PER_FAULT_COMMAND_NS * len(faults)
        period_ns = 1000 * suppression_period_us(self.plan.switch_settings, self.plan.dilation)
        sample_ns = self.plan.dilation.wall_ns(LINK_SAMPLE_NS)
        self.start_ns = in_phase(time.monotonic_ns() + margin_ns, self.network.epoch_ns, period_ns, sample_ns)
        self.recorder.begin(self.start_ns - self.network.epoch_ns, self.start_ns)
        self.captures.begin(self.start_ns, common_epoch_ns(self.network))
        self._plan_faults(faults)
        for agent in self.agents:
            agent.send(Start(self.start_ns))

    def _plan_faults(self, faults: Iterable[PlannedCommand]) -> None:
        begin_ns = self.start_ns - self.network.epoch_ns
        for command in faults:
            self.network.target.plan(
                command.switch, begin_ns + self.plan.dilation.wall_ns(command.time_ns), command.line
            )

    def _fail(self, reason: str | None) -> None:
        """Keep the first failure, which ends the run and is reported; later failures are its consequences."""
        self.failure = self.failure or reason

    def _ask(self, switch: RunningSwitch, question: Callable[[], _Answer], default: _Other) -> _Answer | _Other:
        """Return a switch's answer, or `default` if it fails. A failed switch is not asked again: each wait is long."""
        if switch.name in self.lost:
            return default
        try:
            return question()
        except (RunError, OSError) as error:
            self.lost.add(switch.name)
            self._fail(str(error))
            return default

    @property
    def _is_complete(self) -> bool:
        return self.recorder.ends.is_complete and (self.background is None or self.background.has_ended)

    def _wait_for_flows(self) -> None:
        deadline_ns = self.start_ns + self.plan.duration_wall_ns
        while not self._is_complete and self.failure is None and not self.interrupt.is_requested:
            remaining_s = (deadline_ns - time.monotonic_ns()) / 1e9
            if remaining_s <= 0:
                return
            self._read_agents(min(_POLL_SECONDS, remaining_s))
            self.progress.flows_done(self.recorder.ends.completed, len(self.plan.flows))
            self._show_buffers()

    def _show_buffers(self) -> int:
        """Return the bytes queued in all switches, and report the fullest switch as progress."""
        queued = [(self._ask(switch, switch.queued_bytes, 0), switch.name) for switch in self.network.switches]
        used_bytes, name = max(queued)
        self.progress.hottest_buffer(name, used_bytes)
        return sum(used_bytes for used_bytes, _ in queued)

    def _read_agents(self, seconds: float) -> None:
        for agent in readable(self.agents, seconds):
            self._take(agent, agent.events())
        for agent in self.agents:
            trouble = agent.trouble()
            if trouble is not None and self.failure is None:
                self._take(agent, agent.events())
                self._fail(f"during the run {trouble}")
        for trouble in (*self.network.target.troubles(), *self.network.emulation.troubles()):
            self._fail(f"during the run {trouble}")
        if self.background is not None:
            self._fail(self.background.failure())
        if self.recorder.is_save_due:
            self.recorder.save()

    def _take(self, agent: AgentProcess, events: Iterable[AgentEvent]) -> None:
        for event in events:
            if isinstance(event, (FlowSent, FlowReceived, Goodput, Late, Signal, Congestion)):
                self.recorder.take(event)
            elif isinstance(event, HostStatistics):
                self.hosts.append(event)
            elif isinstance(event, AgentLateness):
                self.latenesses.append(event.lateness)
                self.spacings.append(event.spacing)
        self._fail(agent.problem)

    def _quiesce(self) -> None:
        """Stop the hosts, and wait until packets in flight arrive: until queues are empty, then a few round trips.

        A deep queue may take long to drain; the wait ends early only if the queues no longer shrink.
        """
        for agent in self.agents:
            agent.send(Quiesce())
        patience_s = max(_DRAIN_SECONDS, self.plan.dilation.wall_ns(_DRAIN_MODEL_NS) / 1e9)
        deadline = time.monotonic() + patience_s
        least = sys.maxsize
        while (queued := self._show_buffers()) and time.monotonic() < deadline:
            if queued < least:
                least, deadline = queued, time.monotonic() + patience_s
            self._wait_for_silence()
        rest_ns = _DRAIN_RTTS * self.plan.transport.base_rtt_ns + longest_hold_ns(self.plan.faults)
        rest = time.monotonic() + self.plan.dilation.wall_ns(rest_ns) / 1e9
        while time.monotonic() < rest:
            self._wait_for_silence()

    def _wait_for_silence(self) -> None:
        self.interrupt.stop_if_urgent()
        self.progress.draining(self.interrupt.is_requested)
        self._read_agents(_POLL_SECONDS / 5)

    def _collect(self, interrupted: bool) -> RunCounters:
        for agent in self.agents:
            agent.send(Stop())
        for agent in self.agents:
            self.interrupt.stop_if_urgent()
            self._take(agent, agent.last_events())
        lacking = self.captures.stop()
        counts: list[SwitchCounts] = []
        parts: list[PartStatistics] = []
        for switch in self.network.switches:
            self.interrupt.stop_if_urgent()
            counts.append(self._ask(switch, switch.counts, SwitchCounts()))
            statistics = self._ask(switch, switch.statistics, None)
            parts += [] if statistics is None else [statistics]
            self._ask(switch, switch.stop, None)
        parts += self._other_parts()
        for part in parts:
            replace_text(self.network.logs / f"{part.name}-statistics.json", json.dumps(part.details, indent=1))
        return run_counters(
            self.hosts,
            counts,
            parts,
            resends_successors=self.network.plan.resends_successors,
            undelivered=self.recorder.ends.undelivered,
            host_lateness=self.latenesses,
            host_spacing=self.spacings,
            interrupted=interrupted,
            wall_s=time.perf_counter() - self.began_s,
            broken=() if self.failure is None else (_sentence(self.failure),),
            lacking=lacking,
        )

    def _other_parts(self) -> Sequence[PartStatistics]:
        try:
            return self.network.target.other_parts()
        except RunError as error:
            self._fail(str(error))
            return ()


def _sentence(reason: str) -> str:
    """Return a failure as a sentence of the verdict. Names keep their small initial letter."""
    return reason if reason.endswith(".") else f"{reason}."
