# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The processes that serve the hosts of a live run (`hosts.agent`): how many, and how they are spoken to."""

from __future__ import annotations

import os
import select
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from hosts.agent_config import AgentConfig, agent_configs
from testbed.errors import RunError
from testbed.plan.plan import RunPlan
from testbed.system.child import Child

_READY_SECONDS = 60.0
_REPORT_SECONDS = 20.0
_HOSTS_PER_AGENT = 256


class AgentProcess:
    """One agent and the hosts it serves."""

    def __init__(self, config: AgentConfig, run_id: str, logs: Path) -> None:
        self.hosts = [host.name for host in config.hosts]
        path = logs / f"{config.name}.json"
        path.write_text(config.model_dump_json(indent=1))
        arguments = [sys.executable, "-m", "hosts.agent", str(path)]
        self.child = Child(config.name, arguments, run_id, logs / f"{config.name}.log")

    def wait_until_ready(self) -> None:
        """Returns once it has all its sockets."""
        self.child.wait_for_line('"ready"', _READY_SECONDS)

    def last_lines(self) -> list[str]:
        """What it still has to say after `stop`, up to its last word or its end."""
        deadline = time.monotonic() + _REPORT_SECONDS
        lines: list[str] = []
        while time.monotonic() < deadline:
            lines += self.child.lines()
            if any('"stopped"' in line for line in lines[-2:]) or self.child.has_ended:
                return lines + self.child.lines()
            select.select([self.child], [], [], 0.2)
        raise RunError(f"{self.child.name} did not report within {_REPORT_SECONDS:g} s: {self.child.last_words()}")


def agent_count(hosts: int) -> int:
    """One agent a core, more where one would serve too many hosts, never more than hosts."""
    return max(1, min(hosts, max(len(os.sched_getaffinity(0)), -(-hosts // _HOSTS_PER_AGENT))))


def start_agents(
    plan: RunPlan, run_id: str, logs: Path, *, pids: Mapping[str, int], epoch_ns: int
) -> list[AgentProcess]:
    """Starts the agents of a run; they are ready when `wait_until_ready` says so."""
    configs = agent_configs(
        plan.topology.hosts,
        plan.flows,
        plan.transport,
        plan.dilation,
        pids=pids,
        agents=agent_count(len(plan.topology.hosts)),
        epoch_ns=epoch_ns,
        programs=plan.config.background is not None,
    )
    return [AgentProcess(config, run_id, logs) for config in configs]
