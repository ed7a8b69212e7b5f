# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The best of the shortest paths between two ToRs, where equally short paths have different rates or delays.

Paths are not enumerated. For each ToR, the switches are visited by increasing distance, and the best ways of a switch
follow from those of its next hops (dynamic programming). A way is left out if another one is at least as good on
every link. In a network of equal links each pair of ToRs has one way.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sfc_testbed.topologies.distances import distances_of
from sfc_testbed.topologies.model import Topology, TopologyError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_WAYS = 32
"""The number of ways that a switch keeps. More ways become one with the best rate and delay of each link."""


class Wire(NamedTuple):
    """One direction of a link."""

    rate_bps: int
    delay_ns: int

    def is_at_least(self, other: Wire) -> bool:
        """Whether frames arrive over this link no later than over the other one."""
        return self.rate_bps >= other.rate_bps and self.delay_ns <= other.delay_ns


class Way(NamedTuple):
    """The links between two ToRs in the order in which a packet crosses them."""

    wires: tuple[Wire, ...]
    passes_ns: int
    """The pipeline latency of all switches, one way."""

    def behind(self, wire: Wire, passes_ns: int) -> Way:
        """Return this way with one more switch and its link in front."""
        return Way((wire, *self.wires), passes_ns + self.passes_ns)

    def is_at_least(self, other: Way) -> bool:
        pairs = zip(self.wires, other.wires, strict=True)
        return self.passes_ns <= other.passes_ns and all(ours.is_at_least(theirs) for ours, theirs in pairs)


class Fabric(NamedTuple):
    """The shortest paths between two ToRs."""

    ways: tuple[Way, ...]
    """The best paths. No path is at least as good as another one on every link."""
    capacity_bps: float
    """An upper bound of the rate over all shortest paths together."""


def equal_paths_of(topology: Topology) -> EqualPaths:
    """Return the shortest paths of a network, which are computed once."""
    return topology.derived(EqualPaths)


class EqualPaths:
    """The shortest paths between the ToRs of a network, computed for each ToR when it is first asked for."""

    def __init__(self, topology: Topology) -> None:
        import numpy as np

        self._distances = distances_of(topology)
        self._row = {tor.name: row for row, tor in enumerate(topology.tors)}
        self._steps = self._distances.steps
        kinds: dict[Wire, int] = {}
        wires = map(Wire, self._steps.rate_bps.tolist(), self._steps.delay_ns.tolist())
        self._kind = np.array([kinds.setdefault(wire, len(kinds)) for wire in wires], dtype=np.int64)
        self._wires = tuple(kinds)
        self._passes_ns = np.array([switch.pass_latency_ns for switch in topology.switches], dtype=np.int64)
        self._bundles: dict[tuple[Way, ...], int] = {}
        """The number of each set of ways."""
        self._ways: list[tuple[Way, ...]] = []
        self._extended: dict[tuple[int, ...], int] = {}
        self._to: dict[str, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}

    def between(self, source: str, target: str) -> Fabric:
        """Return the shortest paths from one ToR to another. Both directions have the same rates."""
        bundles, there_bps = self._towards(target)
        _, back_bps = self._towards(source)
        bundle = int(bundles[self._row[source]])
        if bundle < 0:
            raise TopologyError(f"there is no path from {source} to {target}")
        capacity_bps = min(there_bps[self._row[source]], back_bps[self._row[target]])
        return Fabric(self._ways[bundle], float(capacity_bps))

    def _towards(self, tor: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return for each ToR the number of its ways to a ToR, and an upper bound of its rate to this ToR."""
        if tor not in self._to:
            self._to[tor] = self._by_distance(tor)
        return self._to[tor]

    def _by_distance(self, tor: str) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        import numpy as np

        hops = self._distances.all_to(tor)
        own = self._distances.number[tor]
        bundles = np.full(hops.size, -1, dtype=np.int64)
        bundles[own] = self._bundle([Way((), int(self._passes_ns[own]))])
        capacity_bps = np.zeros(hops.size)
        capacity_bps[own] = np.inf
        for steps in self._steps.towards(hops):
            here, there = self._steps.here[steps], self._steps.there[steps]
            rates_bps = np.minimum(self._steps.rate_bps[steps], capacity_bps[there])
            capacity_bps += np.bincount(here, weights=rates_bps, minlength=hops.size)
            columns = np.stack([self._passes_ns[here], self._kind[steps], bundles[there]])
            if (columns == columns[:, :1]).all():
                passes_ns, *choice = columns[:, 0].tolist()
                bundles[here] = self._extend(passes_ns, [choice])
                continue
            choices = np.unique(np.stack([here, *columns]), axis=1)
            switches, begins = np.unique(choices[0], return_index=True)
            rows = choices[2:].T.tolist()
            for switch, begin, end in zip(switches.tolist(), begins, [*begins[1:], len(rows)], strict=True):
                bundles[switch] = self._extend(int(self._passes_ns[switch]), rows[begin:end])
        return bundles[self._distances.tors], capacity_bps[self._distances.tors]

    def _extend(self, passes_ns: int, choices: Sequence[Sequence[int]]) -> int:
        """Return the number of the ways of a switch, whose next hops are given by kind of link and number of ways."""
        key = (passes_ns, *(number for choice in choices for number in choice))
        if key not in self._extended:
            longer = (
                way.behind(self._wires[kind], passes_ns) for kind, bundle in choices for way in self._ways[bundle]
            )
            self._extended[key] = self._bundle(_best(longer))
        return self._extended[key]

    def _bundle(self, ways: Iterable[Way]) -> int:
        key = tuple(ways)
        if key not in self._bundles:
            self._bundles[key] = len(self._ways)
            self._ways.append(key)
        return self._bundles[key]


def _best(ways: Iterable[Way]) -> list[Way]:
    """Return the ways that no other one equals or exceeds on every link."""
    best: list[Way] = []
    for way in ways:
        if not any(other.is_at_least(way) for other in best):
            best = [other for other in best if not way.is_at_least(other)] + [way]
    if len(best) <= MOST_WAYS:
        return sorted(best)
    wires = (
        Wire(max(wire.rate_bps for wire in of_link), min(wire.delay_ns for wire in of_link))
        for of_link in zip(*(way.wires for way in best), strict=True)
    )
    return [Way(tuple(wires), min(way.passes_ns for way in best))]
