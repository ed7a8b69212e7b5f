# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""FCT of a flow in an otherwise idle network at line rate: the divisor of the FCT slowdown (paper section 5.1).

The network is store-and-forward. All frames leave the host back to back. The last frame crosses every further link
behind the frame before it, and its acknowledgment returns on the same path. If switches spray packets, the last frame
may take another path, and need not wait for the frame before it between switches. Times are model time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.topologies.model import Host, Link, Topology
from sfc_testbed.topologies.physics import passes_ns
from sfc_testbed.topologies.routes import Paths
from sfc_testbed.wire.roce.packets import ACK_FRAME_BYTES, data_frame_bytes

_BITS_NS = 8_000_000_000
_LINKS_IN_A_RACK = 2

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def ideal_fct_ns(
    path: Sequence[Link],
    size_bytes: int,
    payload_bytes: int,
    switches_ns: int = 0,
    *,
    nic_bps: int | None = None,
    is_sprayed: bool = False,
) -> float:
    """Return the idle FCT over a path of links in ns. `switches_ns` is the time in all switches, one way.

    `nic_bps` limits the rate of the NICs. The result is exact if no window stops the sender, since frames queue before
    a slower link.
    """
    ways = _Ways.over(path, nic_bps)
    sizes_bytes = np.array([size_bytes])
    return float(_over_path(ways, sizes_bytes, payload_bytes, switches_ns, is_sprayed=is_sprayed).acknowledged[0])


@dataclass(frozen=True, slots=True)
class IdealTimes:
    """Ideal times of flows, in ns after a flow is ready. One entry per flow."""

    sent: Floats
    """The last bit leaves the source host."""
    delivered: Floats
    acknowledged: Floats
    """The last acknowledgment arrives at the sender: the idle FCT."""
    arriving: Floats
    """The time for which the last link carries the message."""


@dataclass(frozen=True, slots=True)
class _Ways:
    """The links of a path in both directions. A NIC may be slower than its link, which lowers the rate one way."""

    forward: Sequence[Link]
    back: Sequence[Link]

    @classmethod
    def over(cls, path: Sequence[Link], nic_bps: int | None) -> _Ways:
        if nic_bps is None:
            return cls(path, path)
        first, last = (replace(link, rate_bps=min(link.rate_bps, nic_bps)) for link in (path[0], path[-1]))
        return cls((first, *path[1:]), (*path[:-1], last))


def ideal_times_ns(
    topology: Topology, flows: FlowTable, payload_bytes: int, *, nic_bps: int | None = None, is_sprayed: bool = False
) -> IdealTimes:
    """Return the ideal times of all flows, whose hosts are in the order of the topology.

    A path is computed once per pair of racks. Hosts of one switch form a rack if their links are equal.
    """
    racks: dict[tuple[object, ...], int] = {}
    hosts: list[Host] = []
    rack_of = np.zeros(len(topology.hosts), dtype=np.int64)
    for number, host in enumerate(topology.hosts):
        link = topology.host_link[host.name]
        rack_of[number] = racks.setdefault((host.switch, link.rate_bps, link.delay_ns), len(racks))
        if len(racks) > len(hosts):
            hosts.append(host)
    pairs = rack_of[flows.src] * len(racks) + rack_of[flows.dst]
    order = np.argsort(pairs, kind="stable")
    paths = Paths(topology)
    columns = np.empty((4, pairs.size))
    for pair, members in _groups(pairs[order], order):
        src, dst = (hosts[rack].name for rack in divmod(pair, len(racks)))
        path = paths.between(src, dst)
        sizes_bytes = flows.size_bytes[members]
        ways = _Ways.over(path, nic_bps)
        times = _over_path(ways, sizes_bytes, payload_bytes, passes_ns(topology, path), is_sprayed=is_sprayed)
        columns[:, members] = times.sent, times.delivered, times.acknowledged, times.arriving
    return IdealTimes(*columns)


def _groups(ordered: Integers, members: Integers) -> list[tuple[int, Integers]]:
    """Return the members of each distinct number in an ordered column."""
    numbers, begins = np.unique(ordered, return_index=True)
    return list(zip(numbers.tolist(), np.split(members, begins[1:]), strict=True)) if numbers.size else []


def _over_path(
    ways: _Ways, sizes_bytes: Integers, payload_bytes: int, switches_ns: int, *, is_sprayed: bool
) -> IdealTimes:
    path = ways.forward
    has_choice = is_sprayed and len(path) > _LINKS_IN_A_RACK
    full, rest = np.divmod(sizes_bytes, payload_bytes)
    last_bytes = _last_frame_bytes(np.where(rest > 0, rest, payload_bytes))
    frames_before = np.where(rest > 0, full, full - 1)
    full_bytes = data_frame_bytes(payload_bytes, is_last=False)
    slowest_ns = _wire_ns(full_bytes, path[0])  # the spacing of full frames so far
    before = frames_before * slowest_ns  # when the frame before the last has left the current link
    sent = last = before + last_bytes * _BITS_NS / path[0].rate_bps
    for here, onward in pairwise(path):
        full_ns = _wire_ns(full_bytes, onward)
        crossing = here.delay_ns + full_ns + (frames_before - 1) * max(0.0, full_ns - slowest_ns)
        before = np.where(frames_before > 0, before + crossing, before)
        slowest_ns = max(slowest_ns, full_ns)
        last_ns = last_bytes * _BITS_NS / onward.rate_bps
        if not has_choice:
            last = np.maximum(last + here.delay_ns, before) + last_ns
        elif onward is path[-1]:
            last = np.maximum(last + here.delay_ns + last_ns, before)  # whichever of the two frames arrives later
        else:
            last = last + here.delay_ns + last_ns
    returning = sum(_wire_ns(ACK_FRAME_BYTES, link) + link.delay_ns for link in ways.back)
    delivered = last + path[-1].delay_ns
    arriving = frames_before * _wire_ns(full_bytes, path[-1]) + last_bytes * _BITS_NS / path[-1].rate_bps
    return IdealTimes(sent, delivered + switches_ns, delivered + returning + 2 * switches_ns, arriving)


def _last_frame_bytes(payloads: Integers) -> Integers:
    lengths, places = np.unique(payloads, return_inverse=True)
    frames = [data_frame_bytes(length, is_last=True) for length in lengths.tolist()]
    return np.array(frames, dtype=np.int64)[places]


def _wire_ns(frame_bytes: int, link: Link) -> float:
    return frame_bytes * _BITS_NS / link.rate_bps
