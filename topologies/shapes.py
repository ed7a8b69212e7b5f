# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The networks people ask for by name: clos, three-tier, dumbbell, star, and the paper's two as presets of clos.

A shape is a class of parameters, checked by pydantic, with one pure function that builds the `Topology`; `SHAPES` is
the table.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field

from topologies.model import Topology, TopologyBuilder, TopologyError
from wire.input.validation import MAX_RATE_BPS, STRICT

Rate = Annotated[int, Field(ge=1_000_000, le=MAX_RATE_BPS)]
Delay = Annotated[int, Field(ge=0, le=1_000_000_000)]
Count = Annotated[int, Field(ge=1, le=400)]

MAX_UPPER_SWITCHES = 1_000
"""Of three tiers: aggregation switches and cores."""


class Shape(BaseModel):
    """Parameters of a network, model units. Defaults are the paper's links: 100 Gb/s and 1 us to a host.

    Where `host_rates_bps` is given, hosts get its rates in turn, h1 the first, and `host_rate_bps` does not count: two
    rates alternate, as many as hosts give each its own.

    `pass_latency_ns` is what a packet takes in each switch beyond the delays of its links: none, for the paper's 600 ns
    are inside its hops of 1.5 us. `bts_latency_ns` is what building a BTS takes: the same pipeline once more
    (docs/sources.md#latency-of-a-switch).
    """

    model_config = STRICT
    name: ClassVar[str]

    host_rate_bps: Rate = Field(100_000_000_000, description="Rate of every host's link.")
    host_rates_bps: tuple[Rate, ...] = Field(
        (), strict=False, description="Rates of the hosts in turn, h1 the first, in place of host_rate_bps."
    )
    host_delay_ns: Delay = Field(1_000, description="Propagation delay of a host's link, one way.")
    pass_latency_ns: Delay = Field(0, description="What a packet takes in each switch beyond the delays of its links.")
    bts_latency_ns: Delay = Field(600, description="What building a BTS takes: the switch's pipeline once more.")

    @abstractmethod
    def build(self) -> Topology:
        """The network of these parameters."""

    def _builder(self) -> TopologyBuilder:
        return TopologyBuilder(self.name, self.model_dump(), self.pass_latency_ns, self.bts_latency_ns)

    def _add_hosts(self, builder: TopologyBuilder, counts: Mapping[str, int]) -> None:
        """So many hosts under each switch."""
        rates = self.host_rates_bps or (self.host_rate_bps,)
        switches = [switch for switch, count in counts.items() for _ in range(count)]
        if len(rates) > len(switches):
            raise TopologyError(f"host_rates_bps has {len(rates)} rates for {len(switches)} hosts")
        for number, switch in enumerate(switches):
            builder.add_host(switch, rates[number % len(rates)], self.host_delay_ns)


class Racks(Shape):
    """What all shapes of racks have that other switches join."""

    hosts_per_tor: Count = Field(4, description="Hosts under each ToR.")
    fabric_rate_bps: Rate = Field(400_000_000_000, description="Rate of a link between switches.")
    fabric_delay_ns: Delay = Field(1_500, description="Its propagation delay, one way.")


class Clos(Racks):
    """2-tier Clos: every ToR has `uplinks` parallel links to every spine."""

    name: ClassVar[str] = "clos"

    tors: Count = Field(2, description="Switches that hosts are under.")
    spines: Count = Field(2, description="Switches that join them.")
    uplinks: Count = Field(1, description="Parallel links from every ToR to every spine.")

    def build(self) -> Topology:
        builder = self._builder()
        tors = [builder.add_switch(f"tor{i + 1}", has_hosts=True) for i in range(self.tors)]
        spines = [builder.add_switch(f"spine{i + 1}", has_hosts=False) for i in range(self.spines)]
        self._add_hosts(builder, dict.fromkeys(tors, self.hosts_per_tor))
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
    """3-tier Clos: pods of ToRs under aggregation switches, joined by cores.

    Every ToR has a link to each aggregation switch of its pod. The first of these in every pod has a link to each core
    of the first plane, the second to those of the second plane, and so on: a fat tree of k = 4 is `pods=4`, two each of
    `tors_per_pod`, `aggs_per_pod`, `cores_per_plane` and `hosts_per_tor`, and one rate for all links.
    """

    name: ClassVar[str] = "three-tier"

    pods: Count = Field(2, description="Groups of switches that only cores join.")
    tors_per_pod: Count = Field(2, description="Switches of a pod that hosts are under.")
    aggs_per_pod: Count = Field(2, description="Switches of a pod that join its ToRs; as many planes of cores.")
    cores_per_plane: Count = Field(1, description="Cores over the aggregation switches of the same place in each pod.")

    def build(self) -> Topology:
        builder = self._builder()
        above = self.aggs_per_pod * (self.pods + self.cores_per_plane)
        if above > MAX_UPPER_SWITCHES:
            raise TopologyError(f"{above} switches above the ToRs; at most {MAX_UPPER_SWITCHES} can be")
        tors = self._switches(builder, "tor", self.pods * self.tors_per_pod, has_hosts=True)
        aggs = self._switches(builder, "agg", self.pods * self.aggs_per_pod)
        cores = self._switches(builder, "core", self.aggs_per_pod * self.cores_per_plane)
        self._add_hosts(builder, dict.fromkeys(tors, self.hosts_per_tor))
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
    """Two switches joined by one link: senders on the left (h1, ...), receivers on the right."""

    name: ClassVar[str] = "dumbbell"

    left_hosts: Count = Field(8, description="Hosts under s1, h1 the first.")
    right_hosts: Count = Field(1, description="Hosts under s2, after those.")
    trunk_rate_bps: Rate = Field(3_200_000_000_000, description="Rate of the link between s1 and s2.")
    trunk_delay_ns: Delay = Field(3_000, description="Its propagation delay, one way.")

    def build(self) -> Topology:
        builder = self._builder()
        left, right = (builder.add_switch(name, has_hosts=True) for name in ("s1", "s2"))
        self._add_hosts(builder, {left: self.left_hosts, right: self.right_hosts})
        builder.add_link(left, right, self.trunk_rate_bps, self.trunk_delay_ns)
        return builder.build()


class Star(Shape):
    """One switch and its hosts."""

    name: ClassVar[str] = "star"

    hosts: Count = Field(9, description="Hosts of the one switch.")

    def build(self) -> Topology:
        builder = self._builder()
        switch = builder.add_switch("s1", has_hosts=True)
        self._add_hosts(builder, {switch: self.hosts})
        return builder.build()


SHAPES: Mapping[str, type[Shape]] = {
    shape.name: shape for shape in (Clos, PaperTestbed, PaperSimulation, ThreeTier, Dumbbell, Star)
}


def shape(name: str, parameters: Mapping[str, Any]) -> Shape:
    """The named shape with these parameters. KeyError: unknown name; pydantic's ValidationError: bad values."""
    return SHAPES[name](**parameters)
