# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From what a workload asks for to flows: each gets its number, and its queue pair's."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from scenarios.model.flow import Flow, FlowRequest
from scenarios.model.waiting import any_waits, in_order_of_start


def number_flows(requests: Iterable[FlowRequest]) -> tuple[Flow, ...]:
    """Numbers flows from 1 in order of start, and queue pairs from 1 at each host and in each direction.

    A standing queue pair gets its numbers with its first flow. ScenarioError for messages that wait in vain.
    """
    listed = list(requests)
    ordered = in_order_of_start(listed) if any_waits(listed) else sorted(listed, key=attrgetter("start_ns"))
    sent: dict[str, int] = {}
    received: dict[str, int] = {}
    standing: dict[tuple[str, str, int], tuple[int, int]] = {}
    flows: list[Flow] = []
    for flow_id, each in enumerate(ordered, start=1):
        src, dst, pair = each.src, each.dst, each.queue_pair
        numbers = standing.get((src, dst, pair)) if pair else None
        if numbers is None:
            sent[src] = source_qpn = sent.get(src, 0) + 1
            received[dst] = destination_qpn = received.get(dst, 0) + 1
            if pair:
                standing[src, dst, pair] = source_qpn, destination_qpn
        else:
            source_qpn, destination_qpn = numbers
        # By position: there may be millions.
        flows.append(
            Flow(
                src,
                dst,
                each.size_bytes,
                each.start_ns,
                each.tag,
                flow_id,
                source_qpn,
                destination_qpn,
                queue_pair=pair,
                after=each.after,
                delay_ns=each.delay_ns,
            )
        )
    return tuple(flows)
