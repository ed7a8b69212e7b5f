# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A flow: one message on a queue pair of its own. Model units."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

MAX_SIZE_BYTES = 10_000_000_000
"""Of a message."""
MAX_TAG_CHARACTERS = 255


@dataclass(frozen=True, slots=True)
class FlowRequest:
    """What a workload asks for: `start_ns` is when the message is ready to be pushed, from the start of the run."""

    src: str
    dst: str
    size_bytes: int
    start_ns: int
    tag: str


@dataclass(frozen=True, slots=True)
class Flow(FlowRequest):
    """A request with its number and its queue pair's numbers at both ends."""

    flow_id: int
    source_qpn: int
    destination_qpn: int


def number_flows(requests: Iterable[FlowRequest]) -> tuple[Flow, ...]:
    """Numbers flows from 1 in order of start, and queue pairs from 1 at each host and in each direction."""
    senders: Counter[str] = Counter()
    receivers: Counter[str] = Counter()
    flows: list[Flow] = []
    for flow_id, request in enumerate(sorted(requests, key=lambda each: each.start_ns), start=1):
        senders[request.src] += 1
        receivers[request.dst] += 1
        flows.append(
            Flow(
                src=request.src,
                dst=request.dst,
                size_bytes=request.size_bytes,
                start_ns=request.start_ns,
                tag=request.tag,
                flow_id=flow_id,
                source_qpn=senders[request.src],
                destination_qpn=receivers[request.dst],
            )
        )
    return tuple(flows)
