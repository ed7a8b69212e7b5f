# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ring all-reduce workload: ranks add up a vector by dependent messages (docs/sources.md#all-reduce)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import ScenarioError, more_hosts, striped_hosts
from sfc_testbed.scenarios.traffic.collectives.schedule import parts
from sfc_testbed.scenarios.traffic.incast import Incast
from sfc_testbed.topologies.model import Host, Topology

if TYPE_CHECKING:
    import numpy as np

TAG = "allreduce"
MOST_MESSAGES = 1_000_000


class AllReduce(Incast):
    """A ring all-reduce, with an incast beside it if `degree` is not 0.

    In each of 2 (ranks - 1) steps every rank sends a segment (the vector's size divided by `ranks`) to the next rank.
    The first half of the steps adds segments up, the second half distributes the sums. In a step a rank sends the
    segment that it received in the step before, so it waits for that segment. `chunks` divides a segment, so that a
    chunk can be forwarded while the next chunk is still arriving.
    """

    ranks: Annotated[int, Field(ge=2, le=10_000)] = Field(8, description="Hosts of the ring.")
    vector_bytes: Annotated[int, Field(ge=1, le=10_000_000_000)] = Field(
        800_000, description="Bytes of the vector that each rank has; a step moves 1 / `ranks` of it."
    )
    chunks: Annotated[int, Field(ge=1, le=10_000)] = Field(
        1, description="Messages per segment, sent one after another on the same queue pair."
    )
    add_us: Annotated[float, Field(ge=0, le=1_000_000)] = Field(
        0.0, description="Time that a rank needs to add up a received chunk before it can send it on."
    )
    ring: Literal["spread", "packed"] = Field(
        "spread",
        description="spread: ranks alternate over the ToRs, so all steps cross spines; packed: ranks are h1, h2, ....",
    )
    degree: Annotated[int, Field(ge=0, le=100_000)] = Field(
        0, description="Senders of an incast beside the ring; 0: no incast."
    )
    receiver: str | None = Field(None, description="Receiver of the incast; by default the last rank.")

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        requests = self._ring(topology)
        return requests + super().flows(topology, random) if self.degree else requests

    def _ring(self, topology: Topology) -> list[FlowRequest]:
        ranks = [host.name for host in self._ranks(topology)]
        if self.vector_bytes < self.ranks * self.chunks:
            raise ScenarioError(
                f"vector_bytes {self.vector_bytes} is too small for {self.ranks} ranks and {self.chunks} chunks: "
                "a message has at least one byte"
            )
        steps, sizes = 2 * (self.ranks - 1), self._chunk_sizes()
        if steps * self.ranks * self.chunks > MOST_MESSAGES:
            raise ScenarioError(f"ranks and chunks: a ring has at most {MOST_MESSAGES} messages")
        return [
            FlowRequest(
                source,
                ranks[(rank + 1) % self.ranks],
                size_bytes,
                0,
                TAG,
                queue_pair=1,
                after=(self._place(step - 1, (rank - 1) % self.ranks, chunk),) if step else (),
                delay_ns=round(self.add_us * 1000) if step else 0,
            )
            for step in range(steps)
            for rank, source in enumerate(ranks)
            for chunk, size_bytes in enumerate(sizes[(rank - step) % self.ranks])
        ]

    def _place(self, step: int, rank: int, chunk: int) -> int:
        """Return the position, from 1, in the ring's list of the message that a rank sends in a step."""
        return (step * self.ranks + rank) * self.chunks + chunk + 1

    def _chunk_sizes(self) -> list[list[int]]:
        """Return the chunk sizes of each segment, as equal as possible over the whole vector."""
        sizes = parts(self.vector_bytes, self.ranks * self.chunks)
        return [sizes[segment * self.chunks : (segment + 1) * self.chunks] for segment in range(self.ranks)]

    def _ranks(self, topology: Topology) -> list[Host]:
        hosts = striped_hosts(topology) if self.ring == "spread" else list(topology.hosts)
        if self.ranks > len(hosts):
            raise ScenarioError(
                f"ranks {self.ranks} is above the {len(hosts)} hosts of this network; "
                f"{more_hosts(topology, self.ranks - len(hosts))}"
            )
        return hosts[: self.ranks]

    def _receiver(self, topology: Topology) -> Host:
        return self._ranks(topology)[-1] if self.receiver is None else super()._receiver(topology)
