# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that every message that waits for others can become ready, and orders messages by their earliest start.

Error messages number flows by their positions in the list, from 1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sfc_testbed.scenarios.model.flow import FlowRequest, joined_delay_ns
from sfc_testbed.scenarios.model.scenario import ScenarioError


class WaitingError(ScenarioError):
    """A flow that waits for others in an invalid way; the message is one line."""

    def __init__(self, place: int, message: str) -> None:
        super().__init__(message)
        self.place = place
        """The position of the flow in its list, from 0."""


def any_waits(requests: Sequence[FlowRequest]) -> bool:
    """Whether any message in the list waits for another message."""
    return any(request.after for request in requests)


def in_order_of_start(requests: Sequence[FlowRequest]) -> list[FlowRequest]:
    """Return the messages in the order in which they may become ready, with the numbers in `after` adjusted.

    The `start_ns` of a waiting message becomes the earliest time that the starts and delays before it allow.
    ScenarioError, one line, if a message can never become ready, or may become ready out of the order of its queue
    pair.
    """
    dependents = _dependents(requests)
    earliest_ns, generation = _earliest(requests, dependents)
    order = sorted(range(len(requests)), key=lambda place: (earliest_ns[place], generation[place]))
    rank = {place: number for number, place in enumerate(order)}
    _check_queue_pairs(requests, order, rank)
    return [_renumbered(requests[place], rank, earliest_ns[place]) for place in order]


def _renumbered(request: FlowRequest, rank: dict[int, int], start_ns: int) -> FlowRequest:
    """Return a message with the new numbers of the messages that it waits for, in ascending order."""
    delays_ns: dict[int, int] = {}
    for number, delay_ns in zip(request.after, request.delays_ns, strict=True):
        new = rank[number - 1] + 1
        delays_ns[new] = max(delay_ns, delays_ns.get(new, 0))
    after = tuple(sorted(delays_ns))
    joined_ns = joined_delay_ns([delays_ns[number] for number in after]) if after else request.delay_ns
    return replace(request, start_ns=start_ns, after=after, delay_ns=joined_ns)


def _dependents(requests: Sequence[FlowRequest]) -> list[dict[int, int]]:
    """Return for each position, from 0, the positions of the messages that wait for it, and their delays after it."""
    dependents: list[dict[int, int]] = [{} for _ in requests]
    for place, request in enumerate(requests):
        if isinstance(request.delay_ns, tuple) and len(request.delay_ns) != len(request.after):
            raise WaitingError(
                place,
                f"flow {place + 1} has {len(request.delay_ns)} delays, but waits for {len(request.after)} flows; "
                "give one delay, or one for each of them",
            )
        for number, delay_ns in zip(request.after, request.delays_ns, strict=True):
            if not 1 <= number <= len(requests):
                raise WaitingError(
                    place,
                    f"flow {place + 1} waits for flow {number}, which does not exist; flows are 1 to {len(requests)}",
                )
            other = requests[number - 1]
            if request.src not in (other.src, other.dst):
                raise WaitingError(
                    place,
                    f"flow {place + 1} waits for flow {number}, but its source {request.src} is neither source nor "
                    f"destination of that flow, which goes from {other.src} to {other.dst}",
                )
            dependents[number - 1][place] = max(delay_ns, dependents[number - 1].get(place, 0))
    return dependents


def _earliest(requests: Sequence[FlowRequest], dependents: Sequence[Mapping[int, int]]) -> tuple[list[int], list[int]]:
    """Return each message's earliest start and the length of the longest chain of messages before it."""
    earliest_ns = [request.start_ns for request in requests]
    generation = [0] * len(requests)
    missing = [len(set(request.after)) for request in requests]
    ready = deque(place for place, count in enumerate(missing) if not count)
    while ready:
        place = ready.popleft()
        for later, delay_ns in dependents[place].items():
            earliest_ns[later] = max(earliest_ns[later], earliest_ns[place] + delay_ns)
            generation[later] = max(generation[later], generation[place] + 1)
            missing[later] -= 1
            if not missing[later]:
                ready.append(later)
    if any(missing):
        raise _circle(requests, missing)
    return earliest_ns, generation


def _circle(requests: Sequence[FlowRequest], missing: Sequence[int]) -> WaitingError:
    """Return the error about one cycle among the messages that still wait for others."""
    place = next(place for place, count in enumerate(missing) if count)
    path: dict[int, int] = {}
    while place not in path:
        path[place] = len(path)
        place = next(number - 1 for number in requests[place].after if missing[number - 1])
    circle = [f"flow {member + 1}" for member in (*list(path)[path[place] :], place)]
    if len(circle) > 6:
        circle[3:-2] = ["..."]
    return WaitingError(place, f"messages wait for one another in a circle: {' waits for '.join(circle)}")


def _check_queue_pairs(requests: Sequence[FlowRequest], order: Sequence[int], rank: dict[int, int]) -> None:
    """Check that messages of one queue pair become ready in order: both ends rely on an order fixed beforehand."""
    last: dict[tuple[str, str, int], int] = {}
    for place in order:
        request = requests[place]
        if not request.queue_pair:
            continue
        pair = (request.src, request.dst, request.queue_pair)
        before = last.get(pair)
        if before is not None and not _is_ready_later(requests, rank, before, place):
            raise WaitingError(
                place,
                f"flow {place + 1} may be ready before flow {before + 1}, which precedes it on queue pair "
                f"{request.queue_pair} from {request.src} to {request.dst}: let flow {place + 1} wait for it too",
            )
        last[pair] = place


def _is_ready_later(requests: Sequence[FlowRequest], rank: dict[int, int], before: int, place: int) -> bool:
    """Whether message `before` is always ready no later than message `place`, which follows it in the order."""
    first, second = requests[before], requests[place]
    if not first.after or before + 1 in second.after:
        return True
    later = list(zip(second.after, second.delays_ns, strict=True))
    return all(
        any(longer_ns >= delay_ns and _ends_later(requests, rank, one, other) for other, longer_ns in later)
        for one, delay_ns in zip(first.after, first.delays_ns, strict=True)
    )


def _ends_later(requests: Sequence[FlowRequest], rank: dict[int, int], one: int, other: int) -> bool:
    """Whether message `one` always ends no later than message `other`.

    They are the same message, or `one` precedes `other` on the same queue pair.
    """
    if one == other:
        return True
    first, second = requests[one - 1], requests[other - 1]
    pairs = ((request.src, request.dst, request.queue_pair) for request in (first, second))
    return bool(first.queue_pair) and len(set(pairs)) == 1 and rank[one - 1] < rank[other - 1]
