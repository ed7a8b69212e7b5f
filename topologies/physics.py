# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What follows from a network: base RTT, bottleneck and bandwidth-delay product (BDP) of a pair of hosts and of all.

The base RTT of a pair is defined as in the HPCC simulator: twice the propagation of its path, and one packet of 1000 B
stored and forwarded once over each of its links. It is rounded to two digits, as base RTTs are quoted: for links of 1,
1.5, 1.5 and 1 us the SFC paper says 10 us and leaves out 0.2 us of serialization. On slow or short links, where
propagation alone would give windows too small to fill a path, serialization shows in the first two digits. What
switches take beyond the delays of their links is part of it, there and back.

A network's base RTT is that of its longest pair, its BDP the largest of any pair (GLOBAL_T of the HPCC simulator): all
NICs of one rate have one window, all switches one set of thresholds, however near a pair is. Where hosts have mixed
rates, the BDP of a NIC is the largest of the pairs that have one of its rate (docs/sources.md#base-rtt-and-bdp).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from topologies.model import Link, Topology
from topologies.routes import Paths
from wire.constants import DEFAULT_PAYLOAD_BYTES
from wire.roce.packets import data_frame_bytes
from wire.units import bandwidth_delay_bytes, serialization_ns, two_digits

BDP_SUFFIX, PACKETS_SUFFIX, RTT_SUFFIX = "_bdp", "_packets", "_rtt"
"""A setting of bytes may be given in BDP or in data packets, one of ns in base RTTs, by these names."""

_PACKET_BYTES = data_frame_bytes(DEFAULT_PAYLOAD_BYTES, is_last=False)


@dataclass(frozen=True, slots=True)
class PathPhysics:
    """Of one pair of hosts."""

    base_rtt_ns: int
    bottleneck_bps: int
    """Rate of the slowest link."""
    propagation_ns: int
    """There and back, with what the switches take: what no round trip is shorter than."""

    @property
    def bdp_bytes(self) -> int:
        """What the pair has in flight at the rate of its bottleneck."""
        return bandwidth_delay_bytes(self.bottleneck_bps, self.base_rtt_ns)


_SIZE = attrgetter("bdp_bytes", "base_rtt_ns")


@dataclass(frozen=True)
class NetworkPhysics:
    """Of all pairs of hosts."""

    base_rtt_ns: int
    """Of the longest pair."""
    bottleneck_bps: int
    """Of the pair with the largest BDP."""
    bdp_bytes: int
    """The largest of any pair."""
    nic_rates_bps: Mapping[int, int]
    """How many hosts there are of each rate, the fastest first."""
    shortest_rtt_ns: int = 0
    """What no round trip of any pair is shorter than."""
    slowest_bps: int = 0
    """Of the slowest bottleneck of any pair: what a full queue drains at, at worst."""
    most_switches: int = 0
    """On the path of any pair."""
    pairs_of_nics: Mapping[int, PathPhysics] = field(default_factory=dict)
    """Where hosts have mixed rates: of the pairs with a NIC of a rate, the one with the largest BDP."""
    packet_bytes: int = data_frame_bytes(DEFAULT_PAYLOAD_BYTES, is_last=True)
    """Of the longest data packet, on the wire: no property of the network, but what some settings are counted in."""

    @property
    def bdp_of_nics(self) -> dict[int, int]:
        """By rate, where hosts have mixed rates and nobody has set one BDP for all."""
        return {rate_bps: max(1, pair.bdp_bytes) for rate_bps, pair in self.pairs_of_nics.items()}

    def with_base_rtt(self, base_rtt_ns: int) -> NetworkPhysics:
        """The same with a round trip that somebody has set; the BDPs follow."""
        bdp_bytes = bandwidth_delay_bytes(self.bottleneck_bps, base_rtt_ns)
        pairs = {rate: replace(pair, base_rtt_ns=base_rtt_ns) for rate, pair in self.pairs_of_nics.items()}
        return replace(self, base_rtt_ns=base_rtt_ns, bdp_bytes=bdp_bytes, pairs_of_nics=pairs)

    def with_bdp(self, bdp_bytes: int) -> NetworkPhysics:
        """The same with a BDP that somebody has set, for all NICs."""
        return replace(self, bdp_bytes=bdp_bytes, pairs_of_nics={})

    def with_nics_of(self, most_bps: int) -> NetworkPhysics:
        """The same with NICs that are no faster than this; the BDP follows."""
        rates: Counter[int] = Counter()
        for rate_bps, hosts in self.nic_rates_bps.items():
            rates[min(rate_bps, most_bps)] += hosts
        slower = replace(
            self,
            bottleneck_bps=min(self.bottleneck_bps, most_bps),
            nic_rates_bps=dict(rates),
            slowest_bps=min(self.slowest_bps, most_bps),
            pairs_of_nics=_largest_by_rate(
                (min(rate, most_bps), replace(pair, bottleneck_bps=min(pair.bottleneck_bps, most_bps)))
                for rate, pair in self.pairs_of_nics.items()
            ),
        )
        return slower if slower.bottleneck_bps == self.bottleneck_bps else slower.with_base_rtt(self.base_rtt_ns)

    def with_payload(self, payload_bytes: int) -> NetworkPhysics:
        """The same with data packets that carry so much."""
        return replace(self, packet_bytes=data_frame_bytes(payload_bytes, is_last=True))

    def absolute(self, settings: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
        """Settings with multiples such as `q_th_bdp` turned into `q_th_bytes`; `known` are the names of settings.

        ValueError for a setting that is given in two ways, or for a multiple that is no number.
        """
        found: dict[str, Any] = {}
        given_as: dict[str, str] = {}
        for name, value in settings.items():
            turned, unit = self._unit_of(name)
            if turned not in known or name in known:
                found[name] = value
                continue
            other = turned if turned in settings else given_as.setdefault(turned, name)
            if other != name:
                raise ValueError(f"{name} and {other} say the same thing; give one of them")
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise ValueError(f"{name}: must be a number of at least 0, not {value!r}")
            found[turned] = round(value * unit)
        return found

    def typed_as(self, layers: Iterable[Mapping[str, Any]], known: Sequence[str]) -> dict[str, str]:
        """Return the multiples of layers by the settings for which they stand, such as `q_th_bytes` -> `q_th_bdp`.

        A multiple that a later layer overrides is left out.
        """
        found: dict[str, str] = {}
        for name in (name for layer in layers for name in layer):
            turned, _ = self._unit_of(name)
            if turned in known and name not in known:
                found[turned] = name
            else:
                found.pop(name, None)
        return found

    def _unit_of(self, name: str) -> tuple[str, int]:
        if name.endswith(BDP_SUFFIX):
            return f"{name.removesuffix(BDP_SUFFIX)}_bytes", self.bdp_bytes
        if name.endswith(PACKETS_SUFFIX):
            return f"{name.removesuffix(PACKETS_SUFFIX)}_bytes", self.packet_bytes
        return f"{name.removesuffix(RTT_SUFFIX)}_ns", self.base_rtt_ns


def multiples_of(names: Iterable[str]) -> Iterator[str]:
    """What settings of these names may be called instead: `q_th_bdp`, `trim_queue_packets`, `suppression_rtt`."""
    for name in names:
        for ending, multiple in (("_bytes", BDP_SUFFIX), ("_bytes", PACKETS_SUFFIX), ("_ns", RTT_SUFFIX)):
            if name.endswith(ending):
                yield f"{name.removesuffix(ending)}{multiple}"


def path_physics(path: Sequence[Link], passes_ns: int = 0) -> PathPhysics:
    """Of a path from host to host, whose switches take so long in all."""
    propagation_ns = passes_ns + sum(link.delay_ns for link in path)
    wires_ns = sum(serialization_ns(_PACKET_BYTES, link.rate_bps) for link in path)
    return PathPhysics(
        base_rtt_ns=two_digits(2 * propagation_ns + wires_ns),
        bottleneck_bps=min(link.rate_bps for link in path),
        propagation_ns=2 * propagation_ns,
    )


def network_physics(topology: Topology) -> NetworkPhysics:
    """Of a network; one with a single host is measured from that host to its switch and back."""
    paths = list(_different_paths(topology))
    pairs = [path_physics(path, passes_ns(topology, path)) for path in paths]
    largest = max(pairs, key=_SIZE)
    rates = Counter(host.rate_bps for host in topology.hosts)
    return NetworkPhysics(
        base_rtt_ns=max(pair.base_rtt_ns for pair in pairs),
        bottleneck_bps=largest.bottleneck_bps,
        bdp_bytes=largest.bdp_bytes,
        nic_rates_bps=dict(sorted(rates.items(), reverse=True)),
        shortest_rtt_ns=min(pair.propagation_ns for pair in pairs),
        slowest_bps=min(pair.bottleneck_bps for pair in pairs),
        most_switches=max(len(path) for path in paths) - 1,
        pairs_of_nics=_largest_by_rate(
            (end.rate_bps, pair) for path, pair in zip(paths, pairs, strict=True) for end in (path[0], path[-1])
        ),
    )


def _largest_by_rate(pairs: Iterable[tuple[int, PathPhysics]]) -> Mapping[int, PathPhysics]:
    """Of pairs and the rates of the NICs at their ends: the largest of each rate; nothing where all are of one."""
    found: dict[int, PathPhysics] = {}
    for rate_bps, pair in pairs:
        found[rate_bps] = max(found.get(rate_bps, pair), pair, key=_SIZE)
    return dict(sorted(found.items(), reverse=True)) if len(found) > 1 else {}


def passes_ns(topology: Topology, path: Sequence[Link]) -> int:
    """What the switches of a path take, one way: every one is the beginning of one link."""
    switches = {end.node for link in path for end in (link.a, link.b) if end.node in topology.switch}
    return sum(topology.switch[name].pass_latency_ns for name in switches)


def _different_paths(topology: Topology) -> Iterator[tuple[Link, ...]]:
    """A path for every pair of ToRs and of kinds of host links there: thousands of hosts have few kinds of link."""
    paths = Paths(topology)
    tors = [switch.name for switch in topology.switches if switch.is_tor]
    kinds = {tor: _link_kinds(topology, tor) for tor in tors}
    for target in tors:
        fabric = paths.across_fabric(target)
        for source in tors:
            for first in kinds[source]:
                for last in kinds[target]:
                    is_one_host = source == target and len(kinds[target][last]) == 1 and first == last
                    if len(topology.hosts) == 1 or not is_one_host:
                        yield (kinds[source][first][0], *fabric[source], kinds[target][last][0])


def _link_kinds(topology: Topology, tor: str) -> Mapping[tuple[int, int], list[Link]]:
    kinds: dict[tuple[int, int], list[Link]] = {}
    for host in topology.hosts_of(tor):
        link = topology.host_link[host.name]
        kinds.setdefault((link.rate_bps, link.delay_ns), []).append(link)
    return kinds
