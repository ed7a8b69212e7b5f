# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which switches a frame from one ToR to another visits, equal paths shared alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from topologies.model import Topology


def switch_visits(topology: Topology) -> NDArray[np.float64]:
    """Visits of a frame; a row for each pair of ToRs (source x ToRs + destination), a column for each switch."""
    index = {switch.name: number for number, switch in enumerate(topology.switches)}
    tors = [switch.name for switch in topology.switches if switch.is_tor]
    visits = np.zeros((len(tors), len(tors), len(index)))
    for column, target in enumerate(tors):
        towards = _visits_towards(topology, target, index)
        for row, source in enumerate(tors):
            if source in towards:
                visits[row, column] = towards[source]
    return visits.reshape(len(tors) ** 2, len(index))


def _visits_towards(topology: Topology, target: str, index: dict[str, int]) -> dict[str, NDArray[np.float64]]:
    hops = topology.hops[target]
    found: dict[str, NDArray[np.float64]] = {}
    for here in hops:
        found[here] = np.zeros(len(index))
        found[here][index[here]] = 1.0
        nearer = [port.peer.node for port in topology.ports[here] if hops.get(port.peer.node) == hops[here] - 1]
        for following in nearer if here != target else ():
            found[here] += found[following] / len(nearer)
    return found
