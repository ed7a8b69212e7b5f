# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Named network shapes: clos, dumbbell, star, the paper's two networks, and the table of all shapes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from sfc_testbed.request.table import Table
from sfc_testbed.topologies.fabrics import Dragonfly, FatTree, RailPods, ThreeTier
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shape import Count, Delay, Racks, Rate
from sfc_testbed.topologies.shape import Shape as Shape


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
    (
        (shape.name, shape)
        for shape in (Clos, PaperTestbed, PaperSimulation, ThreeTier, FatTree, RailPods, Dragonfly, Dumbbell, Star)
    ),
)


def shape(name: str, parameters: Mapping[str, Any]) -> Shape:
    """Return the named shape with these parameters.

    KeyError for an unknown name, pydantic's ValidationError for invalid values.
    """
    return SHAPES[name](**parameters)
