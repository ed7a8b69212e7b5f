# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Distribution of the flows of servers over the planes of a network, each of which has a NIC of every server.

Each flow gets a random plane, like a flow of a server that hashes over its NICs; flows of one queue pair share a plane.
The messages of jobs, and messages that wait for one another, are split: every plane carries an equal part of each
message, like the channels into which NCCL divides a collective. A part waits only for parts on its own plane, because
a NIC knows only its own messages (ours).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.flow_table import FlowTable, Wait, flow_table
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np


_KEPT = ("tag", "start_ns", "queue_pair", "source_qpn", "destination_qpn", "jobs")
"""Columns that are the same in every part of a message."""


def over_planes(requests: Iterable[FlowRequest], topology: Topology, random: np.random.Generator) -> FlowTable:
    """Return the flows between NICs of a plane each. `requests` are flows between hosts of the first plane."""
    import numpy as np

    planes = topology.planes
    servers = len(topology.hosts) // planes
    names = tuple(host.name for host in topology.hosts)
    flows = flow_table(requests).with_names(names[:servers])
    together = np.array(_first_of_each(flows), dtype=np.int64)
    is_split = np.zeros(len(flows), dtype=bool)
    is_split[together[flows.job > 0]] = True
    is_split[together[list(flows.waits)]] = True
    is_split = is_split[together]
    parts = np.where(is_split, planes, 1)
    whole = np.repeat(np.arange(len(flows)), parts)
    first = np.cumsum(parts) - parts
    part = np.arange(len(whole)) - first[whole]
    plane = np.where(is_split[whole], part, random.integers(planes, size=len(flows))[together][whole])
    size_bytes = flows.size_bytes[whole]
    even = size_bytes * (part + 1) // planes - size_bytes * part // planes
    offset = (plane * servers).astype(flows.src.dtype)
    return replace(
        flows,
        **{name: getattr(flows, name)[whole] for name in _KEPT},
        hosts=names,
        src=flows.src[whole] + offset,
        dst=flows.dst[whole] + offset,
        size_bytes=np.where(is_split[whole], np.maximum(even, 1), size_bytes),
        waits=dict(_waits_of_parts(flows, first.tolist(), planes)),
    )


def _waits_of_parts(flows: FlowTable, first: Sequence[int], planes: int) -> Iterator[tuple[int, Wait]]:
    """Yield what each part waits for, by its position. `first` has the position of the first part of each message."""
    for place, (after, delay_ns) in flows.waits.items():
        for part in range(planes):
            yield first[place] + part, (tuple(first[number - 1] + part + 1 for number in after), delay_ns)


def _first_of_each(flows: FlowTable) -> list[int]:
    """Return for each flow the first flow that it must share its planes with, by position from 0."""
    first = list(range(len(flows)))

    def root(place: int) -> int:
        while first[place] != place:
            first[place] = first[first[place]]
            place = first[place]
        return place

    def join(one: int, other: int) -> None:
        low, high = sorted((root(one), root(other)))
        first[high] = low

    for place, (after, _) in flows.waits.items():
        for number in after:
            join(place, number - 1)
    pairs: dict[tuple[int, int, int], int] = {}
    for place in flows.queue_pair.nonzero()[0].tolist():
        pair = (int(flows.src[place]), int(flows.dst[place]), int(flows.queue_pair[place]))
        join(place, pairs.setdefault(pair, place))
    return [root(place) for place in range(len(first))]
