# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Named network shapes: clos, three-tier, dumbbell, star, and the paper's two networks as presets of clos.

A shape is a pydantic class of parameters with a pure function that builds the `Topology`. `SHAPES` lists all shapes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from sfc_testbed.request.checks import MAX_RATE_BPS, STRICT
from sfc_testbed.request.table import Table
from sfc_testbed.topologies.model import Topology, TopologyBuilder, TopologyError

Rate = Annotated[int, Field(ge=1_000_000, le=MAX_RATE_BPS)]
Delay = Annotated[int, Field(ge=0, le=1_000_000_000)]
MOST_COUNT = 400
Count = Annotated[int, Field(ge=1, le=MOST_COUNT)]

MAX_UPPER_SWITCHES = 1_000
"""The most aggregation switches and cores of a three-tier network."""


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
        rates = self.host_rates_bps or (self.host_rate_bps,)
        switches = [switch for switch, count in counts.items() for _ in range(count)]
        if len(rates) > len(switches):
            raise TopologyError(f"host_rates_bps has {len(rates)} rates for {len(switches)} hosts")
        for number, switch in enumerate(switches):
            builder.add_host(switch, rates[number % len(rates)], self.host_delay_ns)


class Racks(Shape):
    """Common parameters of shapes whose racks are connected by other switches."""

    hosts_per_tor: Count = Field(4, description="Hosts under each ToR.")
    fabric_rate_bps: Rate = Field(400_000_000_000, description="Rate of a link between switches.")
    fabric_delay_ns: Delay = Field(1_500, description="Propagation delay of a link between switches, one way.")


class Clos(Racks):
    """A 2-tier Clos: every ToR has `uplinks` parallel links to every spine."""

    name: ClassVar[str] = "clos"

    tors: Count = Field(2, description="Number of ToR switches.")
    spines: Count = Field(2, description="Number of spine switches.")
    uplinks: Count = Field(1, description="Parallel links from every ToR to every spine.")

    def build(self) -> Topology:
        builder = self.new_builder()
        tors = [builder.add_switch(f"tor{i + 1}", has_hosts=True) for i in range(self.tors)]
        spines = [builder.add_switch(f"spine{i + 1}", has_hosts=False) for i in range(self.spines)]
        self.add_hosts(builder, dict.fromkeys(tors, self.hosts_per_tor))
        for tor in tors:
            for spine in spines:
                for _ in range(self.uplinks):
                    builder.add_link(tor, spine, self.fabric_rate_bps, self.fabric_delay_ns)
        return builder.build()


class PaperTestbed(Clos):
    """The paper's testbed: 2 ToR of 24 hosts, 1 spine, 4 uplinks of 400 Gb/s, RTT 6 us in a rack, 10 us across."""

    name: ClassVar[str] = "paper-testbed"

    spines: Count = 1
    hosts_per_tor: Count = 24
    uplinks: Count = 4
    host_delay_ns: Delay = 1_500
    fabric_delay_ns: Delay = 1_000


class PaperSimulation(Clos):
    """The paper's simulation: 16 ToR of 32 hosts, 8 spines, no over-subscription, RTT 10 us."""

    name: ClassVar[str] = "paper-simulation"

    tors: Count = 16
    spines: Count = 8
    hosts_per_tor: Count = 32


class ThreeTier(Racks):
    """A 3-tier Clos: pods of ToRs and aggregation switches, connected by cores.

    Every ToR has a link to each aggregation switch of its pod. The first aggregation switch of every pod has a link to
    each core of the first plane, the second to each core of the second plane, and so on. A fat tree of k = 4 has
    `pods=4`, two each of `tors_per_pod`, `aggs_per_pod`, `cores_per_plane` and `hosts_per_tor`, and one link rate.
    """

    name: ClassVar[str] = "three-tier"

    pods: Count = Field(2, description="Number of pods, which only cores connect.")
    tors_per_pod: Count = Field(2, description="ToR switches in each pod.")
    aggs_per_pod: Count = Field(2, description="Aggregation switches in each pod; also the number of core planes.")
    cores_per_plane: Count = Field(
        1, description="Cores in each plane, which connects one aggregation switch of every pod."
    )

    def build(self) -> Topology:
        builder = self.new_builder()
        above = self.aggs_per_pod * (self.pods + self.cores_per_plane)
        if above > MAX_UPPER_SWITCHES:
            raise TopologyError(f"{above} switches above the ToRs; the maximum is {MAX_UPPER_SWITCHES}")
        tors = self._switches(builder, "tor", self.pods * self.tors_per_pod, has_hosts=True)
        aggs = self._switches(builder, "agg", self.pods * self.aggs_per_pod)
        cores = self._switches(builder, "core", self.aggs_per_pod * self.cores_per_plane)
        self.add_hosts(builder, dict.fromkeys(tors, self.hosts_per_tor))
        for number, tor in enumerate(tors):
            first = number // self.tors_per_pod * self.aggs_per_pod
            self._join(builder, tor, aggs[first : first + self.aggs_per_pod])
        for number, agg in enumerate(aggs):
            first = number % self.aggs_per_pod * self.cores_per_plane
            self._join(builder, agg, cores[first : first + self.cores_per_plane])
        return builder.build()

    def _switches(self, builder: TopologyBuilder, kind: str, count: int, *, has_hosts: bool = False) -> list[str]:
        return [builder.add_switch(f"{kind}{number + 1}", has_hosts=has_hosts) for number in range(count)]

    def _join(self, builder: TopologyBuilder, lower: str, uppers: Sequence[str]) -> None:
        for upper in uppers:
            builder.add_link(lower, upper, self.fabric_rate_bps, self.fabric_delay_ns)


class Dumbbell(Shape):
    """Two switches connected by one link: senders on the left (h1, ...), receivers on the right."""

    name: ClassVar[str] = "dumbbell"

    left_hosts: Count = Field(8, description="Hosts under s1, numbered from h1.")
    right_hosts: Count = Field(1, description="Hosts under s2, numbered after the hosts of s1.")
    trunk_rate_bps: Rate = Field(3_200_000_000_000, description="Rate of the link between s1 and s2.")
    trunk_delay_ns: Delay = Field(3_000, description="Propagation delay of this link, one way.")

    def build(self) -> Topology:
        builder = self.new_builder()
        left, right = (builder.add_switch(name, has_hosts=True) for name in ("s1", "s2"))
        self.add_hosts(builder, {left: self.left_hosts, right: self.right_hosts})
        builder.add_link(left, right, self.trunk_rate_bps, self.trunk_delay_ns)
        return builder.build()


class Star(Shape):
    """A single switch and its hosts."""

    name: ClassVar[str] = "star"

    hosts: Count = Field(9, description="Number of hosts.")

    def build(self) -> Topology:
        builder = self.new_builder()
        switch = builder.add_switch("s1", has_hosts=True)
        self.add_hosts(builder, {switch: self.hosts})
        return builder.build()


SHAPES: Table[type[Shape]] = Table(
    "topology",
    ((shape.name, shape) for shape in (Clos, PaperTestbed, PaperSimulation, ThreeTier, Dumbbell, Star)),
)


def shape(name: str, parameters: Mapping[str, Any]) -> Shape:
    """Return the named shape with these parameters.

    KeyError for an unknown name, pydantic's ValidationError for invalid values.
    """
    return SHAPES[name](**parameters)
