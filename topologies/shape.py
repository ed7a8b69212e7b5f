# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Base of named network shapes: a pydantic class of parameters with a pure function that builds the `Topology`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field

from sfc_testbed.request.checks import MAX_RATE_BPS, STRICT
from sfc_testbed.topologies.model import Topology, TopologyBuilder, TopologyError

Rate = Annotated[int, Field(ge=1_000_000, le=MAX_RATE_BPS)]
Delay = Annotated[int, Field(ge=0, le=1_000_000_000)]
MOST_COUNT = 4096
Count = Annotated[int, Field(ge=1, le=MOST_COUNT)]


class Shape(BaseModel):
    """Parameters of a network, in model units. Defaults are the paper's links: 100 Gb/s and 1 us to a host.

    If `host_rates_bps` is not empty, hosts get its rates in turn from h1, and `host_rate_bps` is ignored. Two rates
    alternate; as many rates as hosts give each host its own rate.

    `pass_latency_ns` is the latency of each switch in addition to the delays of its links. Its default is 0, because
    the paper's 600 ns are part of its hops of 1.5 us. `bts_latency_ns` is the time to build a BTS: a second pass
    through the same pipeline (docs/sources.md#latency-of-a-switch).
    """

    model_config = STRICT
    name: ClassVar[str]

    host_rate_bps: Rate = Field(100_000_000_000, description="Rate of every host's link.")
    host_rates_bps: tuple[Rate, ...] = Field(
        (), strict=False, description="Rates assigned to the hosts in turn from h1; replaces host_rate_bps."
    )
    host_delay_ns: Delay = Field(1_000, description="Propagation delay of a host's link, one way.")
    pass_latency_ns: Delay = Field(0, description="Latency of each switch in addition to the delays of its links.")
    bts_latency_ns: Delay = Field(600, description="Time to build a BTS: a second pass through the switch's pipeline.")

    @abstractmethod
    def build(self) -> Topology:
        """Build the network of these parameters."""

    def new_builder(self) -> TopologyBuilder:
        return TopologyBuilder(self.name, self.model_dump(), self.pass_latency_ns, self.bts_latency_ns)

    def add_hosts(self, builder: TopologyBuilder, counts: Mapping[str, int]) -> None:
        """Add the given number of hosts under each switch."""
        self.add_hosts_at(builder, [switch for switch, count in counts.items() for _ in range(count)])

    def add_hosts_at(self, builder: TopologyBuilder, switches: Sequence[str]) -> None:
        """Add a host under each of these switches, in order."""
        rates = self.host_rates_bps or (self.host_rate_bps,)
        if len(rates) > len(switches):
            raise TopologyError(f"host_rates_bps has {len(rates)} rates for {len(switches)} hosts")
        for number, switch in enumerate(switches):
            builder.add_host(switch, rates[number % len(rates)], self.host_delay_ns)


class Fabric(Shape):
    """Common parameters of shapes with links between switches."""

    fabric_rate_bps: Rate = Field(400_000_000_000, description="Rate of a link between switches.")
    fabric_delay_ns: Delay = Field(1_500, description="Propagation delay of a link between switches, one way.")


class Racks(Shape):
    """Common parameters of shapes whose racks are connected by other switches."""

    hosts_per_tor: Count = Field(4, description="Hosts under each ToR.")
    fabric_rate_bps: Rate = Field(400_000_000_000, description="Rate of a link between switches.")
    fabric_delay_ns: Delay = Field(1_500, description="Propagation delay of a link between switches, one way.")
