# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The interval of the goodput trace, derived from the shortest possible duration of the run's flows."""

from __future__ import annotations

import numpy as np

from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.units import serialization_ns

_LEAST_INTERVALS = 50
_LEAST_NS = 1_000
"""The duration of about a dozen packets at 100 Gb/s."""
_STEPS = (5, 2, 1)


def goodput_interval_ns(topology: Topology, flows: FlowTable, duration_ms: float) -> int:
    """Return the largest 1, 2 or 5 times a power of ten that fits at least fifty times into the run, but at least 1 us.

    A run whose hosts never wait has at most 125 intervals. A run that takes eight times as long has fewer than 1000.
    """
    limit_ns = min(_shortest_ns(topology, flows), duration_ms * 1e6) / _LEAST_INTERVALS
    interval_ns = _LEAST_NS
    while 10 * interval_ns <= limit_ns:
        interval_ns *= 10
    return next(step * interval_ns for step in _STEPS if step == 1 or step * interval_ns <= limit_ns)


def _shortest_ns(topology: Topology, flows: FlowTable) -> float:
    """Return the time until the last flow has started, or until the busiest host's link has carried its bytes."""
    hosts = [topology.host[name] for name in flows.hosts]
    busy_ns = (
        serialization_ns(int(size_bytes), host.rate_bps)
        for direction in (flows.src, flows.dst)
        for size_bytes, host in zip(np.bincount(direction, flows.size_bytes), hosts, strict=False)
    )
    return max(int(flows.start_ns.max(initial=0)), max(busy_ns, default=0))
