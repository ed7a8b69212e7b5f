# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Keeps up with the agents of a session: a thread reads what they tell as they tell it, whoever is asking or not."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address

from hosts.io.summaries import LatenessSummary, SpacingSummary
from hosts.protocol import (
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
from scenarios.model.flow import Flow
from testbed.errors import RunError
from testbed.interrupt import Interrupt
from testbed.live.agents import AgentProcess
from testbed.live.session.journal import Journal
from testbed.system.waiting import readable

# From "all are ready" to model time 0: every agent has read the start line by then.
_START_MARGIN_NS = 100_000_000
_POLL_SECONDS = 0.1
_LOOK_SECONDS = 10.0
_NAMED_HOSTS = 4


@dataclass(frozen=True)
class Sight:
    """What all hosts have in hand at one moment."""

    hosts: Mapping[str, HostState]
    lateness: Mapping[str, LatenessSummary]
    """Lateness of each agent, by its name with its hosts."""
    spacing: Sequence[SpacingSummary]


class AgentHub:
    """The agents of one session, from start to stop."""

    def __init__(self, agents: Sequence[AgentProcess], journal: Journal) -> None:
        self.start_ns = 0
        """CLOCK_MONOTONIC of model time 0."""
        self._agents = agents
        self._journal = journal
        self._failure: str | None = None
        self._hosts: dict[str, HostState] = {}
        self._lateness: dict[str, AgentLateness] = {}
        self._answered: dict[str, int] = {}
        self._looks = 0
        self._is_stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="agents", daemon=True)

    def start(self, interrupt: Interrupt) -> None:
        """Waits until all hosts are up, then begins. RunError if some do not come up."""
        for agent in self._agents:
            agent.wait_until_ready(interrupt)
        self.start_ns = time.monotonic_ns() + _START_MARGIN_NS
        self.tell(Start(self.start_ns))
        self._thread.start()

    @property
    def failure(self) -> str | None:
        """What became of an agent that is no longer there."""
        return self._failure

    def tell(self, command: Command) -> None:
        """To every agent. RunError when one has gone."""
        if self._failure is not None:
            raise RunError(self._failure)
        for agent in self._agents:
            agent.tell(command)

    def add(self, flows: Sequence[Flow], addresses: Mapping[str, IPv4Address]) -> None:
        """Messages, to the agents of their ends."""
        if self._failure is not None:
            raise RunError(self._failure)
        for agent in self._agents:
            served = set(agent.hosts)
            own = tuple(flow for flow in flows if flow.src in served or flow.dst in served)
            if own:
                agent.tell(Add(own, {end: addresses[end] for flow in own for end in (flow.src, flow.dst)}))

    def look(self) -> Sight:
        """What every host has in hand. RunError when an agent does not answer."""
        self._looks += 1
        number = self._looks
        self.tell(Look(number))
        names = [agent.name for agent in self._agents]

        def is_over() -> bool:
            return self._failure is not None or all(self._answered.get(name, 0) >= number for name in names)

        if not self._journal.wait_for(is_over, _LOOK_SECONDS):
            raise RunError(f"the hosts' NICs did not answer within {_LOOK_SECONDS:g} s")
        if self._failure is not None:
            raise RunError(self._failure)
        latest = [(agent, self._lateness[agent.name]) for agent in self._agents if agent.name in self._lateness]
        lateness = {f"NICs of {_hosts_of(agent)} ({agent.name})": each.lateness for agent, each in latest}
        return Sight(dict(self._hosts), lateness, [each.spacing for _, each in latest])

    def stop(self) -> None:
        """Ends all agents."""
        self._is_stopping.set()
        if self._thread.is_alive():
            self._thread.join()
        for agent in self._agents:
            agent.stop()

    def _run(self) -> None:
        while not self._is_stopping.is_set() and self._failure is None:
            for agent in readable(self._agents, _POLL_SECONDS):
                self._take(agent, agent.events())
            for agent in self._agents:
                if agent.has_ended and not self._is_stopping.is_set():
                    self._failure = (
                        f"{agent.obituary()}; the NICs of {_hosts_of(agent)} are gone with it, and no verb starts it "
                        "again: `exit`, then start the prompt anew"
                    )
                    self._journal.fail(self._failure)

    def _take(self, agent: AgentProcess, events: Sequence[AgentEvent]) -> None:
        for event in events:
            if isinstance(event, HostState):
                self._hosts[event.statistics.host] = event
            elif isinstance(event, AgentLateness):
                self._lateness[agent.name] = event
            elif isinstance(event, Looked):
                self._answered[agent.name] = event.number
        self._journal.take([event for event in events if isinstance(event, (FlowSent, FlowReceived, Signal))])
        if agent.failure is not None:
            self._failure = agent.failure
            self._journal.fail(agent.failure)


def _hosts_of(agent: AgentProcess) -> str:
    """Return the names of an agent's hosts, the first few of many."""
    names = agent.hosts
    shown = ", ".join(names[:_NAMED_HOSTS])
    return shown if len(names) <= _NAMED_HOSTS else f"{shown} and {len(names) - _NAMED_HOSTS} more hosts"
