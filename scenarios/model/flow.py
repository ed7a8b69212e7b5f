# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A flow: one message on a queue pair of its own. Model units."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter

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
    sent: dict[str, int] = {}
    received: dict[str, int] = {}
    flows: list[Flow] = []
    for flow_id, each in enumerate(sorted(requests, key=attrgetter("start_ns")), start=1):
        src, dst = each.src, each.dst
        sent[src] = source_qpn = sent.get(src, 0) + 1
        received[dst] = destination_qpn = received.get(dst, 0) + 1
        # By position: there may be millions.
        flows.append(Flow(src, dst, each.size_bytes, each.start_ns, each.tag, flow_id, source_qpn, destination_qpn))
    return tuple(flows)
