# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Messages that wait for others: whether each can ever be ready, and in which order they may become so.

Flows are named by their places in the list, from 1, as people know them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from scenarios.model.flow import FlowRequest
from scenarios.model.scenario import ScenarioError


def any_waits(requests: Sequence[FlowRequest]) -> bool:
    """Whether some message of a list waits for another."""
    return any(each.after for each in requests)


def in_order_of_start(requests: Sequence[FlowRequest]) -> list[FlowRequest]:
    """The list in the order in which its messages may become ready, places renamed accordingly.

    `start_ns` of one that waits becomes the earliest instant that the starts and delays before it leave. ScenarioError,
    one line, for messages that never become ready, or not in the order of their queue pair.
    """
    dependents = _dependents(requests)
    earliest_ns, generation = _earliest(requests, dependents)
    order = sorted(range(len(requests)), key=lambda place: (earliest_ns[place], generation[place]))
    rank = {place: number for number, place in enumerate(order)}
    _check_queue_pairs(requests, order, rank)
    return [
        replace(
            requests[place],
            start_ns=earliest_ns[place],
            after=tuple(sorted({rank[each - 1] + 1 for each in requests[place].after})),
        )
        for place in order
    ]


def _dependents(requests: Sequence[FlowRequest]) -> list[list[int]]:
    """Of each place, from 0, those that wait for it."""
    found: list[list[int]] = [[] for _ in requests]
    for place, each in enumerate(requests):
        for number in set(each.after):
            if not 1 <= number <= len(requests):
                raise ScenarioError(
                    f"flow {place + 1} waits for flow {number}, which there is not; there are 1 to {len(requests)}"
                )
            other = requests[number - 1]
            if each.src not in (other.src, other.dst):
                raise ScenarioError(
                    f"flow {place + 1} waits for flow {number}, of which its source {each.src} sees no end: that goes "
                    f"from {other.src} to {other.dst}"
                )
            found[number - 1].append(place)
    return found


def _earliest(requests: Sequence[FlowRequest], dependents: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The earliest start of each, and how many messages must end before it, one after the other."""
    earliest_ns = [each.start_ns for each in requests]
    generation = [0] * len(requests)
    missing = [len(set(each.after)) for each in requests]
    free = deque(place for place, count in enumerate(missing) if not count)
    while free:
        place = free.popleft()
        for later in dependents[place]:
            earliest_ns[later] = max(earliest_ns[later], earliest_ns[place] + requests[later].delay_ns)
            generation[later] = max(generation[later], generation[place] + 1)
            missing[later] -= 1
            if not missing[later]:
                free.append(later)
    if any(missing):
        raise ScenarioError(_circle(requests, missing))
    return earliest_ns, generation


def _circle(requests: Sequence[FlowRequest], missing: Sequence[int]) -> str:
    """Words for one of the circles among the places at which something is missing."""
    place = next(place for place, count in enumerate(missing) if count)
    way: dict[int, int] = {}
    while place not in way:
        way[place] = len(way)
        place = next(number - 1 for number in requests[place].after if missing[number - 1])
    circle = [f"flow {each + 1}" for each in (*list(way)[way[place] :], place)]
    if len(circle) > 6:
        circle[3:-2] = ["..."]
    return f"messages wait for one another in a circle: {' waits for '.join(circle)}"


def _check_queue_pairs(requests: Sequence[FlowRequest], order: Sequence[int], rank: dict[int, int]) -> None:
    """Both ends of a queue pair know the order of its messages beforehand, so it must not be left to chance."""
    last: dict[tuple[str, str, int], int] = {}
    for place in order:
        each = requests[place]
        if not each.queue_pair:
            continue
        pair = (each.src, each.dst, each.queue_pair)
        before = last.get(pair)
        if before is not None and not _is_ready_later(requests, rank, before, place):
            raise ScenarioError(
                f"flow {place + 1} may be ready before flow {before + 1}, behind which it goes on queue pair "
                f"{each.queue_pair} from {each.src} to {each.dst}: let it wait for that too"
            )
        last[pair] = place


def _is_ready_later(requests: Sequence[FlowRequest], rank: dict[int, int], before: int, place: int) -> bool:
    """Whether one that has an earlier place in the order is ready no later than the other, whatever happens."""
    first, second = requests[before], requests[place]
    if not first.after or before + 1 in second.after:
        return True
    if second.delay_ns < first.delay_ns:
        return False
    return all(any(_ends_later(requests, rank, one, other) for other in second.after) for one in first.after)


def _ends_later(requests: Sequence[FlowRequest], rank: dict[int, int], one: int, other: int) -> bool:
    """Whether a message ends no later than another: it is the same, or goes before it on one queue pair."""
    if one == other:
        return True
    first, second = requests[one - 1], requests[other - 1]
    pairs = ((each.src, each.dst, each.queue_pair) for each in (first, second))
    return bool(first.queue_pair) and len(set(pairs)) == 1 and rank[one - 1] < rank[other - 1]
