# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Unmodified programs that run beside a scenario's flows (`--background iperf3`), and their measurements.

Their packets go through the hosts' NICs like all other traffic.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.system.child import RunChild
from sfc_testbed.testbed.system.namespace import in_network_of
from sfc_testbed.topologies.model import Host

_READY_SECONDS = 20.0
_PORT = 5201
_LEAST_SECONDS = 5
_MOST_SECONDS = 30
_MARGIN_SECONDS = 3  # for the handshakes of iperf3 before and after its test


class Iperf3:
    """A TCP stream to the host that receives most flows, from a host in another rack that sends no flow."""

    def __init__(self, plan: RunPlan, pids: Mapping[str, int], run_id: str, logs: Path) -> None:
        self._plan = plan
        self._pids = pids
        self._run_id = run_id
        self._logs = logs
        self.client, self.server = iperf3_hosts(plan)
        self._children: list[RunChild] = []
        self._lines: list[str] = []
        self._failure: str | None = None

    def start(self) -> None:
        """Start the programs and wait until they are ready."""
        within_run = int(self._plan.duration_wall_ns / 1e9) - _MARGIN_SECONDS
        seconds = min(_MOST_SECONDS, max(_LEAST_SECONDS, within_run))
        for role, host in (("server", self.server), ("client", self.client)):
            arguments = [sys.executable, "-m", "sfc_testbed.testbed.live.iperf3_peer"]
            arguments += [role, str(self.server.ip), str(_PORT), str(seconds)]
            words = in_network_of(self._pids[host.name], *arguments)
            child = RunChild(f"iperf3 {role}", words, self._run_id, self._logs / f"iperf3-{role}.log")
            self._children.append(child)
            child.wait_for_line("ready", _READY_SECONDS)

    @property
    def has_ended(self) -> bool:
        """Whether the programs have finished."""
        return all(child.has_ended for child in self._children[-1:])  # the client is the last child

    def failure(self) -> str | None:
        """Return the first error that reduced the traffic, as one line, or None.

        A child that ended normally has printed its report before.
        """
        for child in self._children:
            trouble = child.trouble()
            self._lines += child.lines()
            reports = [json.loads(line) for line in self._lines if line.startswith("{")]
            error = next((report["error"] for report in reports if report["error"]), None)
            if error is not None:
                self._failure = self._failure or f"iperf3 failed: {error}"
            elif not any(child.name == f"iperf3 {report['role']}" for report in reports):
                self._failure = self._failure or trouble
        return self._failure

    def stop(self) -> Mapping[str, Any]:
        """End the programs that still run and return their measurements in model units."""
        self.failure()
        for child in self._children:
            child.stop()
            self._lines += child.rest
        self._children = []
        reports = [json.loads(line) for line in self._lines if line.startswith("{")]
        client = next((report for report in reports if report["role"] == "client"), None)
        result: dict[str, Any] = {"client": self.client.name, "server": self.server.name, "completed": False}
        if client is not None and client["error"] is None:
            factor = self._plan.dilation.factor
            result |= {
                "completed": True,
                "received_gbps": client["received_bps"] * factor / 1e9,
                "received_bytes": client["received_bytes"],
                "sent_bytes": client["sent_bytes"],
                "retransmits": client["retransmits"],
            }
        elif client is not None:
            result["error"] = client["error"]
        return result


def iperf3_hosts(plan: RunPlan) -> tuple[Host, Host]:
    """Return the client and the server for a plan. Raises RunError if the network has only one host."""
    receivers = Counter(flow.dst for flow in plan.flows)
    hosts = plan.topology.hosts
    server = plan.topology.host[receivers.most_common(1)[0][0]] if receivers else hosts[-1]
    senders = {flow.src for flow in plan.flows}
    others = [host for host in plan.topology.hosts_in_plane_of(server.name) if host != server]
    if not others:
        raise RunError("a background needs at least two hosts")
    preferred = [host for host in others if host.name not in senders and host.switch != server.switch]
    return (preferred or [host for host in others if host.name not in senders] or others)[0], server
