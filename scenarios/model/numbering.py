# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Numbering of requested flows and of their queue pairs."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from scenarios.model.flow import Flow, FlowRequest
from scenarios.model.waiting import any_waits, in_order_of_start


def number_flows(requests: Iterable[FlowRequest]) -> tuple[Flow, ...]:
    """Number flows from 1 in order of start, and queue pairs from 1 at each host and in each direction.

    A persistent queue pair gets its numbers with its first flow. ScenarioError if a message can never become ready.
    """
    unordered = list(requests)
    ordered = in_order_of_start(unordered) if any_waits(unordered) else sorted(unordered, key=attrgetter("start_ns"))
    sent: dict[str, int] = {}
    received: dict[str, int] = {}
    standing: dict[tuple[str, str, int], tuple[int, int]] = {}
    flows: list[Flow] = []
    for flow_id, request in enumerate(ordered, start=1):
        src, dst, pair = request.src, request.dst, request.queue_pair
        numbers = standing.get((src, dst, pair)) if pair else None
        if numbers is None:
            sent[src] = source_qpn = sent.get(src, 0) + 1
            received[dst] = destination_qpn = received.get(dst, 0) + 1
            if pair:
                standing[src, dst, pair] = source_qpn, destination_qpn
        else:
            source_qpn, destination_qpn = numbers
        # Positional arguments are faster, and there may be millions of flows.
        flows.append(
            Flow(
                src,
                dst,
                request.size_bytes,
                request.start_ns,
                request.tag,
                flow_id,
                source_qpn,
                destination_qpn,
                queue_pair=pair,
                after=request.after,
                delay_ns=request.delay_ns,
            )
        )
    return tuple(flows)
