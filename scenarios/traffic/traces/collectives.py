# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The sends and receives of collective operations, for traces that name a collective instead of its messages.

All-reduce, all-gather and reduce-scatter use a ring: in each step a rank sends a segment to the next rank of the group
and receives one from the rank before (docs/sources.md#all-reduce). An all-to-all sends all its messages at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sfc_testbed.scenarios.traffic.traces.operations import Operation, Trace, TraceError


@dataclass(frozen=True, slots=True)
class Part:
    """The part of one rank in a collective of a group."""

    group: Sequence[int]
    """The ranks of the group, in the order of the ring."""
    position: int
    """The position of the rank in the group."""
    size_bytes: int
    """The size that the trace gives."""
    identity: object
    """A value that differs between collectives."""
    place: str
    traffic_class: str

    @property
    def rank(self) -> int:
        return self.group[self.position]

    @property
    def segments(self) -> list[int]:
        """The bytes of `size_bytes` for each member, as equal as possible."""
        count = len(self.group)
        bounds = [self.size_bytes * number // count for number in range(count + 1)]
        return [high - low for low, high in zip(bounds, bounds[1:], strict=False)]


def add_collective(trace: Trace, name: str, part: Part, after: Sequence[int]) -> int:
    """Add a rank's part in the collective of this name, after these operations. Return the operation that ends it."""
    begin = trace.add(Operation("compute", part.rank, part.place, after_end=list(after)))
    if len(part.group) < 2 or not part.size_bytes:
        return begin
    if part.size_bytes < 0:
        raise TraceError(part.place, f"a collective of {part.size_bytes} B")
    last = COLLECTIVES[name](trace, part, begin)
    return trace.add(Operation("compute", part.rank, part.place, after_end=last))


def _ring(trace: Trace, part: Part, begin: int, sizes: Sequence[int], steps: int) -> list[int]:
    """Add steps of a ring and return their operations. In step s a rank sends segment (its position - s)."""
    count = len(part.group)
    source, destination = (part.group[(part.position + step) % count] for step in (-1, 1))
    operations = []
    before = begin
    for step in range(steps):
        sent, received = ((part.position - step + shift) % count for shift in (0, -1))
        match = (part.identity, step)
        send = Operation("send", part.rank, part.place, destination, sizes[sent], match, after_end=[before])
        receive = Operation("receive", part.rank, part.place, source, sizes[received], match, after_end=[begin])
        send.traffic_class = receive.traffic_class = part.traffic_class
        operations.append(trace.add(send))
        before = trace.add(receive)
        operations.append(before)
    return operations


def _all_reduce(trace: Trace, part: Part, begin: int) -> list[int]:
    return _ring(trace, part, begin, part.segments, 2 * (len(part.group) - 1))


def _reduce_scatter(trace: Trace, part: Part, begin: int) -> list[int]:
    return _ring(trace, part, begin, part.segments, len(part.group) - 1)


def _all_gather(trace: Trace, part: Part, begin: int) -> list[int]:
    return _ring(trace, part, begin, part.segments, len(part.group) - 1)


def _all_to_all(trace: Trace, part: Part, begin: int) -> list[int]:
    operations = []
    count, sizes = len(part.group), part.segments
    for shift in range(1, count):
        to, origin = (part.position + shift) % count, (part.position - shift) % count
        send = Operation("send", part.rank, part.place, part.group[to], sizes[to], part.identity, after_end=[begin])
        receive = Operation(
            "receive", part.rank, part.place, part.group[origin], sizes[part.position], part.identity, after_end=[begin]
        )
        send.traffic_class = receive.traffic_class = part.traffic_class
        operations += [trace.add(send), trace.add(receive)]
    return operations


COLLECTIVES: Mapping[str, Callable[[Trace, Part, int], list[int]]] = {
    "all-reduce": _all_reduce,
    "all-gather": _all_gather,
    "reduce-scatter": _reduce_scatter,
    "all-to-all": _all_to_all,
}
"""The collectives by name. `Part.size_bytes` is the whole vector: what each rank has after an all-gather or all-reduce,
and before a reduce-scatter, all-reduce or all-to-all."""
