# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A flow: one message, on a queue pair of its own or on one that stands between two hosts. Model units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from operator import attrgetter

MAX_SIZE_BYTES = 10_000_000_000
"""Of a message."""
MAX_TAG_CHARACTERS = 255
MAX_QUEUE_PAIRS = 10_000
"""That stand from one host to another."""


@dataclass(frozen=True, slots=True)
class FlowRequest:
    """What a workload asks for: `start_ns` is when the message is ready to be pushed, from the start of the run."""

    src: str
    dst: str
    size_bytes: int
    start_ns: int
    tag: str
    queue_pair: int = field(default=0, kw_only=True)
    """Which of the queue pairs that stand between these hosts, from 1: its messages go one after the other. 0: the
    flow has one of its own."""


@dataclass(frozen=True, slots=True)
class Flow(FlowRequest):
    """A request with its number and its queue pair's numbers at both ends."""

    flow_id: int
    source_qpn: int
    destination_qpn: int


def number_flows(requests: Iterable[FlowRequest]) -> tuple[Flow, ...]:
    """Numbers flows from 1 in order of start, and queue pairs from 1 at each host and in each direction.

    A standing queue pair gets its numbers with its first flow.
    """
    sent: dict[str, int] = {}
    received: dict[str, int] = {}
    standing: dict[tuple[str, str, int], tuple[int, int]] = {}
    flows: list[Flow] = []
    for flow_id, each in enumerate(sorted(requests, key=attrgetter("start_ns")), start=1):
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
            )
        )
    return tuple(flows)
