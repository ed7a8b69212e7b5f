# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Distribution of the flows of servers over the planes of a network, each of which has a NIC of every server.

Each flow gets a random plane, like a flow of a server that hashes over its NICs (ours). Messages that wait for one
another and messages of one queue pair stay on one plane, because a NIC knows only its own messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.flow_table import FlowTable, flow_table
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np


def over_planes(requests: Iterable[FlowRequest], topology: Topology, random: np.random.Generator) -> FlowTable:
    """Return the flows between NICs of a plane each. `requests` are flows between hosts of the first plane."""
    import numpy as np

    servers = len(topology.hosts) // topology.planes
    names = tuple(host.name for host in topology.hosts)
    flows = flow_table(requests).with_names(names[:servers])
    together = np.array(_first_of_each(flows), dtype=np.int64)
    offset = (random.integers(topology.planes, size=len(flows))[together] * servers).astype(flows.src.dtype)
    return replace(flows, hosts=names, src=flows.src + offset, dst=flows.dst + offset)


def _first_of_each(flows: FlowTable) -> list[int]:
    """Return for each flow the first flow that it must share a plane with, by position from 0."""
    first = list(range(len(flows)))

    def root(place: int) -> int:
        while first[place] != place:
            first[place] = first[first[place]]
            place = first[place]
        return place

    def join(one: int, other: int) -> None:
        low, high = sorted((root(one), root(other)))
        first[high] = low

    for place, (after, _) in flows.waits.items():
        for number in after:
            join(place, number - 1)
    pairs: dict[tuple[int, int, int], int] = {}
    for place in flows.queue_pair.nonzero()[0].tolist():
        pair = (int(flows.src[place]), int(flows.dst[place]), int(flows.queue_pair[place]))
        join(place, pairs.setdefault(pair, place))
    return [root(place) for place in range(len(first))]
