# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The agent processes that serve the hosts of a live run (`hosts.agent`), and the communication with them."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path

from os_helpers.waiting import readable
from sfc_testbed.hosts.agent_config import AgentConfig, agent_configs
from sfc_testbed.hosts.protocol import (
    AgentEvent,
    Command,
    ProtocolError,
    Ready,
    Refused,
    Stopped,
    command_line,
    parse_event,
)
from sfc_testbed.hosts.records import SwitchClock
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.testbed.control_plane.faults import host_stalls
from sfc_testbed.testbed.control_plane.slow_links import nic_rates
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.interrupt import Interrupt
from sfc_testbed.testbed.plan.plan import RunPlan, agent_count
from sfc_testbed.testbed.system.child import RunChild

_READY_SECONDS = 60.0
_READY_SECONDS_PER_FLOW = 0.0005
_REPORT_SECONDS = 20.0
_POLL_SECONDS = 0.2


class AgentProcess(RunChild):
    """An agent process and the hosts that it serves. `problem` is an error of the agent or its protocol, or None."""

    def __init__(self, config: AgentConfig, run_id: str, logs: Path) -> None:
        self.hosts = [served.host.name for served in config.hosts]
        self.problem: str | None = None
        self._ready_seconds = _READY_SECONDS + _READY_SECONDS_PER_FLOW * len(config.flows)
        self._unread: list[AgentEvent] = []
        path = logs / f"{config.name}.json"
        replace_text(path, config.model_dump_json(indent=1))
        arguments = [sys.executable, "-m", "sfc_testbed.hosts.agent", str(path)]
        super().__init__(config.name, arguments, run_id, logs / f"{config.name}.log")

    def send(self, command: Command) -> None:
        """Send a command. An agent that has ended raises no error here: `trouble` reports it."""
        self.tell(command_line(command).decode().rstrip())

    def events(self) -> list[AgentEvent]:
        """Return the events since the last call. An unreadable or `Refused` event sets `problem`."""
        pending, self._unread = self._unread, []
        for line in self.lines():
            try:
                event = parse_event(line)
            except ProtocolError as error:
                self._fail(f"{self.name} sent a message that cannot be read: {error}")
                continue
            if isinstance(event, Refused):
                self._fail(f"{self.name} refused a command: {event.reason}")
            pending.append(event)
        return pending

    def wait_until_ready(self, interrupt: Interrupt) -> None:
        """Wait until the agent has opened all its sockets. Raises RunError if it fails, ends or takes too long."""
        deadline = time.monotonic() + self._ready_seconds
        while True:
            interrupt.stop_if_requested()
            has_ended = self.has_ended
            events = self.events()
            if self.problem is not None:
                raise RunError(self.problem)
            if any(isinstance(event, Ready) for event in events):
                self._unread = [event for event in events if not isinstance(event, Ready)]
                return
            if has_ended:
                raise RunError(f"before it was ready {self.obituary()}")
            if time.monotonic() > deadline:
                raise RunError(f"{self.name} was not ready within {self._ready_seconds:.0f} s: {self.last_words()}")
            readable([self], _POLL_SECONDS)

    def last_events(self) -> list[AgentEvent]:
        """Return the events after `Stop`, until `Stopped` or the process's end; each event extends the time limit."""
        deadline = time.monotonic() + _REPORT_SECONDS
        reported: list[AgentEvent] = []
        while time.monotonic() < deadline:
            has_ended = self.has_ended
            events = self.events()
            if events:
                reported += events
                deadline = time.monotonic() + _REPORT_SECONDS
            if reported and isinstance(reported[-1], Stopped):
                return reported
            if has_ended:
                self._fail(f"before it had reported {self.obituary()}")
                return reported
            readable([self], _POLL_SECONDS)
        self._fail(f"{self.name} did not report within {_REPORT_SECONDS:g} s: {self.last_words()}")
        return reported

    def _fail(self, reason: str) -> None:
        self.problem = self.problem or reason


def start_agents(
    plan: RunPlan,
    run_id: str,
    logs: Path,
    *,
    pids: Mapping[str, int],
    switches: Mapping[int, SwitchClock],
    epoch_ns: int,
    programs: bool,
) -> list[AgentProcess]:
    """Start the agents of a run; call `wait_until_ready` on each of them afterwards.

    With `programs`, ordinary programs of the hosts use the NICs too, as they do with a background and in containers.
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
        rates=nic_rates(plan.topology, plan.faults),
        uses=plan.spec.uses,
    )
    return [AgentProcess(config, run_id, logs) for config in configs]
