# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The operations of a trace: each rank sends, receives and computes in an order that dependencies give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import groupby
from typing import Literal

from sfc_testbed.scenarios.model.scenario import ScenarioError

MOST_OPERATIONS = 3_000_000
"""The most operations of a trace, with collectives expanded."""
MOST_RANKS = 100_000

TAG = "trace"
"""The traffic class of messages for which a format has no other name."""


class TraceError(ScenarioError):
    """A trace that is invalid or cannot be represented; the message is one line and names the place in the file."""

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")


@dataclass(slots=True)
class Operation:
    """A send, a receive or a computation of one rank. Other operations are named by their positions in the trace."""

    kind: Literal["send", "receive", "compute"]
    rank: int
    place: str
    """The place in the file, for messages, such as `line 17`."""
    peer: int = -1
    """The other rank of a send or receive."""
    size_bytes: int = 0
    match: object = 0
    """A value that a send and its receive have in common, such as a tag."""
    duration_ns: int = 0
    """The time that a computation takes."""
    processor: object = None
    """The processor of a computation, which computes one at a time; None: no processor, so computations overlap."""
    traffic_class: str = TAG
    after_end: list[int] = field(default_factory=list)
    """Operations of the same rank that must have ended before this one starts."""
    after_start: list[int] = field(default_factory=list)
    """Operations of the same rank that must have started before this one starts."""


@dataclass(slots=True)
class Trace:
    """The operations of all ranks, in any order."""

    ranks: int
    operations: list[Operation] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """Sentences about what a file has that is not represented, or how it was read."""

    def add(self, operation: Operation) -> int:
        """Add an operation and return its position. TraceError if there are too many."""
        if len(self.operations) >= MOST_OPERATIONS:
            raise TraceError(operation.place, f"the trace has more than {MOST_OPERATIONS:,} operations; use fewer")
        self.operations.append(operation)
        return len(self.operations) - 1


def in_order(operations: Sequence[Operation], sends: Sequence[int] | None = None) -> list[int]:
    """Return the positions of all operations, ascending where no operation waits for a later one.

    `sends` has the position of the send of each receive, or -1; then a receive follows its send. TraceError, with all
    places, if operations wait for one another in a circle.
    """
    later: list[list[int]] = [[] for _ in operations]
    missing = [0] * len(operations)
    for place in range(len(operations)):
        for before in _before(operations, place, sends):
            later[before].append(place)
            missing[place] += 1
    order = []
    ready = [place for place, count in enumerate(missing) if not count]
    while ready:
        place = heappop(ready)
        order.append(place)
        for other in later[place]:
            missing[other] -= 1
            if not missing[other]:
                heappush(ready, other)
    if len(order) < len(operations):
        raise _circle(operations, sends, missing)
    return order


def _before(operations: Sequence[Operation], place: int, sends: Sequence[int] | None) -> Iterable[int]:
    """Yield the operations that precede one; an operation may appear twice."""
    operation = operations[place]
    yield from operation.after_end
    yield from operation.after_start
    if sends is not None and sends[place] >= 0:
        yield sends[place]


def _circle(operations: Sequence[Operation], sends: Sequence[int] | None, missing: Sequence[int]) -> TraceError:
    """Return the error about one circle among the operations that still wait for others."""
    place = next(place for place, count in enumerate(missing) if count)
    path: dict[int, int] = {}
    while place not in path:
        path[place] = len(path)
        place = next(before for before in _before(operations, place, sends) if missing[before])
    places = [operations[member].place for member in (*list(path)[path[place] :], place)]
    circle = [name for name, _ in groupby(places)]  # several operations may be one node of a file
    if len(circle) == 1:
        circle *= 2
    if len(circle) > 6:
        circle[3:-2] = ["..."]
    return TraceError(circle[0], f"operations wait for one another in a circle: {' waits for '.join(circle)}")
