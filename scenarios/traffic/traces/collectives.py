# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The parts of ranks in collectives, for traces that name a collective instead of its messages.

The first algorithm in the table of collectives gives the messages: a ring, and for an all-to-all all at once. A
broadcast has double binary trees, because a chain without chunks takes as many steps as there are ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.collectives.schedule import Call, Schedule
from sfc_testbed.scenarios.traffic.collectives.table import COLLECTIVES
from sfc_testbed.scenarios.traffic.traces.operations import Operation, Trace, TraceError

_ALGORITHMS = {"broadcast": "double-binary-tree"}
"""Algorithms that are not the first of their collective."""


@dataclass(frozen=True, slots=True)
class Part:
    """The part of one rank in a collective of a group."""

    group: Sequence[int]
    """The ranks of the group, in the order of the ring."""
    position: int
    """The position of the rank in the group."""
    size_bytes: int
    """The size of the input or output of a rank, whichever is larger."""
    identity: object
    """A value that differs between collectives."""
    place: str
    traffic_class: str


def add_collective(trace: Trace, name: str, part: Part, after: Sequence[int]) -> int:
    """Add a rank's part in the collective of this name, after these operations. Return the operation that ends it.

    The part ends when the rank has received all its messages and its own ones are acknowledged. With fewer bytes than
    ranks, a collective has a byte for each rank.
    """
    count = len(part.group)
    begin = trace.add(Operation("compute", part.group[part.position], part.place, after_end=list(after)))
    if count < 2 or not part.size_bytes:
        return begin
    try:
        messages, of_rank = _messages(name, count, max(part.size_bytes, count))
    except ScenarioError as error:
        raise TraceError(part.place, str(error)) from error
    operations: dict[int, int] = {}
    for number in of_rank[part.position]:
        src, dst, size_bytes, before = messages[number]
        is_send = src == part.position
        waits = [operations[other] for other in before] if is_send else []
        operation = Operation(
            "send" if is_send else "receive",
            part.group[part.position],
            part.place,
            part.group[dst if is_send else src],
            size_bytes,
            (part.identity, number),
            traffic_class=part.traffic_class,
            after_end=waits or [begin],
        )
        operations[number] = trace.add(operation)
    return trace.add(
        Operation("compute", part.group[part.position], part.place, after_end=[begin, *operations.values()])
    )


@lru_cache(maxsize=64)
def _messages(
    name: str, count: int, size_bytes: int
) -> tuple[list[tuple[int, int, int, tuple[int, ...]]], list[list[int]]]:
    """Return the messages of a collective: source, destination, bytes, and the numbers of earlier ones it waits for.

    The second value has the numbers of the messages that each rank sends or receives.
    """
    import numpy as np

    schedule = Schedule()
    algorithms = COLLECTIVES[name].algorithms
    algorithm = algorithms[_ALGORITHMS.get(name, next(iter(algorithms)))]()
    algorithm.add_messages(schedule, Call(count, size_bytes, 1, 0.0, np.random.default_rng(0)))
    begins = [0, *schedule.after_ends]
    messages = [
        (src, dst, size, tuple(schedule.after[begins[number] : begins[number + 1]]))
        for number, (src, dst, size) in enumerate(zip(schedule.src, schedule.dst, schedule.size_bytes, strict=True))
    ]
    of_rank: list[list[int]] = [[] for _ in range(count)]
    for number, (src, dst, *_) in enumerate(messages):
        of_rank[src].append(number)
        of_rank[dst].append(number)
    return messages, of_rank
