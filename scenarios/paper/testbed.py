# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The scenarios of the paper's 48-node testbed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field, model_validator

from sfc_testbed.scenarios.model.flow import MAX_QUEUE_PAIRS, FlowRequest
from sfc_testbed.scenarios.model.scenario import Scale, Scenario, ScenarioError, Workload
from sfc_testbed.scenarios.traffic.arrivals import all_to_all, on_standing_pairs
from sfc_testbed.scenarios.traffic.incast import TAG as INCAST
from sfc_testbed.scenarios.traffic.incast import Incast
from sfc_testbed.scenarios.traffic.sizes import load_sizes
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np


NICS = {"congestion_notice": "cnp"}
"""Host settings of the paper's testbed: RoCEv2 NICs report marked packets in CNPs. The hosts of the HPCC simulator,
which the paper's simulations use, report them in acknowledgements."""


def _incast_scale(message_bytes: int) -> Scale:
    workload = {"flows_per_sender": 25, "message_bytes": message_bytes, "window_us": 50.0, "placement": "spread"}
    switch = {"buffer_bytes": 16_000_000}
    return Scale("paper-testbed", {}, {"degree": 40, **workload}, duration_ms=100, switch=switch, transport=NICS)


TESTBED_INCAST = Scenario(
    "testbed-incast",
    "incasts of 8 to 40 senders with 25 flows each on the paper's testbed",
    Incast,
    {"ci": _incast_scale(30_000), "laptop": _incast_scale(100_000), "paper": _incast_scale(1_000_000)},
)
"""Fig. 5: incasts of 8 to 40 senders with 25 flows each."""


class HeadOfLine(Workload):
    """All-to-all traffic among the first hosts of two ToRs, and one long incast among the remaining hosts."""

    sizes: str = Field("hadoop", description="Message sizes of the all-to-all traffic.")
    load: Annotated[float, Field(gt=0, le=2)] = Field(
        0.3, description="Load of the all-to-all traffic, as a fraction of its hosts' line rate."
    )
    hosts_per_tor: Annotated[int, Field(ge=1)] = Field(8, description="Hosts of the all-to-all traffic under each ToR.")
    queue_pairs: Annotated[int, Field(ge=0, le=MAX_QUEUE_PAIRS)] = Field(
        4,
        description="Queue pairs per pair of hosts, used in turn; 0: a new queue pair for every message.",
    )
    arrivals_us: Annotated[float, Field(gt=0, le=10_000_000)] = Field(2_000.0, description="How long messages arrive.")
    remote_senders: Annotated[int, Field(ge=1)] = Field(16, description="Incast senders under the other ToR.")
    local_senders: Annotated[int, Field(ge=0)] = Field(8, description="Incast senders under the receiver's own ToR.")
    flows_per_sender: Annotated[int, Field(ge=1)] = Field(40, description="Queue pairs of each incast sender.")
    incast_bytes: Annotated[int, Field(ge=1)] = Field(26_000, description="Bytes of each incast flow.")

    @model_validator(mode="after")
    def _sizes_exist(self) -> HeadOfLine:
        load_sizes(self.sizes)
        return self

    @property
    def notes(self) -> tuple[str, ...]:
        note = load_sizes(self.sizes).note
        return () if note is None else (note,)

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        tors = topology.racks
        rests = [[host.name for host in hosts[self.hosts_per_tor :]] for hosts in tors]
        if len(tors) != 2 or len(rests[0]) < self.remote_senders or len(rests[1]) < self.local_senders + 1:
            raise ScenarioError(
                f"this workload needs two ToRs with {self.hosts_per_tor} all-to-all hosts each beside "
                f"{self.remote_senders} and {self.local_senders + 1} others"
            )
        everyone = [host.name for hosts in tors for host in hosts[: self.hosts_per_tor]]
        rates_bps = [topology.host_link[name].rate_bps for name in everyone]
        background, incast = random.spawn(2)
        sizes = load_sizes(self.sizes)
        until_ns = self.arrivals_us * 1000
        messages = all_to_all(everyone, rates_bps, sizes, self.load, until_ns, background, sizes.tag)
        requests: list[FlowRequest] = list(messages)
        if self.queue_pairs:
            requests = list(on_standing_pairs(requests, self.queue_pairs))
        *local, receiver = rests[1][: self.local_senders + 1]
        for sender in [*rests[0][: self.remote_senders], *local]:
            for offset_ns in incast.uniform(0, 50_000, self.flows_per_sender):
                requests.append(FlowRequest(sender, receiver, self.incast_bytes, round(offset_ns), INCAST))
        return requests


def _head_of_line_scale(arrivals_us: float) -> Scale:
    # The incast lasts as long as messages arrive: its flows share the bytes that the receiver's link carries meanwhile.
    incast_bytes = round(arrivals_us * 12_500 / (24 * 40))
    workload = {"arrivals_us": arrivals_us, "incast_bytes": incast_bytes}
    switch = {"buffer_bytes": 16_000_000}
    return Scale("paper-testbed", {}, workload, duration_ms=100, switch=switch, transport=NICS)


TESTBED_HOL = Scenario(
    "testbed-hol",
    "hadoop at 30 % among 16 nodes beside a 24:1 incast with 40 flows a sender",
    HeadOfLine,
    {
        "ci": _head_of_line_scale(1_500.0),
        "laptop": _head_of_line_scale(6_000.0),
        "paper": _head_of_line_scale(20_000.0),
    },
)
"""Fig. 6: congestion that PFC spreads into the fabric."""
