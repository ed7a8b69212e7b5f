# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Shortest paths between all ToRs at once, as arrays: thousands of ToRs are planned in seconds.

ToRs and switches are numbered in the order of the topology. NumPy is imported when a network is first measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sfc_testbed.topologies.model import SwitchPort, Topology
from sfc_testbed.wire.units import serialization_ns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNREACHABLE = 0xFFFF
_NO_LINK_BPS = 2**63 - 1


def distances_of(topology: Topology) -> Distances:
    """Return the distances in a network, which are computed once."""
    return topology.derived(Distances)


class Distances:
    """The distances of all switches to all ToRs, in links between switches, and the ports that lead towards a ToR."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self.number = {switch.name: number for number, switch in enumerate(topology.switches)}
        """The number of each switch."""
        self.tors = [self.number[tor.name] for tor in topology.tors]
        """The number of each ToR among all switches."""
        self._rows: dict[str, list[int]] = {}

    def to(self, tor: str) -> Callable[[str], int]:
        """Return a function that returns the distance of a switch to a ToR."""
        if tor not in self._rows:
            self._rows[tor] = self._of_pairs[self.tors.index(self.number[tor])].tolist()
        row, number = self._rows[tor], self.number
        return lambda switch: row[number[switch]]

    def all_to(self, tor: str) -> NDArray[np.int32]:
        """Return the distance of each switch to a ToR."""
        row: NDArray[np.int32] = self._of_pairs[self.tors.index(self.number[tor])]
        return row

    def ports(self, switch: str) -> list[SwitchPort]:
        """Return the ports of a switch that lead to other switches, in order."""
        return [port for port in self._topology.ports[switch] if not port.peer_is_host]

    def nearer(self, switch: str) -> NDArray[np.bool_]:
        """Return for each ToR (row) and each of `ports(switch)` (column) whether the port is on a shortest path."""
        peers = [self.number[port.peer.node] for port in self.ports(switch)]
        own = self._of_pairs[:, self.number[switch]]
        is_nearer: NDArray[np.bool_] = (self._of_pairs[:, peers] + 1 == own[:, None]) & (own != UNREACHABLE)[:, None]
        return is_nearer

    @cached_property
    def steps(self) -> Steps:
        import numpy as np

        rows = [
            (self.number[here.node], self.number[there.node], link.rate_bps, link.delay_ns)
            for link in self._topology.links
            for here, there in ((link.a, link.b), (link.b, link.a))
            if here.node in self.number and there.node in self.number
        ]
        return Steps(*np.array(rows, dtype=np.int64).reshape(-1, 4).T)

    @cached_property
    def _of_pairs(self) -> NDArray[np.int32]:
        """The distance of each switch (column) to each ToR (row), by breadth-first searches over all links."""
        import numpy as np

        here, there = self.steps.here, self.steps.there
        pairs = np.full((len(self.tors), len(self.number)), UNREACHABLE, dtype=np.int32)
        for row, tor in zip(pairs, self.tors, strict=True):
            row[tor] = hops = 0
            while True:
                reached = there[row[here] == hops]
                reached = reached[row[reached] == UNREACHABLE]
                if not reached.size:
                    break
                hops += 1
                row[reached] = hops
        return pairs

    def crossings(self, frame_bytes: int) -> Crossings:
        """Return what a frame meets between switches, over all shortest paths of each pair of ToRs."""
        import numpy as np

        passes_ns = np.array([switch.pass_latency_ns for switch in self._topology.switches], dtype=np.int64)
        wires_ns = self.steps.wires_ns(frame_bytes)
        both_ways_ns = 2 * (self.steps.delay_ns + passes_ns[self.steps.here])
        rows = []
        for tor, hops in zip(self.tors, self._of_pairs, strict=True):
            bounds = _Bounds(hops.size, tor, 2 * int(passes_ns[tor]))
            for taken in self.steps.towards(hops):
                bounds.extend(self.steps, taken, both_ways_ns, wires_ns)
            rows.append(bounds.at(self.tors))
        return Crossings(self._of_pairs[:, self.tors], *np.stack(rows, axis=1))


@dataclass(frozen=True)
class Steps:
    """The links between switches, with a place in each array for either direction."""

    here: NDArray[np.int64]
    there: NDArray[np.int64]
    rate_bps: NDArray[np.int64]
    delay_ns: NDArray[np.int64]

    def towards(self, hops: NDArray[np.int32]) -> Iterator[NDArray[np.int64]]:
        """Yield the places of the steps that lead nearer to a ToR, from the last links of ways to the first ones."""
        import numpy as np

        for distance in range(1, int(hops[hops != UNREACHABLE].max()) + 1):
            yield np.flatnonzero((hops[self.here] == distance) & (hops[self.there] == distance - 1))

    def wires_ns(self, frame_bytes: int) -> NDArray[np.int64]:
        """Return the time in which each link sends a frame."""
        import numpy as np

        distinct, places = np.unique(self.rate_bps, return_inverse=True)
        times = [serialization_ns(frame_bytes, rate_bps) for rate_bps in distinct.tolist()]
        return np.array(times, dtype=np.int64)[places]


@dataclass(frozen=True)
class Crossings:
    """What a frame meets between two ToRs; arrays by target and source ToR. Equally short paths may differ."""

    links: NDArray[np.int32]
    """The number of links between switches; UNREACHABLE: there is no path."""
    longest_ns: NDArray[np.int64]
    """The longest round trip: twice links and switches, and the time to send the frame once on each link."""
    shortest_ns: NDArray[np.int64]
    """The shortest round trip without the times to send."""
    fastest_bps: NDArray[np.int64]
    """Rate of the slowest link of the path on which it is fastest; the largest number of 63 bits without links."""
    slowest_bps: NDArray[np.int64]
    """Rate of the slowest link of any path."""

    @property
    def is_connected(self) -> NDArray[np.bool_]:
        is_connected: NDArray[np.bool_] = self.links != UNREACHABLE
        return is_connected


class _Bounds:
    """Longest, shortest, fastest and slowest ways from each switch to one ToR, found by increasing distance."""

    def __init__(self, switches: int, tor: int, passes_ns: int) -> None:
        import numpy as np

        self._longest_ns = np.zeros(switches, dtype=np.int64)
        self._shortest_ns = np.full(switches, _NO_LINK_BPS)
        self._fastest_bps = np.zeros(switches, dtype=np.int64)
        self._slowest_bps = np.full(switches, _NO_LINK_BPS)
        self._longest_ns[tor] = self._shortest_ns[tor] = passes_ns
        self._fastest_bps[tor] = _NO_LINK_BPS

    def extend(
        self, steps: Steps, taken: NDArray[np.int64], both_ways_ns: NDArray[np.int64], wires_ns: NDArray[np.int64]
    ) -> None:
        """Find the ways of the switches from which these steps lead to a switch with known ways."""
        import numpy as np

        here, there, rate_bps, trip_ns = (
            steps.here[taken],
            steps.there[taken],
            steps.rate_bps[taken],
            both_ways_ns[taken],
        )
        np.maximum.at(self._longest_ns, here, self._longest_ns[there] + trip_ns + wires_ns[taken])
        np.minimum.at(self._shortest_ns, here, self._shortest_ns[there] + trip_ns)
        np.maximum.at(self._fastest_bps, here, np.minimum(self._fastest_bps[there], rate_bps))
        np.minimum.at(self._slowest_bps, here, np.minimum(self._slowest_bps[there], rate_bps))

    def at(self, switches: list[int]) -> NDArray[np.int64]:
        """Return a column for each of these switches, in the order of the fields of Crossings."""
        import numpy as np

        return np.stack([self._longest_ns, self._shortest_ns, self._fastest_bps, self._slowest_bps])[:, switches]
