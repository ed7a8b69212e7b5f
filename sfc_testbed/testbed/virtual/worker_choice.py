# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Chooses the number of workers for a run in virtual time, from its plan and the idle cores of this machine.

More workers share the packets but wait for each other after every round, so a run with few packets per round is fastest
in one process. The estimates are rough: they only have to tell these cases apart.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.virtual.part import lookahead_ns
from sfc_testbed.testbed.virtual.shares import largest_share, racks_of
from sfc_testbed.testbed.virtual.work import planned_packets

PACKET_NS = 5_000
"""CPU time for a data packet and its acknowledgement, in NICs and switches."""
EXCHANGE_NS = 25_000
"""Time for the exchange with each other worker in a round: copies, and waiting, since loads differ in a round."""
START_NS = 100_000_000
"""Time to start workers and to collect their results."""
LEAST_GAIN = 1.3
"""The least ratio of the times with one and with several workers that is worth the memory and the other cores."""
_ROUNDS_PER_PACKET = 4
"""An upper bound: rounds without any event do not take place."""


def best_workers(plan: RunPlan, cores: int, idle_cores: Callable[[], int]) -> int:
    """Return the number of workers with the shortest expected run time, at most one per idle core and per rack.

    `idle_cores` takes some time, so it is called only if several workers are worth it.
    """
    best = _best_workers(plan, cores)
    return best if best == 1 else _best_workers(plan, min(cores, idle_cores()))


def _best_workers(plan: RunPlan, cores: int) -> int:
    if plan.config.clock != "virtual" or not plan.flows:
        return 1
    packets, rounds = planned_packets(plan), _rounds(plan)
    times_ns = {1: float(PACKET_NS * packets)}
    for workers in range(2, min(cores, len(racks_of(plan.topology))) + 1):
        share = largest_share(plan.topology, plan.columns, workers)
        times_ns[workers] = PACKET_NS * packets * share + EXCHANGE_NS * (workers - 1) * rounds + START_NS
    best = min(times_ns, key=times_ns.__getitem__)
    return best if times_ns[1] >= LEAST_GAIN * times_ns[best] else 1


def _rounds(plan: RunPlan) -> float:
    """Return the expected number of rounds: the run lasts until the busiest NIC has carried all its bytes."""
    topology, columns = plan.topology, plan.columns
    rates_bps = np.array([topology.host_link[host.name].rate_bps for host in topology.hosts])
    bytes_of_hosts = [
        np.bincount(ends, columns.size_bytes, minlength=len(rates_bps)) for ends in (columns.src, columns.dst)
    ]
    busiest_ns = 8e9 * float((np.maximum(*bytes_of_hosts) / rates_bps).max())
    span_ns = min(float(columns.start_ns.max()) + busiest_ns, plan.config.duration_ms * 1e6)
    round_ns = lookahead_ns(topology, plan.dilation) / plan.dilation.factor
    return min(span_ns / round_ns, _ROUNDS_PER_PACKET * planned_packets(plan))
