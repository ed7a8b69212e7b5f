# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Workload with an incast and small messages of other hosts that share the receiver's switch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.arrivals import poisson_times_ns
from sfc_testbed.scenarios.traffic.incast import Incast
from sfc_testbed.topologies.model import Host, Topology

if TYPE_CHECKING:
    import numpy as np

TAG = "small"
MOST_MESSAGES = 1_000_000


class Bystanders(Incast):
    """An incast, and small messages from hosts outside the incast to the hosts under its receiver's switch.

    The incast's receiver is as likely a destination as any other of these hosts, so few messages wait in its queue.
    """

    small_bytes: Annotated[int, Field(ge=1, le=10_000_000)] = Field(2_000, description="Bytes of a small message.")
    small_gap_us: Annotated[float, Field(gt=0, le=1_000_000)] = Field(
        1.0, description="Mean time between two small messages of all hosts together (Poisson arrivals)."
    )
    small_us: Annotated[float, Field(gt=0, le=10_000_000)] = Field(
        500.0, description="How long small messages keep arriving, from the incast's start."
    )

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        # Two streams, so that the incast stays the same when the small messages change.
        incast, small = random.spawn(2)
        requests = super().flows(topology, incast)
        senders = {flow.src for flow in requests}
        return requests + self._small(topology, self._receiver(topology), senders, small)

    def _small(
        self, topology: Topology, receiver: Host, senders: set[str], random: np.random.Generator
    ) -> list[FlowRequest]:
        sources = [host.name for host in topology.hosts if host.name not in senders and host != receiver]
        targets = [host.name for host in topology.hosts_of(receiver.switch)]
        if not sources or len(targets) < 2:
            raise ScenarioError(
                f"small messages need a host outside the incast of degree {self.degree}, and one beside "
                f"{receiver.name} under {receiver.switch}"
            )
        if self.small_us / self.small_gap_us > MOST_MESSAGES:
            raise ScenarioError(f"small_us / small_gap_us: a scenario has at most {MOST_MESSAGES} small messages")
        requests = []
        for start_ns in poisson_times_ns(self.small_gap_us * 1000, self.small_us * 1000, random).tolist():
            source = sources[random.integers(len(sources))]
            others = [name for name in targets if name != source]
            requests.append(FlowRequest(source, others[random.integers(len(others))], self.small_bytes, start_ns, TAG))
        return requests
