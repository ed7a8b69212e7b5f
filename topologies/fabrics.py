# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Shapes of large fabrics: three tiers, k-ary fat tree, rail-optimised pods and dragonfly.

A ToR's position in the network follows from its number, so that neighbouring prefixes share routes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, ClassVar

from pydantic import Field, field_validator, model_validator

from sfc_testbed.topologies.model import MAX_PLANES, Topology, TopologyBuilder
from sfc_testbed.topologies.shape import Count, Delay, Racks, Rate, Shape

_MOST_K = 64
"""A fat tree of 64 ports has 65,536 hosts."""
Planes = Annotated[int, Field(ge=1, le=MAX_PLANES)]
_PLANES = (
    "Equal networks without links between them; each server has a NIC in every plane. Messages of jobs, and messages "
    "that wait for one another, are split over all planes. Each other flow takes a random plane."
)


def _add_switches(builder: TopologyBuilder, kind: str, count: int, *, has_hosts: bool = False) -> list[str]:
    return [builder.add_switch(f"{kind}{number + 1}", has_hosts=has_hosts) for number in range(count)]


class _Tiers(Shape):
    """Common construction of shapes with pods of ToRs and aggregation switches below cores."""

    def build_tiers(
        self, pods: int, tors: int, aggs: int, cores: int, hosts: int, link: tuple[int, int], planes: int = 1
    ) -> Topology:
        """Build `pods` of ToRs and aggregation switches, with `cores` for each aggregation switch of a pod.

        `link` is rate and delay of a link between switches. `planes` is the number of such networks.
        """
        builder = self.new_builder()
        all_tors = _add_switches(builder, "tor", pods * tors, has_hosts=True)
        all_aggs = _add_switches(builder, "agg", pods * aggs)
        all_cores = _add_switches(builder, "core", aggs * cores)
        self.add_hosts(builder, dict.fromkeys(all_tors, hosts))
        for number, tor in enumerate(all_tors):
            first = number // tors * aggs
            _join(builder, tor, all_aggs[first : first + aggs], link)
        for number, agg in enumerate(all_aggs):
            first = number % aggs * cores
            _join(builder, agg, all_cores[first : first + cores], link)
        builder.repeat(planes)
        return builder.build()


def _join(builder: TopologyBuilder, lower: str, uppers: Sequence[str], link: tuple[int, int]) -> None:
    for upper in uppers:
        builder.add_link(lower, upper, *link)


class ThreeTier(Racks, _Tiers):
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
        link = (self.fabric_rate_bps, self.fabric_delay_ns)
        return self.build_tiers(
            self.pods, self.tors_per_pod, self.aggs_per_pod, self.cores_per_plane, self.hosts_per_tor, link
        )


class FatTree(_Tiers):
    """A k-ary fat tree: k pods of k/2 ToRs, k/2 aggregation switches and k^3/4 hosts; all links have one rate.

    Every switch has k ports (Al-Fares et al., SIGCOMM 2008). `three-tier` is the same network with other counts.
    """

    name: ClassVar[str] = "fat-tree"

    k: Annotated[int, Field(ge=2, le=_MOST_K)] = Field(4, description="Ports of each switch, an even number.")
    planes: Planes = Field(1, description=_PLANES)
    host_rate_bps: Rate = Field(100_000_000_000, description="Rate of every link.")
    fabric_delay_ns: Delay = Field(1_500, description="Propagation delay of a link between switches, one way.")

    @field_validator("k")
    @classmethod
    def _is_even(cls, k: int) -> int:
        if k % 2:
            raise ValueError(f"must be even, because half of the ports lead up, not {k}")
        return k

    def build(self) -> Topology:
        half = self.k // 2
        return self.build_tiers(self.k, half, half, half, half, (self.host_rate_bps, self.fabric_delay_ns), self.planes)


class RailPods(Shape):
    """Rail-optimised pods: NIC i of every server of a pod has its link to rail switch i; spines connect all rails.

    Each NIC is a host: h1 to hG are the NICs of the first server with G NICs. Traffic between the rails of a server
    crosses a spine, because no fabric within servers (NVLink) is modelled.
    """

    name: ClassVar[str] = "rail"

    pods: Count = Field(2, description="Number of pods.")
    servers_per_pod: Count = Field(4, description="Servers in each pod.")
    nics_per_server: Count = Field(4, description="NICs of each server, which is also the number of rails of a pod.")
    spines: Count = Field(4, description="Number of spines; each has a link to every rail switch.")
    planes: Planes = Field(1, description=_PLANES)
    host_rate_bps: Rate = Field(400_000_000_000, description="Rate of every NIC's link.")
    fabric_rate_bps: Rate = Field(400_000_000_000, description="Rate of a link between switches.")
    fabric_delay_ns: Delay = Field(1_500, description="Propagation delay of a link between switches, one way.")

    def build(self) -> Topology:
        builder = self.new_builder()
        rails = _add_switches(builder, "rail", self.pods * self.nics_per_server, has_hosts=True)
        spines = _add_switches(builder, "spine", self.spines)
        by_nic = []
        for pod in range(self.pods):
            first = pod * self.nics_per_server
            by_nic += rails[first : first + self.nics_per_server] * self.servers_per_pod
        self.add_hosts_at(builder, by_nic)
        for rail in rails:
            _join(builder, rail, spines, (self.fabric_rate_bps, self.fabric_delay_ns))
        builder.repeat(self.planes)
        return builder.build()


class Dragonfly(Shape):
    """A dragonfly: groups of fully connected routers, with global links that connect every two groups.

    Each of `routers_per_group` (a) routers has `hosts_per_router` (p) hosts and `global_links` (h) links to other
    groups (Kim et al., ISCA 2008). The largest network has a*h + 1 groups. Routes are shortest paths, which may cross
    two global links where a minimal route of the paper has one.
    """

    name: ClassVar[str] = "dragonfly"

    routers_per_group: Count = Field(4, description="a, the routers of each group.")
    hosts_per_router: Count = Field(2, description="p, the hosts of each router.")
    global_links: Count = Field(2, description="h, the links of each router to other groups.")
    groups: Count | None = Field(None, description="Number of groups; null: the most, a*h + 1.")
    fabric_rate_bps: Rate = Field(400_000_000_000, description="Rate of a link between routers.")
    fabric_delay_ns: Delay = Field(1_500, description="Propagation delay of a link within a group, one way.")
    global_delay_ns: Delay = Field(5_000, description="Propagation delay of a link between groups, one way.")

    @model_validator(mode="after")
    def _has_enough_global_links(self) -> Dragonfly:
        most = self.routers_per_group * self.global_links + 1
        if self.groups is not None and not 2 <= self.groups <= most:
            raise ValueError(f"groups: must be from 2 to routers_per_group * global_links + 1 = {most}")
        return self

    def build(self) -> Topology:
        builder = self.new_builder()
        size = self.routers_per_group
        groups = self.groups or size * self.global_links + 1
        routers = _add_switches(builder, "router", groups * size, has_hosts=True)
        self.add_hosts(builder, dict.fromkeys(routers, self.hosts_per_router))
        for group in range(groups):
            members = routers[group * size : (group + 1) * size]
            for place, router in enumerate(members):
                _join(builder, router, members[place + 1 :], (self.fabric_rate_bps, self.fabric_delay_ns))
        for a, b in self._global_pairs(groups):
            builder.add_link(routers[a], routers[b], self.fabric_rate_bps, self.global_delay_ns)
        return builder.build()

    def _global_pairs(self, groups: int) -> Iterator[tuple[int, int]]:
        """Yield the routers at both ends of each global link. Every two groups have the same number of links."""
        size, per_router = self.routers_per_group, self.global_links
        per_pair = size * per_router // (groups - 1)
        for one in range(groups):
            for other in range(one + 1, groups):
                for link in range(per_pair):
                    ends = ((one, (other - one - 1) % groups), (other, (one - other - 1) % groups))
                    a, b = (group * size + (place * per_pair + link) // per_router for group, place in ends)
                    yield a, b
