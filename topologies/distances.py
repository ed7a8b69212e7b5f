# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Shortest paths between all ToRs at once, as arrays: thousands of ToRs are planned in seconds.

ToRs and switches are numbered in the order of the topology. NumPy is imported when a network is first measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sfc_testbed.topologies.model import SwitchPort, Topology
from sfc_testbed.wire.units import serialization_ns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNREACHABLE = 0xFFFF


def distances_of(topology: Topology) -> Distances:
    """Return the distances in a network, which are computed once."""
    return topology.derived(Distances)


class Distances:
    """The distances of all switches to all ToRs, in links between switches, and the ports that lead towards a ToR."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._number = {switch.name: number for number, switch in enumerate(topology.switches)}
        self.tors = [self._number[tor.name] for tor in topology.tors]
        """The number of each ToR among all switches."""
        self._rows: dict[str, list[int]] = {}

    def to(self, tor: str) -> Callable[[str], int]:
        """Return a function that returns the distance of a switch to a ToR."""
        if tor not in self._rows:
            self._rows[tor] = self._of_pairs[self.tors.index(self._number[tor])].tolist()
        row, number = self._rows[tor], self._number
        return lambda switch: row[number[switch]]

    def all_to(self, tor: str) -> NDArray[np.int32]:
        """Return the distance of each switch to a ToR."""
        row: NDArray[np.int32] = self._of_pairs[self.tors.index(self._number[tor])]
        return row

    def ports(self, switch: str) -> list[SwitchPort]:
        """Return the ports of a switch that lead to other switches, in order."""
        return [port for port in self._topology.ports[switch] if not port.peer_is_host]

    def nearer(self, switch: str) -> NDArray[np.bool_]:
        """Return for each ToR (row) and each of `ports(switch)` (column) whether the port is on a shortest path."""
        peers = [self._number[port.peer.node] for port in self.ports(switch)]
        own = self._of_pairs[:, self._number[switch]]
        is_nearer: NDArray[np.bool_] = (self._of_pairs[:, peers] + 1 == own[:, None]) & (own != UNREACHABLE)[:, None]
        return is_nearer

    @cached_property
    def _of_pairs(self) -> NDArray[np.int32]:
        """The distance of each switch (column) to each ToR (row), by breadth-first searches over all links."""
        import numpy as np

        joining = [link for link in self._topology.links if link.a.node in self._number and link.b.node in self._number]
        ends = np.array([[self._number[link.a.node], self._number[link.b.node]] for link in joining], dtype=np.int64)
        here, there = np.concatenate([ends, ends[:, ::-1]]).T if joining else np.empty((2, 0), dtype=np.int64)
        pairs = np.full((len(self.tors), len(self._number)), UNREACHABLE, dtype=np.int32)
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

    def crossings(self) -> Crossings:
        """Return what a packet meets between switches, on the first of the shortest paths of each pair of ToRs."""
        import numpy as np

        first_hops = _FirstHops(self)
        shape = (len(self.tors), len(self.tors))
        at = np.broadcast_to(np.array(self.tors, dtype=np.int64), shape).copy()
        target = np.broadcast_to(np.arange(shape[0])[:, None], shape)
        passes = np.array([switch.pass_latency_ns for switch in self._topology.switches], dtype=np.int64)
        crossed = Crossings.begin(passes[at])
        for _ in range(int(self._of_pairs[self._of_pairs != UNREACHABLE].max(initial=0))):
            link = first_hops.link[target, at]
            moves = link >= 0
            at = np.where(moves, first_hops.peer[target, at], at)
            crossed = crossed.over(first_hops.links[link], passes[at], moves)
        is_connected = at == np.array(self.tors)[:, None]
        return crossed if is_connected.all() else crossed.only(is_connected)


class _FirstHops:
    """The first link on the shortest paths from each switch to each ToR."""

    def __init__(self, distances: Distances) -> None:
        import numpy as np

        topology = distances._topology
        shape = (len(distances.tors), len(topology.switches))
        self.link = np.full(shape, -1, dtype=np.int64)
        """Row of `links` by ToR and switch; -1 at the ToR itself, and where there is no path."""
        self.peer = np.zeros(shape, dtype=np.int64)
        rows: list[tuple[int, int]] = []
        for number, switch in enumerate(topology.switches):
            ports = distances.ports(switch.name)
            if not ports:
                continue
            nearer = distances.nearer(switch.name)
            first = nearer.argmax(axis=1)
            has_path = nearer.any(axis=1)
            self.link[has_path, number] = len(rows) + first[has_path]
            peers = np.array([distances._number[port.peer.node] for port in ports])
            self.peer[:, number] = peers[first]
            rows += [(port.rate_bps, port.delay_ns) for port in ports]
        self.links = np.array(rows or [(0, 0)], dtype=np.int64)
        """Rate and delay of each link."""


@dataclass(frozen=True)
class Crossings:
    """Sums over the links and switches between two ToRs; arrays by target and source ToR."""

    delay_ns: NDArray[np.int64]
    """Propagation on links between switches, and the latency of all switches."""
    links: NDArray[np.int64]
    rates_bps: tuple[NDArray[np.int64], ...]
    """The rates of the links in order; 0 behind the last link."""
    is_connected: NDArray[np.bool_] | None = None
    """Whether there is a path; None: between all ToRs."""

    @classmethod
    def begin(cls, passes_ns: NDArray[np.int64]) -> Crossings:
        import numpy as np

        return cls(passes_ns, np.zeros_like(passes_ns), ())

    def over(self, links: NDArray[np.int64], passes_ns: NDArray[np.int64], moves: NDArray[np.bool_]) -> Crossings:
        """Return the sums after one more link and switch, for the pairs that move."""
        rate_bps, delay_ns = links[..., 0] * moves, links[..., 1]
        return Crossings(
            self.delay_ns + (delay_ns + passes_ns) * moves, self.links + moves, (*self.rates_bps, rate_bps)
        )

    def only(self, is_connected: NDArray[np.bool_]) -> Crossings:
        return Crossings(self.delay_ns, self.links, self.rates_bps, is_connected)

    def wires_ns(self, frame_bytes: int) -> NDArray[Any]:
        """Return the sum of the times in which the links send a frame."""
        import numpy as np

        total = np.zeros_like(self.delay_ns)
        for rates in self.rates_bps:
            distinct, places = np.unique(rates, return_inverse=True)
            times = [serialization_ns(frame_bytes, int(rate)) if rate else 0 for rate in distinct]
            total = total + np.array(times, dtype=np.int64)[places].reshape(rates.shape)
        return total

    def slowest_bps(self) -> NDArray[np.int64]:
        """Return the rate of the slowest link; the largest number of 63 bits without links."""
        import numpy as np

        most = np.full_like(self.delay_ns, np.iinfo(np.int64).max)
        for rates in self.rates_bps:
            most = np.where(rates > 0, np.minimum(most, rates), most)
        return most
