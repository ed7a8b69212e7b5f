# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Base RTT, bottleneck rate and bandwidth-delay product (BDP) of a pair of hosts and of a whole network.

The base RTT of a pair is defined as in the HPCC simulator: twice the propagation delay of its path plus the
serialization of one packet of 1000 B on each link. It is rounded to two digits, as base RTTs are quoted: for links of
1, 1.5, 1.5 and 1 us the SFC paper quotes 10 us, without 0.2 us of serialization. On slow or short links serialization
changes the first two digits; there, propagation alone would give windows too small to fill the path. The pipeline
latency of the switches is included in both directions.

Equally short paths of a pair may differ. Routing may choose each of them, so the pair has the base RTT of its longest
path and the bottleneck rate of its fastest one. A network's base RTT is the RTT of its longest pair, and its BDP is the
largest BDP of any pair (GLOBAL_T of the HPCC simulator). All NICs of one rate have the same window and all switches the
same thresholds, even for near pairs. If hosts have mixed rates, the BDP of a NIC is the largest BDP of the pairs with a
NIC of its rate (docs/sources.md#base-rtt-and-bdp).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

from sfc_testbed.topologies.distances import distances_of
from sfc_testbed.topologies.model import Link, Topology
from sfc_testbed.topologies.routes import Paths
from sfc_testbed.wire.constants import DEFAULT_PAYLOAD_BYTES
from sfc_testbed.wire.roce.packets import data_frame_bytes
from sfc_testbed.wire.units import bandwidth_delay_bytes, serialization_ns, two_digits

BDP_SUFFIX, PACKETS_SUFFIX, RTT_SUFFIX = "_bdp", "_packets", "_rtt"
"""Suffixes of settings that are given as multiples: bytes in BDP or in data packets, ns in base RTTs."""

WINDOWS_PER_RTT, WINDOWS_PER_LINK = 160, 16
"""Windows of departures in a base RTT and in the shortest propagation delay, see `departure_window_ns`."""

_PACKET_BYTES = data_frame_bytes(DEFAULT_PAYLOAD_BYTES, is_last=False)


@dataclass(frozen=True, slots=True)
class PathPhysics:
    """Base RTT, bottleneck and BDP of one pair of hosts."""

    base_rtt_ns: int
    bottleneck_bps: int
    """Rate of the slowest link."""
    propagation_ns: int
    """Propagation and pipeline latency in both directions: the lower bound of a round trip."""

    @property
    def bdp_bytes(self) -> int:
        """Bytes in flight at the bottleneck rate over one base RTT."""
        return bandwidth_delay_bytes(self.bottleneck_bps, self.base_rtt_ns)


_SIZE = attrgetter("bdp_bytes", "base_rtt_ns")


@dataclass(frozen=True)
class NetworkPhysics:
    """Base RTT, bottleneck and BDP of a whole network."""

    base_rtt_ns: int
    """Base RTT of the longest pair."""
    bottleneck_bps: int
    """Bottleneck rate of the pair with the largest BDP."""
    bdp_bytes: int
    """The largest BDP of any pair."""
    nic_rates_bps: Mapping[int, int]
    """The number of hosts of each rate, fastest first."""
    shortest_rtt_ns: int = 0
    """The lower bound of the round trips of all pairs."""
    slowest_bps: int = 0
    """Rate of the slowest bottleneck of any pair: the lowest rate at which a full queue drains."""
    most_switches: int = 0
    """The largest number of switches on the path of any pair."""
    pairs_of_nics: Mapping[int, PathPhysics] = field(default_factory=dict)
    """The pair with the largest BDP for each NIC rate; empty if all hosts have the same rate."""
    packet_bytes: int = data_frame_bytes(DEFAULT_PAYLOAD_BYTES, is_last=True)
    """Size on the wire of the longest data packet, which is the unit of the settings in packets."""

    @property
    def bdp_of_nics(self) -> dict[int, int]:
        """The BDP of NICs by rate; empty if hosts have one rate or the BDP was set for all NICs."""
        return {rate_bps: max(1, pair.bdp_bytes) for rate_bps, pair in self.pairs_of_nics.items()}

    def with_base_rtt(self, base_rtt_ns: int) -> NetworkPhysics:
        """Return a copy with this base RTT and with the BDPs that result from it."""
        bdp_bytes = bandwidth_delay_bytes(self.bottleneck_bps, base_rtt_ns)
        pairs = {rate: replace(pair, base_rtt_ns=base_rtt_ns) for rate, pair in self.pairs_of_nics.items()}
        return replace(self, base_rtt_ns=base_rtt_ns, bdp_bytes=bdp_bytes, pairs_of_nics=pairs)

    def with_bdp(self, bdp_bytes: int) -> NetworkPhysics:
        """Return a copy with this BDP for all NICs."""
        return replace(self, bdp_bytes=bdp_bytes, pairs_of_nics={})

    def with_nics_of(self, most_bps: int) -> NetworkPhysics:
        """Return a copy with NICs of at most this rate and with the BDPs that result from it."""
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
        """Return a copy with data packets of this payload."""
        return replace(self, packet_bytes=data_frame_bytes(payload_bytes, is_last=True))

    def absolute(self, settings: Mapping[str, Any], known: Sequence[str]) -> dict[str, Any]:
        """Convert multiples such as `q_th_bdp` to absolute settings such as `q_th_bytes`.

        `known` has the names of the absolute settings. ValueError for a setting that is given twice in different
        units, or for a multiple that is not a number.
        """
        converted: dict[str, Any] = {}
        source_names: dict[str, str] = {}
        for name, value in settings.items():
            absolute_name, unit = self._unit_of(name)
            if absolute_name not in known or name in known:
                converted[name] = value
                continue
            other = absolute_name if absolute_name in settings else source_names.setdefault(absolute_name, name)
            if other != name:
                raise ValueError(f"{name} and {other} set the same quantity; use only one of them")
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise ValueError(f"{name}: must be a number of at least 0, not {value!r}")
            converted[absolute_name] = round(value * unit)
        return converted

    def typed_as(self, layers: Iterable[Mapping[str, Any]], known: Sequence[str]) -> dict[str, str]:
        """Return the multiples in the layers by their absolute settings, such as `q_th_bytes` -> `q_th_bdp`.

        A multiple that a later layer overrides is left out.
        """
        multiples: dict[str, str] = {}
        for name in (name for layer in layers for name in layer):
            absolute_name, _ = self._unit_of(name)
            if absolute_name in known and name not in known:
                multiples[absolute_name] = name
            else:
                multiples.pop(name, None)
        return multiples

    def _unit_of(self, name: str) -> tuple[str, int]:
        if name.endswith(BDP_SUFFIX):
            return f"{name.removesuffix(BDP_SUFFIX)}_bytes", self.bdp_bytes
        if name.endswith(PACKETS_SUFFIX):
            return f"{name.removesuffix(PACKETS_SUFFIX)}_bytes", self.packet_bytes
        return f"{name.removesuffix(RTT_SUFFIX)}_ns", self.base_rtt_ns


def multiples_of(names: Iterable[str]) -> Iterator[str]:
    """Yield the names of the multiples of these settings: `q_th_bdp`, `trim_queue_packets`, `suppression_rtt`."""
    for name in names:
        for ending, multiple in (("_bytes", BDP_SUFFIX), ("_bytes", PACKETS_SUFFIX), ("_ns", RTT_SUFFIX)):
            if name.endswith(ending):
                yield f"{name.removesuffix(ending)}{multiple}"


def network_physics(topology: Topology) -> NetworkPhysics:
    """Return the physics of a network; a single host is measured to its switch and back."""
    pairs = list(_different_pairs(topology))
    largest = max((pair.physics for pair in pairs), key=_SIZE)
    rates = Counter(host.rate_bps for host in topology.hosts)
    return NetworkPhysics(
        base_rtt_ns=max(pair.physics.base_rtt_ns for pair in pairs),
        bottleneck_bps=largest.bottleneck_bps,
        bdp_bytes=largest.bdp_bytes,
        nic_rates_bps=dict(sorted(rates.items(), reverse=True)),
        shortest_rtt_ns=min(pair.physics.propagation_ns for pair in pairs),
        slowest_bps=min(pair.slowest_bps for pair in pairs),
        most_switches=max(pair.switches for pair in pairs),
        pairs_of_nics=_largest_by_rate((rate_bps, pair.physics) for pair in pairs for rate_bps in pair.nic_rates_bps),
    )


def departure_window_ns(topology: Topology) -> int:
    """Return the window of a live run: frames that are due within it leave together, which saves wake-ups (ours).

    A frame is then at most half a window early or late (docs/sources.md#fidelity): 0.3 % of the base RTT.
    """
    shortest_ns = min(link.delay_ns for link in topology.links)
    return min(network_physics(topology).base_rtt_ns // WINDOWS_PER_RTT, shortest_ns // WINDOWS_PER_LINK)


def _largest_by_rate(pairs: Iterable[tuple[int, PathPhysics]]) -> Mapping[int, PathPhysics]:
    """Return the pair with the largest BDP for each NIC rate, or nothing if there is only one rate."""
    largest: dict[int, PathPhysics] = {}
    for rate_bps, pair in pairs:
        largest[rate_bps] = max(largest.get(rate_bps, pair), pair, key=_SIZE)
    return dict(sorted(largest.items(), reverse=True)) if len(largest) > 1 else {}


@dataclass(frozen=True, slots=True)
class _Pair:
    """A kind of pair of hosts."""

    physics: PathPhysics
    """Base RTT of the longest path, bottleneck of the fastest one, propagation of the shortest one."""
    slowest_bps: int
    """Rate of the slowest link of any path."""
    switches: int
    nic_rates_bps: tuple[int, int]


def _different_pairs(topology: Topology) -> Iterator[_Pair]:
    """Yield each kind of pair of hosts that differs in its links, in the order of `different_paths`."""
    import numpy as np

    kinds = [_link_kinds(topology, tor.name) for tor in topology.tors]
    classes: dict[tuple[tuple[tuple[int, int], bool], ...], int] = {}
    class_of = np.array(
        [
            classes.setdefault(tuple((kind, len(links) == 1) for kind, links in of_tor.items()), len(classes))
            for of_tor in kinds
        ]
    )
    crossed = distances_of(topology).crossings(_PACKET_BYTES)
    columns = np.stack(
        [
            np.broadcast_to(class_of[:, None], crossed.links.shape),
            np.broadcast_to(class_of[None, :], crossed.links.shape),
            np.eye(len(kinds), dtype=np.int64),
            crossed.longest_ns,
            crossed.shortest_ns,
            crossed.fastest_bps,
            crossed.slowest_bps,
            crossed.links,
        ]
    ).reshape(8, -1)
    rows = columns.T[crossed.is_connected.ravel()]
    _, places = np.unique(rows, axis=0, return_index=True)
    of_class = tuple(classes)
    for row in rows[np.sort(places)].tolist():
        target, source, is_same, longest_ns, shortest_ns, fastest_bps, slowest_bps, links = row
        for first, _ in of_class[source]:
            for last, is_alone in of_class[target]:
                if len(topology.hosts) == 1 or not (is_same and is_alone and first == last):
                    ends_ns = 2 * (first[1] + last[1])
                    wires_ns = sum(serialization_ns(_PACKET_BYTES, rate_bps) for rate_bps, _ in (first, last))
                    ends_bps = min(first[0], last[0])
                    physics = PathPhysics(
                        base_rtt_ns=two_digits(longest_ns + ends_ns + wires_ns),
                        bottleneck_bps=min(fastest_bps, ends_bps),
                        propagation_ns=shortest_ns + ends_ns,
                    )
                    yield _Pair(physics, min(slowest_bps, ends_bps), links + 1, (first[0], last[0]))


def different_paths(topology: Topology) -> Iterator[tuple[Link, ...]]:
    """Yield one path for each pair of ToRs and each pair of kinds of host links under them.

    Thousands of hosts have few kinds of links, so this is much less than one path for each pair of hosts.
    """
    paths = Paths(topology)
    tors = [tor.name for tor in topology.tors]
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
