# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of collectives with their algorithms. An algorithm is a class in a file of this folder and a row here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sfc_testbed.request.table import Table
from sfc_testbed.scenarios.traffic.collectives.all_to_all import (
    AllToAllAtOnce,
    ExpertsAtOnce,
    ShiftedAllToAll,
    ShiftedExperts,
)
from sfc_testbed.scenarios.traffic.collectives.pipeline import GPipe
from sfc_testbed.scenarios.traffic.collectives.recursive import (
    RecursiveAllGather,
    RecursiveAllReduce,
    RecursiveReduceScatter,
)
from sfc_testbed.scenarios.traffic.collectives.ring import (
    ChainBroadcast,
    RingAllGather,
    RingAllReduce,
    RingReduceScatter,
)
from sfc_testbed.scenarios.traffic.collectives.schedule import CollectiveAlgorithm
from sfc_testbed.scenarios.traffic.collectives.trees import TreeAllReduce, TreeBroadcast


def _others(ranks: int) -> float:
    return (ranks - 1) / ranks


def _twice_others(ranks: int) -> float:
    return 2 * (ranks - 1) / ranks


def _one(ranks: int) -> float:
    return 1.0


@dataclass(frozen=True)
class Collective:
    """A collective: its algorithms, the first of which is the default, and its factor of the bus bandwidth."""

    algorithms: Table[type[CollectiveAlgorithm]]
    bus_factor: Callable[[int], float]
    """The bus bandwidth divided by the algorithm bandwidth, for a number of ranks."""


_ALGORITHMS: Mapping[str, tuple[Mapping[str, type[CollectiveAlgorithm]], Callable[[int], float]]] = {
    "all-reduce": (
        {"ring": RingAllReduce, "double-binary-tree": TreeAllReduce, "recursive": RecursiveAllReduce},
        _twice_others,
    ),
    "all-gather": ({"ring": RingAllGather, "recursive": RecursiveAllGather}, _others),
    "reduce-scatter": ({"ring": RingReduceScatter, "recursive": RecursiveReduceScatter}, _others),
    "all-to-all": ({"at-once": AllToAllAtOnce, "shifted": ShiftedAllToAll}, _others),
    "broadcast": ({"ring": ChainBroadcast, "double-binary-tree": TreeBroadcast}, _one),
    "pipeline": ({"gpipe": GPipe}, _one),
    "moe": ({"at-once": ExpertsAtOnce, "shifted": ShiftedExperts}, _twice_others),
}
COLLECTIVES: Mapping[str, Collective] = {
    name: Collective(Table(f"algorithm of {name}", rows), bus_factor)
    for name, (rows, bus_factor) in _ALGORITHMS.items()
}
