# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A flow list as arrays, for computations over millions of flows."""

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
    """Columns with one entry per flow, in the order of the list. Hosts are indices in the topology."""

    src: Integers
    dst: Integers
    size_bytes: Integers
    start_ns: Integers
    """Start times. For a message that waits for others, the earliest possible start."""


def flow_columns(topology: Topology, flows: Sequence[Flow]) -> FlowColumns:
    """Return the columns of a flow list."""
    index = {host.name: number for number, host in enumerate(topology.hosts)}
    return FlowColumns(
        np.array([index[flow.src] for flow in flows], dtype=np.int64),
        np.array([index[flow.dst] for flow in flows], dtype=np.int64),
        np.array([flow.size_bytes for flow in flows], dtype=np.int64),
        np.array([flow.start_ns for flow in flows], dtype=np.int64),
    )
