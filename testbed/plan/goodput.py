# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The interval of the goodput trace, from how long a run's flows take at least: fine enough to see what happens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from scenarios.model.flow import FlowRequest
from topologies.model import Topology
from wire.units import serialization_ns

_LEAST_INTERVALS = 50
_LEAST_NS = 1_000
"""A dozen packets at 100 Gb/s."""
_STEPS = (5, 2, 1)


def goodput_interval_ns(topology: Topology, flows: Iterable[FlowRequest], duration_ms: float) -> int:
    """The largest 1, 2 or 5 times a power of ten of which at least fifty fit into the run; never below 1 us.

    A run whose hosts never wait has at most 125 of them; one that takes eight times as long still less than a thousand.
    """
    wanted_ns = min(_shortest_ns(topology, flows), duration_ms * 1e6) / _LEAST_INTERVALS
    interval_ns = _LEAST_NS
    while 10 * interval_ns <= wanted_ns:
        interval_ns *= 10
    return next(step * interval_ns for step in _STEPS if step == 1 or step * interval_ns <= wanted_ns)


def _shortest_ns(topology: Topology, flows: Iterable[FlowRequest]) -> float:
    """Until the last flow has started and the busiest host's link has carried what it has to send or to receive."""
    sent: defaultdict[str, int] = defaultdict(int)
    received: defaultdict[str, int] = defaultdict(int)
    last_start_ns = 0
    for flow in flows:
        size_bytes, start_ns = flow.size_bytes, flow.start_ns
        sent[flow.src] += size_bytes
        received[flow.dst] += size_bytes
        if start_ns > last_start_ns:
            last_start_ns = start_ns
    busy_ns = (
        serialization_ns(size_bytes, topology.host[name].rate_bps)
        for way in (sent, received)
        for name, size_bytes in way.items()
    )
    return max(last_start_ns, max(busy_ns, default=0))
