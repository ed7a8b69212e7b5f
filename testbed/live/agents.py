# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The processes that serve the hosts of a live run (`hosts.agent`): how many, and how they are spoken to."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from hosts.agent_config import AgentConfig, agent_configs
from hosts.protocol import AgentEvent, Command, ProtocolError, Ready, Refused, Stopped, command_line, parse_event
from hosts.records import SwitchClock
from telemetry.atomic_file import replace_text
from testbed.errors import RunError
from testbed.faults.nodes import host_stalls
from testbed.interrupt import Interrupt
from testbed.load.agents import agent_count
from testbed.plan.plan import RunPlan
from testbed.system.child import Child
from testbed.system.waiting import readable

_READY_SECONDS = 60.0
_READY_SECONDS_PER_FLOW = 0.0005
_REPORT_SECONDS = 20.0
_POLL_SECONDS = 0.2


class AgentProcess:
    """One agent and the hosts it serves. `failure` says what went wrong between it and the runner, in one line."""

    def __init__(self, config: AgentConfig, run_id: str, logs: Path) -> None:
        self.name = config.name
        self.hosts = [served.host.name for served in config.hosts]
        self.failure: str | None = None
        self._ready_seconds = _READY_SECONDS + _READY_SECONDS_PER_FLOW * len(config.flows)
        self._unread: list[AgentEvent] = []
        path = logs / f"{config.name}.json"
        replace_text(path, config.model_dump_json(indent=1))
        arguments = [sys.executable, "-m", "hosts.agent", str(path)]
        self.child = Child(config.name, arguments, run_id, logs / f"{config.name}.log")

    def fileno(self) -> int:
        return self.child.fileno()

    @property
    def has_ended(self) -> bool:
        return self.child.has_ended

    def trouble(self) -> str | None:
        return self.child.trouble()

    def last_words(self) -> str:
        return self.child.last_words()

    def obituary(self) -> str:
        """Return how its process ended and what the process said last, as one line."""
        return self.child.obituary()

    def stop(self) -> None:
        self.child.stop()

    def tell(self, command: Command) -> None:
        """Gives a command; an agent that has gone is noticed elsewhere."""
        self.child.tell(command_line(command).decode().rstrip())

    def events(self) -> list[AgentEvent]:
        """What it has told since the last call. What is no message, or tells of a refusal, becomes its `failure`."""
        found, self._unread = self._unread, []
        for line in self.child.lines():
            try:
                event = parse_event(line)
            except ProtocolError as error:
                self._fail(f"{self.name} was not understood: {error}")
                continue
            if isinstance(event, Refused):
                self._fail(f"{self.name} refused a command: {event.reason}")
            found.append(event)
        return found

    def wait_until_ready(self, interrupt: Interrupt) -> None:
        """Returns once it has all its sockets. RunError if that takes too long, it ends, or it is not understood."""
        deadline = time.monotonic() + self._ready_seconds
        while True:
            interrupt.stop_if_requested()
            has_ended = self.has_ended
            heard = self.events()
            if self.failure is not None:
                raise RunError(self.failure)
            if any(isinstance(event, Ready) for event in heard):
                self._unread = [event for event in heard if not isinstance(event, Ready)]
                return
            if has_ended:
                raise RunError(f"before it was ready {self.child.obituary()}")
            if time.monotonic() > deadline:
                raise RunError(f"{self.name} was not ready within {self._ready_seconds:.0f} s: {self.last_words()}")
            readable([self], _POLL_SECONDS)

    def last_events(self) -> list[AgentEvent]:
        """What it still has to say after `Stop`, up to its last word or its end, as long as it says anything."""
        deadline = time.monotonic() + _REPORT_SECONDS
        found: list[AgentEvent] = []
        while time.monotonic() < deadline:
            has_ended = self.has_ended
            heard = self.events()
            if heard:
                found += heard
                deadline = time.monotonic() + _REPORT_SECONDS
            if found and isinstance(found[-1], Stopped):
                return found
            if has_ended:
                self._fail(f"before it had reported {self.child.obituary()}")
                return found
            readable([self], _POLL_SECONDS)
        self._fail(f"{self.name} did not report within {_REPORT_SECONDS:g} s: {self.last_words()}")
        return found

    def _fail(self, reason: str) -> None:
        self.failure = self.failure or reason


def start_agents(
    plan: RunPlan,
    run_id: str,
    logs: Path,
    *,
    pids: Mapping[str, int],
    switches: Mapping[int, SwitchClock],
    epoch_ns: int,
    programs: bool = False,
) -> list[AgentProcess]:
    """Starts the agents of a run; they are ready when `wait_until_ready` says so.

    With `programs` the hosts' ordinary programs use the NICs, as they do beside a background and in containers.
    """
    configs = agent_configs(
        plan.topology,
        plan.flows,
        plan.transport,
        plan.dilation,
        pids=pids,
        switches=switches,
        agents=agent_count(len(plan.topology.hosts)),
        epoch_ns=epoch_ns,
        programs=programs or plan.has_programs,
        stalls=host_stalls(plan.topology, plan.faults),
    )
    return [AgentProcess(config, run_id, logs) for config in configs]
