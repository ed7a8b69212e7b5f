# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How much slower than the model a run's clock must run. A simple rule until calibration measures the machine."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping

from scenarios.model.flow import Flow
from topologies.model import Topology

VIRTUAL_DILATION = 1_000

# What one data packet and its acknowledgment cost all processes together on a plain core, by switch target, and how
# much of the cores they may use. Generous: too slow a clock costs time, too fast a one costs the run's verdict.
_CPU_NS_PER_PACKET: Mapping[str, int] = {"soft": 60_000, "bmv2": 500_000}
_CPU_SHARE = 0.5
_PACKET_BITS = 8 * 1_058

# A base RTT takes no less than this: a sleeper wakes up to 1 ms late.
_LEAST_RTT_WALL_NS = 20_000_000
_STEPS = (1, 2, 3, 5)


def choose_dilation(clock: str, switch: str, topology: Topology, flows: Iterable[Flow], base_rtt_ns: int) -> int:
    """The factor D of a run: fixed in virtual time, else so slow that all senders at line rate take half the cores."""
    if clock == "virtual":
        return VIRTUAL_DILATION
    senders = Counter(flow.src for flow in flows)
    packets_per_model_second = sum(topology.host_link[name].rate_bps for name in senders) / _PACKET_BITS
    cores = len(os.sched_getaffinity(0))
    needed = packets_per_model_second * _CPU_NS_PER_PACKET[switch] / 1e9 / (cores * _CPU_SHARE)
    return _round_up(max(_LEAST_RTT_WALL_NS / base_rtt_ns, needed))


def _round_up(value: float) -> int:
    """The next 1, 2, 3 or 5 times a power of ten."""
    magnitude = 1
    while True:
        for step in _STEPS:
            if step * magnitude >= value:
                return step * magnitude
        magnitude *= 10
