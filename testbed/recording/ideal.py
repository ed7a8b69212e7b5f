# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""How long a flow takes in an otherwise idle network at line rate: the divisor of the FCT slowdown (paper section 5.1).

Store and forward: all frames leave the host back to back; the last one then crosses every further wire, behind the one
before it, and its acknowledgment comes back the same way. Model units.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from topologies.model import Link, Topology
from topologies.routes import distances
from wire.roce import ACK_FRAME_BYTES, data_frame_bytes

_BITS_NS = 8_000_000_000


def ideal_fct_ns(path: Sequence[Link], size_bytes: int, payload_bytes: int) -> float:
    """Idle FCT over a path of links, ns. Exact while the first link is the slowest."""
    full, rest = divmod(size_bytes, payload_bytes)
    last_bytes = data_frame_bytes(rest or payload_bytes, is_last=True)
    frames_before = full if rest else full - 1
    full_bytes = data_frame_bytes(payload_bytes, is_last=False)
    before = frames_before * _wire_ns(full_bytes, path[0])  # when the last frame but one has left each wire
    last = before + _wire_ns(last_bytes, path[0])
    for here, onward in pairwise(path):
        before += here.delay_ns + _wire_ns(full_bytes, onward) if frames_before else 0
        last = max(last + here.delay_ns, before) + _wire_ns(last_bytes, onward)
    returning = sum(_wire_ns(ACK_FRAME_BYTES, link) + link.delay_ns for link in path)
    return last + path[-1].delay_ns + returning


def _wire_ns(frame_bytes: int, link: Link) -> float:
    return frame_bytes * _BITS_NS / link.rate_bps


def path_between(topology: Topology, src: str, dst: str) -> list[Link]:
    """The links of a shortest path between two hosts, the first of equals."""
    target = topology.host[dst].switch
    hops = distances(topology, target)
    path = [topology.host_link[src]]
    here = topology.host[src].switch
    while here != target:
        port = next(
            each
            for each in topology.ports[here]
            if not each.peer_is_host and hops.get(each.peer.node, len(hops)) == hops[here] - 1
        )
        path.append(next(link for link in topology.links if link.a.node != src and _joins(link, here, port.number)))
        here = port.peer.node
    path.append(topology.host_link[dst])
    return path


def _joins(link: Link, node: str, number: int) -> bool:
    return any(end.node == node and end.number == number for end in (link.a, link.b))
