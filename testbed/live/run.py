# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run on the real clock: Mininet's network, a process for each switch, a few agents for all hosts."""

from __future__ import annotations

import json
import os
import select
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from analysis.results.counters import RunCounters
from hosts.io.lateness import LatenessSummary
from hosts.protocol import (
    AgentEvent,
    AgentLateness,
    FlowReceived,
    FlowSent,
    Goodput,
    HostStatistics,
    Quiesce,
    Signal,
    Start,
    Stop,
)
from hosts.records import SwitchClock
from testbed.interrupt import Interrupt
from testbed.live.agents import AgentProcess, start_agents
from testbed.live.background import BACKGROUNDS, Background
from testbed.live.capture import capture_folder, live_captures
from testbed.live.emulation import Emulation, emulation
from testbed.plan.plan import RunPlan
from testbed.recording.counters import run_counters
from testbed.recording.outcome import ClockOutcome, Progress
from testbed.recording.recorder import Recorder
from testbed.system.run_ids import RUN_VARIABLE, claim_state_directory, new_run_id, remove_state_directory
from testbed.targets.common.counters import SwitchCounts
from testbed.targets.common.statistics import PartStatistics
from testbed.targets.common.target import RunningSwitch, Target
from testbed.targets.table import TARGETS

# From "all are ready" to model time 0: every agent has read the start line by then.
_START_MARGIN_NS = 200_000_000
_POLL_SECONDS = 0.25
_DRAIN_SECONDS = 5.0
_DRAIN_MODEL_NS = 200_000
_DRAIN_RTTS = 3


@dataclass
class LiveNetwork:
    """A network whose switches run. `epoch_ns` is CLOCK_MONOTONIC of their clocks' 0."""

    plan: RunPlan
    run_id: str
    logs: Path
    epoch_ns: int
    emulation: Emulation
    target: Target
    switches: Sequence[RunningSwitch]


@contextmanager
def live_network(plan: RunPlan, logs: Path) -> Iterator[LiveNetwork]:
    """Mininet's nodes and a running switch for each; all gone at the end, also after an error."""
    run_id = new_run_id()
    state = claim_state_directory(run_id)
    os.environ[RUN_VARIABLE] = run_id  # Mininet's shells inherit it
    try:
        target = TARGETS[plan.config.switch](plan, state, logs)
        with emulation(plan.topology, target.wires) as network:
            epoch_ns = time.monotonic_ns()
            try:
                switches = target.start(network, epoch_ns)
                yield LiveNetwork(plan, run_id, logs, epoch_ns, network, target, switches)
            finally:
                target.stop()
    finally:
        del os.environ[RUN_VARIABLE]
        with suppress(OSError):  # `clean` may have been there
            remove_state_directory(run_id)


def run_live(plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt) -> ClockOutcome:
    """Runs the plan until all flows are done, its duration is over, or Ctrl-C; keeps what was measured in any case."""
    began_s = time.perf_counter()
    with live_network(plan, folder / "logs") as network:
        pids = {host.name: network.emulation.host_pid(host.name) for host in plan.topology.hosts}
        agents = start_agents(
            plan,
            network.run_id,
            network.logs,
            pids=pids,
            switches=_switch_clocks(network),
            epoch_ns=network.epoch_ns,
        )
        captured = {name: pids[name] for name in plan.config.captures}
        pcaps = capture_folder(folder, plan.config.captures)
        background = _background(plan, network, pids)
        try:
            with live_captures(captured, pcaps, network.run_id, network.logs):
                run = _Run(network, agents, recorder, progress, interrupt, background, began_s)
                return run.outcome(folder)
        finally:
            if background is not None:
                background.stop()
            for agent in agents:
                agent.stop()


def _switch_clocks(network: LiveNetwork) -> dict[int, SwitchClock]:
    numbers = {switch.name: switch.switch_id for switch in network.plan.topology.switches}
    return {numbers[each.name]: SwitchClock(each.name, each.clock_lag_ns) for each in network.switches}


def _background(plan: RunPlan, network: LiveNetwork, pids: Mapping[str, int]) -> Background | None:
    if plan.config.background is None:
        return None
    return BACKGROUNDS[plan.config.background](plan, pids, network.run_id, network.logs)


class _Run:
    """One run over a network that is up."""

    def __init__(
        self,
        network: LiveNetwork,
        agents: list[AgentProcess],
        recorder: Recorder,
        progress: Progress,
        interrupt: Interrupt,
        background: Background | None,
        began_s: float,
    ) -> None:
        self._network = network
        self._plan = network.plan
        self._agents = agents
        self._recorder = recorder
        self._progress = progress
        self._interrupt = interrupt
        self._background = background
        self._began_s = began_s
        self._start_ns = 0
        self._failure: str | None = None
        self._hosts: list[HostStatistics] = []
        self._latenesses: list[LatenessSummary] = []

    def outcome(self, folder: Path) -> ClockOutcome:
        self._start()
        self._wait_for_flows()
        interrupted = self._interrupt.is_requested
        if self._background is not None:
            report = self._background.stop()
            (folder / "background.json").write_text(json.dumps(report, indent=2) + "\n")
        self._quiesce()
        counters = self._collect(interrupted)
        return ClockOutcome(counters, self._failure, tuple(self._network.target.notes()))

    def _start(self) -> None:
        up = 0
        for agent in self._agents:
            agent.wait_until_ready()
            up += len(agent.hosts)
            self._progress.hosts_up(up, len(self._plan.topology.hosts))
        if self._background is not None:
            self._background.start()
        self._start_ns = time.monotonic_ns() + _START_MARGIN_NS
        self._recorder.begin(self._start_ns - self._network.epoch_ns)
        for agent in self._agents:
            agent.tell(Start(self._start_ns))

    @property
    def _is_complete(self) -> bool:
        return self._recorder.is_complete and (self._background is None or self._background.has_ended)

    def _wait_for_flows(self) -> None:
        deadline_ns = self._start_ns + self._plan.duration_wall_ns
        while not self._is_complete and self._failure is None and not self._interrupt.is_requested:
            remaining_s = (deadline_ns - time.monotonic_ns()) / 1e9
            if remaining_s <= 0:
                return
            self._read_agents(min(_POLL_SECONDS, remaining_s))
            self._progress.flows_done(self._recorder.completed, len(self._plan.flows))
            self._show_hottest_buffer()

    def _show_hottest_buffer(self) -> None:
        held = [(each.queued_bytes(), each.name) for each in self._network.switches]
        used_bytes, name = max(held)
        self._progress.hottest_buffer(name, used_bytes)

    def _read_agents(self, seconds: float) -> None:
        ready, _, _ = select.select(self._agents, [], [], seconds)
        for agent in ready:
            self._take(agent, agent.events())
        for agent in self._agents:
            if agent.has_ended and self._failure is None:
                self._take(agent, agent.events())
                self._failure = f"{agent.name} ended during the run: {agent.last_words()}"
        if self._recorder.is_save_due:
            self._recorder.save()

    def _take(self, agent: AgentProcess, events: Iterable[AgentEvent]) -> None:
        for event in events:
            if isinstance(event, (FlowSent, FlowReceived, Goodput, Signal)):
                self._recorder.take(event)
            elif isinstance(event, HostStatistics):
                self._hosts.append(event)
            elif isinstance(event, AgentLateness):
                self._latenesses.append(event.lateness)
        self._failure = self._failure or agent.failure

    def _quiesce(self) -> None:
        """Hosts fall silent; what is on the way arrives: queues run empty, then a few round trips pass.

        A deep queue may take long; only one that no longer shrinks is given up.
        """
        for agent in self._agents:
            agent.tell(Quiesce())
        patience_s = max(_DRAIN_SECONDS, self._plan.dilation.wall_ns(_DRAIN_MODEL_NS) / 1e9)
        deadline = time.monotonic() + patience_s
        least = sys.maxsize
        while (queued := sum(each.queued_bytes() for each in self._network.switches)) and time.monotonic() < deadline:
            if queued < least:
                least, deadline = queued, time.monotonic() + patience_s
            self._read_agents(_POLL_SECONDS / 5)
        rest = time.monotonic() + _DRAIN_RTTS * self._plan.dilation.wall_ns(self._plan.transport.base_rtt_ns) / 1e9
        while time.monotonic() < rest:
            self._read_agents(_POLL_SECONDS / 5)

    def _collect(self, interrupted: bool) -> RunCounters:
        for agent in self._agents:
            agent.tell(Stop())
        for agent in self._agents:
            self._take(agent, agent.last_events())
        counts: list[SwitchCounts] = []
        parts: list[PartStatistics] = []
        for switch in self._network.switches:
            counts.append(switch.counts())
            parts.append(switch.statistics())
            switch.stop()
        parts += self._network.target.other_parts()
        for part in parts:
            (self._network.logs / f"{part.name}-statistics.json").write_text(json.dumps(part.details, indent=1))
        return run_counters(
            self._hosts,
            counts,
            parts,
            undelivered=self._recorder.undelivered,
            host_lateness=self._latenesses,
            interrupted=interrupted,
            wall_s=time.perf_counter() - self._began_s,
        )
