# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""FCT of a flow in an otherwise idle network at line rate: the divisor of the FCT slowdown (paper section 5.1).

The network is store-and-forward. All frames leave the host back to back. The last frame crosses every further link
behind the frame before it, and its acknowledgment returns at once.

The ideal is that of the best path. Of equally short paths with different rates or delays, the flow and its
acknowledgment take the fastest, also if ECMP's hash then chooses another one. So the ideal of a flow is the same for
every hash and load balancing that keeps paths, it stays a lower bound if a failure changes the hash's choice, and the
slowdown contains what a slow path costs. A load balancing that changes the paths of flows can use all of them at a
time: frames then pass the network at the sum of the rates of the paths at most (`PathChange`).

Two runs can be faster than the ideal: a failed link moves flows to a longer path with faster links, or moves a flow of
ECMP while its frames wait before links slower than its NIC. Slow links of `--fault` keep their rate in the ideal.
Times are model time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import Enum
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.topologies.equal_paths import Fabric, Wire, equal_paths_of
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.roce.packets import ACK_FRAME_BYTES, data_frame_bytes

_BITS_NS = 8_000_000_000
_LINKS_IN_A_RACK = 2

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class PathChange(Enum):
    """The frames of a flow that a load balancing may send over different paths."""

    NEVER = "never"
    BETWEEN_FLOWLETS = "between flowlets"
    """Flowlets. The frames of a flow stay in order."""
    ANY_FRAME = "any frame"
    """Successive frames. The last frame need not wait for the frame before it between switches."""


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
    reaching: Floats
    """The least time until the first bit reaches the receiver, also if other frames leave before the message."""
    behind: Floats
    """The least time from `sent` until the last bit reaches the receiver, also if the last frame leaves later and no
    other frame is on its way."""


def ideal_fct_ns(
    topology: Topology,
    src: str,
    dst: str,
    size_bytes: int,
    payload_bytes: int,
    *,
    nic_bps: int | None = None,
    change: PathChange = PathChange.NEVER,
) -> float:
    """Return the idle FCT of one message between two hosts in ns."""
    links = (topology.host_link[host] for host in (src, dst))
    first, last = (Wire(link.rate_bps, link.delay_ns) for link in links)
    fabric = equal_paths_of(topology).between(topology.host[src].switch, topology.host[dst].switch)
    times = _Between(fabric, first, last, nic_bps, change).times(np.array([size_bytes]), payload_bytes)
    return float(times.acknowledged[0])


def ideal_times_ns(
    topology: Topology,
    flows: FlowTable,
    payload_bytes: int,
    *,
    nic_bps: int | None = None,
    change: PathChange = PathChange.NEVER,
) -> IdealTimes:
    """Return the ideal times of all flows, whose hosts are in the order of the topology.

    `nic_bps` limits the rate of the NICs. The times are exact if no window stops the sender, since frames queue before
    a slower link. Pairs of racks with equal paths are computed together. Hosts of one switch form a rack if their links
    are equal.
    """
    racks: dict[tuple[str, Wire], int] = {}
    rack_of = np.zeros(len(topology.hosts), dtype=np.int64)
    for number, host in enumerate(topology.hosts):
        link = topology.host_link[host.name]
        rack_of[number] = racks.setdefault((host.switch, Wire(link.rate_bps, link.delay_ns)), len(racks))
    ends = tuple(racks)
    pairs = rack_of[flows.src] * len(racks) + rack_of[flows.dst]
    order = np.argsort(pairs, kind="stable")
    paths = equal_paths_of(topology)
    members_of: dict[_Between, list[Integers]] = {}
    for pair, members in _groups(pairs[order], order):
        (source, first), (target, last) = (ends[rack] for rack in divmod(pair, len(racks)))
        between = _Between(paths.between(source, target), first, last, nic_bps, change)
        members_of.setdefault(between, []).append(members)
    columns = np.empty((len(fields(IdealTimes)), pairs.size))
    for between, parts in members_of.items():
        members = np.concatenate(parts)
        times = between.times(flows.size_bytes[members], payload_bytes)
        columns[:, members] = [getattr(times, field.name) for field in fields(times)]
    return IdealTimes(*columns)


def _groups(ordered: Integers, members: Integers) -> list[tuple[int, Integers]]:
    """Return the members of each distinct number in an ordered column."""
    numbers, begins = np.unique(ordered, return_index=True)
    return list(zip(numbers.tolist(), np.split(members, begins[1:]), strict=True)) if numbers.size else []


@dataclass(frozen=True, slots=True)
class _Between:
    """The paths between two hosts."""

    fabric: Fabric
    first: Wire
    last: Wire
    nic_bps: int | None
    """A NIC may be slower than its link, which lowers the rate one way."""
    change: PathChange

    def times(self, sizes_bytes: Integers, payload_bytes: int) -> IdealTimes:
        """Return the ideal times of messages of these sizes, each on its best path."""
        first, last = self._limited(self.first), self._limited(self.last)
        returning_ns, returning_passes_ns = min(
            ((_returning_ns([self.first, *way.wires, last]), way.passes_ns) for way in self.fabric.ways), key=sum
        )
        frames = _Frames.of(sizes_bytes, payload_bytes)
        delivered, acknowledged = np.full((2, 2, sizes_bytes.size), np.inf)
        reaching, behind = np.full((2, sizes_bytes.size), np.inf)
        for way in self.fabric.ways:
            path = [first, *way.wires, self.last]
            received = self._received(frames, path)
            delivered = np.minimum(delivered, received + way.passes_ns)
            both_ns = way.passes_ns + returning_passes_ns
            acknowledged = np.minimum(acknowledged, received + returning_ns + both_ns)
            delay_ns = way.passes_ns + sum(wire.delay_ns for wire in path)
            head_bytes = frames.first_bytes
            if self.change is PathChange.ANY_FRAME:  # the last frame may overtake the others
                head_bytes = np.minimum(head_bytes, frames.last_bytes)
            reaching = np.minimum(reaching, _crossing_ns(head_bytes, path[:-1]) + delay_ns)
            behind = np.minimum(behind, _crossing_ns(frames.last_bytes, path[1:]) + delay_ns)
        sent = frames.before * _wire_ns(frames.full_bytes, first) + _wire_ns(frames.last_bytes, first)
        arriving = frames.before * _wire_ns(frames.full_bytes, self.last) + _wire_ns(frames.last_bytes, self.last)
        return IdealTimes(sent, delivered.max(axis=0), acknowledged.max(axis=0), arriving, reaching, behind)

    def _limited(self, wire: Wire) -> Wire:
        return wire if self.nic_bps is None else wire._replace(rate_bps=min(wire.rate_bps, self.nic_bps))

    def _received(self, frames: _Frames, path: Sequence[Wire]) -> Floats:
        """Return when the last frame and the frame before it have crossed a path, without the time in switches.

        If flows change paths, frames queue for the capacity of all paths instead of that of one link. The longest
        frame time is taken off the wait, since the frame that leaves last may be the first on its link.
        """
        has_choice = self.change is not PathChange.NEVER and len(path) > _LINKS_IN_A_RACK
        is_overtaking = self.change is PathChange.ANY_FRAME and len(path) > _LINKS_IN_A_RACK
        others = frames.before - 1
        slowest_ns = _wire_ns(frames.full_bytes, path[0])  # the spacing of full frames so far
        before = frames.before * slowest_ns  # when the frame before the last has left the current link
        last = before + _wire_ns(frames.last_bytes, path[0])
        for place, (here, onward) in enumerate(pairwise(path), start=1):
            full_ns = spacing_ns = _wire_ns(frames.full_bytes, onward)
            waiting = others * max(0.0, full_ns - slowest_ns)
            if has_choice and place == 1:
                spacing_ns = frames.full_bytes * _BITS_NS / self.fabric.capacity_bps
                longest_ns = max(_wire_ns(frames.full_bytes, wire) for wire in path[1:-1])
                waiting = np.maximum(0.0, others * (spacing_ns - slowest_ns) + (spacing_ns - longest_ns))
            elif has_choice and place < len(path) - 1:
                spacing_ns, waiting = slowest_ns, np.zeros(others.size)
            before = np.where(frames.before > 0, before + (here.delay_ns + full_ns + waiting), before)
            slowest_ns = max(slowest_ns, spacing_ns)
            arrived = last + here.delay_ns
            last = (arrived if is_overtaking else np.maximum(arrived, before)) + _wire_ns(frames.last_bytes, onward)
        return np.stack([last, before if is_overtaking else last]) + path[-1].delay_ns


@dataclass(frozen=True, slots=True)
class _Frames:
    """The frames of messages. All frames but the last one of each message are full."""

    before: Integers
    """The number of frames before the last one."""
    last_bytes: Integers
    full_bytes: int

    @property
    def first_bytes(self) -> Integers:
        return np.where(self.before > 0, self.full_bytes, self.last_bytes)

    @classmethod
    def of(cls, sizes_bytes: Integers, payload_bytes: int) -> _Frames:
        full, rest = np.divmod(sizes_bytes, payload_bytes)
        return cls(
            np.where(rest > 0, full, full - 1),
            _last_frame_bytes(np.where(rest > 0, rest, payload_bytes)),
            data_frame_bytes(payload_bytes, is_last=False),
        )


def _last_frame_bytes(payloads: Integers) -> Integers:
    lengths, places = np.unique(payloads, return_inverse=True)
    frames = [data_frame_bytes(length, is_last=True) for length in lengths.tolist()]
    return np.array(frames, dtype=np.int64)[places]


def _crossing_ns(frame_bytes: Integers, path: Sequence[Wire]) -> Floats:
    """Return the sum of the times that the links of a path need for a frame, without delays."""
    crossing_ns: Floats = np.sum([_wire_ns(frame_bytes, wire) for wire in path], axis=0)
    return crossing_ns


def _returning_ns(path: Sequence[Wire]) -> float:
    """Return the time of an acknowledgment over a path, without the time in switches."""
    return sum(_wire_ns(ACK_FRAME_BYTES, wire) + wire.delay_ns for wire in path)


@overload
def _wire_ns(frame_bytes: int, wire: Wire) -> float: ...
@overload
def _wire_ns(frame_bytes: Integers, wire: Wire) -> Floats: ...
def _wire_ns(frame_bytes: int | Integers, wire: Wire) -> float | Floats:
    return frame_bytes * _BITS_NS / wire.rate_bps
