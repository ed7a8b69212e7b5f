# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A flow list as arrays, for what is reckoned of every flow: there may be millions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scenarios.model.flow import Flow
from topologies.model import Topology

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class FlowColumns:
    """A place for each flow, in the order of the list; hosts by their places in the topology."""

    src: Integers
    dst: Integers
    size_bytes: Integers
    start_ns: Integers
    """Of a message that waits for others: the earliest that can be."""


def flow_columns(topology: Topology, flows: Sequence[Flow]) -> FlowColumns:
    """The columns of a list whose hosts are those of the network."""
    place = {host.name: number for number, host in enumerate(topology.hosts)}
    return FlowColumns(
        np.array([place[flow.src] for flow in flows], dtype=np.int64),
        np.array([place[flow.dst] for flow in flows], dtype=np.int64),
        np.array([flow.size_bytes for flow in flows], dtype=np.int64),
        np.array([flow.start_ns for flow in flows], dtype=np.int64),
    )
