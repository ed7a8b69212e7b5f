# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Incast workload: many senders start within a synchronization window (paper sections 2.3.1 and 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError, Workload, check_host, more_hosts
from sfc_testbed.topologies.model import Host, Topology

if TYPE_CHECKING:
    import numpy as np

TAG = "incast"


class Incast(Workload):
    """An N:1 incast in `rounds`; each round starts all its flows uniformly within the window."""

    degree: Annotated[int, Field(ge=1, le=100_000)] = Field(16, description="Senders.")
    message_bytes: Annotated[int, Field(ge=1, le=10_000_000_000)] = Field(250_000, description="Bytes of each message.")
    window_us: Annotated[float, Field(ge=0, le=1_000_000)] = Field(
        50.0, description="Synchronization window in which a round's flows start; 0 starts them at once."
    )
    flows_per_sender: Annotated[int, Field(ge=1, le=10_000)] = Field(1, description="Queue pairs of each sender.")
    rounds: Annotated[int, Field(ge=1, le=10_000)] = Field(
        1, description="Number of incasts, one after another with the same hosts."
    )
    round_interval_us: Annotated[float, Field(ge=0, le=10_000_000)] = Field(
        1_000.0, description="Time from the start of a round to the start of the next."
    )
    placement: Literal["remote", "local", "spread"] = Field(
        "remote",
        description="Senders under other ToRs, under the receiver's own ToR, or taken from all ToRs in turn. "
        "With a single ToR, all senders are under it.",
    )
    receiver: str | None = Field(None, description="The receiver; by default the last host.")
    first_at_once: bool = Field(False, description="Start the first flow of a round at its beginning (Fig. 1).")

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        receiver = self._receiver(topology)
        senders = self._senders(topology, receiver, random)
        requests: list[FlowRequest] = []
        for turn in range(self.rounds):
            begin_ns = turn * self.round_interval_us * 1000
            is_at_once = self.first_at_once
            for sender in senders:
                for _ in range(self.flows_per_sender):
                    wait_ns = random.uniform(0, self.window_us * 1000)
                    start_ns = round(begin_ns if is_at_once else begin_ns + wait_ns)
                    is_at_once = False
                    requests.append(FlowRequest(sender.name, receiver.name, self.message_bytes, start_ns, TAG))
        return requests

    def _receiver(self, topology: Topology) -> Host:
        if self.receiver is None:
            return topology.hosts[-1]
        check_host(self.receiver, topology)
        return topology.host[self.receiver]

    def _senders(self, topology: Topology, receiver: Host, random: np.random.Generator) -> list[Host]:
        is_only_tor = len(topology.tors) == 1
        tors = [tor.name for tor in topology.tors if is_only_tor or self._may_send(tor.name, receiver)]
        by_tor = [[host for host in topology.hosts_of(tor) if host != receiver] for tor in tors]
        candidates = sum(len(hosts) for hosts in by_tor)
        if self.degree > candidates:
            raise ScenarioError(
                f"degree {self.degree} is above the {candidates} hosts that can send to {receiver.name} "
                f"with placement {self.placement!r}; {more_hosts(topology, self.degree - candidates, tors)}"
                + ("" if is_only_tor or self.placement == "spread" else ", or --set placement=spread")
            )
        shuffled = [[hosts[i] for i in random.permutation(len(hosts))] for hosts in by_tor]
        dealt = [hosts[turn] for turn in range(max(map(len, shuffled))) for hosts in shuffled if turn < len(hosts)]
        return dealt[: self.degree]

    def _may_send(self, switch: str, receiver: Host) -> bool:
        if self.placement == "spread":
            return True
        return (switch == receiver.switch) == (self.placement == "local")
