# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Follows the agents of a session: a thread reads their messages as they arrive."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from os_helpers.waiting import readable
from sfc_testbed.hosts.io.summaries import LatenessSummary, SpacingSummary
from sfc_testbed.hosts.protocol import (
    Add,
    AgentEvent,
    AgentLateness,
    Command,
    FlowReceived,
    FlowSent,
    HostState,
    Look,
    Looked,
    Signal,
    Start,
)
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.live.agents import AgentProcess
from sfc_testbed.testbed.live.session.journal import Journal

# Time from the moment when all agents are ready to model time 0: every agent reads the start line meanwhile.
_START_MARGIN_NS = 100_000_000
_POLL_SECONDS = 0.1
_LOOK_SECONDS = 10.0
_NAMED_HOSTS = 4


@dataclass(frozen=True)
class Sight:
    """The state of all hosts at one moment."""

    hosts: Mapping[str, HostState]
    lateness: Mapping[str, LatenessSummary]
    """The lateness of each agent, by the agent's name and hosts."""
    spacing: Sequence[SpacingSummary]


class AgentHub:
    """The agents of one session, from start to stop."""

    def __init__(self, agents: Sequence[AgentProcess], journal: Journal) -> None:
        self.start_ns = 0
        """The time of model time 0 on CLOCK_MONOTONIC."""
        self._agents = agents
        self._journal = journal
        self.failure: str | None = None
        """The error that ended an agent, as one line; None while all agents work."""
        self._hosts: dict[str, HostState] = {}
        self._lateness: dict[str, AgentLateness] = {}
        self._answered: dict[str, int] = {}
        self._look_number = 0
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="agents", daemon=True)

    def start(self, interrupt: Interrupt) -> None:
        """Wait until all hosts are up, then start model time. Raises RunError if a host does not come up."""
        for agent in self._agents:
            agent.wait_until_ready(interrupt)
        self.start_ns = time.monotonic_ns() + _START_MARGIN_NS
        self.tell(Start(self.start_ns))
        self._thread.start()

    def tell(self, command: Command) -> None:
        """Send a command to every agent. Raises RunError if an agent has ended."""
        self._check()
        for agent in self._agents:
            agent.send(command)

    def add(self, flows: Sequence[Flow], addresses: Mapping[str, IPv4Address]) -> None:
        """Send new messages to the agents that serve their sources or destinations."""
        self._check()
        for agent in self._agents:
            served = set(agent.hosts)
            local_flows = tuple(flow for flow in flows if flow.src in served or flow.dst in served)
            if local_flows:
                ends = {end: addresses[end] for flow in local_flows for end in (flow.src, flow.dst)}
                agent.send(Add(local_flows, ends))

    def look(self) -> Sight:
        """Return the current state of every host. Raises RunError if an agent does not answer."""
        self._look_number += 1
        number = self._look_number
        self.tell(Look(number))
        names = [agent.name for agent in self._agents]

        def is_over() -> bool:
            return self.failure is not None or all(self._answered.get(name, 0) >= number for name in names)

        if not self._journal.wait_for(is_over, _LOOK_SECONDS):
            raise RunError(f"the hosts' NICs did not answer within {_LOOK_SECONDS:g} s")
        self._check()
        latest = [(agent, self._lateness[agent.name]) for agent in self._agents if agent.name in self._lateness]
        lateness = {f"NICs of {_hosts_of(agent)} ({agent.name})": report.lateness for agent, report in latest}
        return Sight(dict(self._hosts), lateness, [report.spacing for _, report in latest])

    def stop(self) -> None:
        """End all agents."""
        self._is_stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        for agent in self._agents:
            agent.stop()

    def _check(self) -> None:
        if self.failure is not None:
            raise RunError(self.failure)

    def _run(self) -> None:
        while not self._is_stopping.is_set() and self.failure is None:
            for agent in readable(self._agents, _POLL_SECONDS):
                self._take(agent, agent.events())
            for agent in self._agents:
                if agent.has_ended and not self._is_stopping.is_set():
                    self.failure = (
                        f"{agent.obituary()}; the NICs of {_hosts_of(agent)} are gone with it, and no verb starts it "
                        "again: `exit` and start the prompt again"
                    )
                    self._journal.fail(self.failure)

    def _take(self, agent: AgentProcess, events: Sequence[AgentEvent]) -> None:
        for event in events:
            if isinstance(event, HostState):
                self._hosts[event.statistics.host] = event
            elif isinstance(event, AgentLateness):
                self._lateness[agent.name] = event
            elif isinstance(event, Looked):
                self._answered[agent.name] = event.number
        self._journal.take([event for event in events if isinstance(event, (FlowSent, FlowReceived, Signal))])
        if agent.problem is not None:
            self.failure = agent.problem
            self._journal.fail(agent.problem)


def _hosts_of(agent: AgentProcess) -> str:
    """Return the names of an agent's hosts; only the first few if there are many."""
    names = agent.hosts
    names_text = ", ".join(names[:_NAMED_HOSTS])
    return names_text if len(names) <= _NAMED_HOSTS else f"{names_text} and {len(names) - _NAMED_HOSTS} more hosts"
