# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How much slower than the model a run's clock must run. A simple rule until calibration measures the machine."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable

from scenarios.model.flow import Flow
from testbed.plan.switch_targets import SwitchTarget
from topologies.model import Topology

VIRTUAL_DILATION = 1_000

# How much of the cores the packets may use.
_CPU_SHARE = 0.5
_PACKET_BITS = 8 * 1_058

# A base RTT takes no less than this: a sleeper wakes up to 1 ms late.
_LEAST_RTT_WALL_NS = 20_000_000
_STEPS = (1, 2, 3, 5)


def choose_dilation(
    clock: str, target: SwitchTarget, topology: Topology, flows: Iterable[Flow], base_rtt_ns: int
) -> int:
    """The factor D of a run: fixed in virtual time, else so slow that all senders at line rate take half the cores."""
    if clock == "virtual":
        return VIRTUAL_DILATION
    senders = Counter(flow.src for flow in flows)
    packets_per_model_second = sum(topology.host_link[name].rate_bps for name in senders) / _PACKET_BITS
    cores = len(os.sched_getaffinity(0))
    needed = packets_per_model_second * target.cpu_ns_per_packet / 1e9 / (cores * _CPU_SHARE)
    return _round_up(max(_LEAST_RTT_WALL_NS / base_rtt_ns, needed))


def _round_up(value: float) -> int:
    """The next 1, 2, 3 or 5 times a power of ten."""
    magnitude = 1
    while True:
        for step in _STEPS:
            if step * magnitude >= value:
                return step * magnitude
        magnitude *= 10
