# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks that every message that waits for others can become ready, and orders messages by their earliest start.

Error messages number flows by their positions in the list, from 1.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import repeat

from sfc_testbed.scenarios.model.flow import FlowRequest, joined_delay_ns
from sfc_testbed.scenarios.model.flow_table import FlowTable, Wait
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


def in_order_of_start(flows: FlowTable) -> FlowTable:
    """Return the messages in the order in which they may become ready, with the numbers in `after` adjusted.

    The `start_ns` of a waiting message becomes the earliest time that the starts and delays before it allow.
    ScenarioError, one line, if a message can never become ready, or may become ready out of the order of its queue
    pair.
    """
    import numpy as np

    messages = _Messages(flows)
    messages.check()
    earliest_ns, generation = _earliest(messages)
    order = np.lexsort((generation, earliest_ns))
    rank = np.empty(len(flows), dtype=np.int64)
    rank[order] = np.arange(len(flows))
    places, ranks = order.tolist(), rank.tolist()
    _check_queue_pairs(messages, places, ranks)
    waits = {ranks[place]: _renumbered(wait, ranks) for place, wait in flows.waits.items()}
    ordered = flows.independent(order)
    return replace(ordered, start_ns=np.array(earliest_ns, dtype=np.int64)[order], waits=waits)


class _Messages:
    """The columns of a flow list, as lists of numbers. Messages are numbered by position, from 0."""

    def __init__(self, flows: FlowTable) -> None:
        columns = (flows.src, flows.dst, flows.queue_pair, flows.start_ns)
        self.src, self.dst, self.queue_pair, self.start_ns = (column.tolist() for column in columns)
        self.hosts = flows.hosts
        self.waits = flows.waits

    def after(self, place: int) -> tuple[int, ...]:
        """Return the numbers, from 1, of the messages that a message waits for."""
        return self.waits[place][0] if place in self.waits else ()

    def pairs(self, place: int) -> Iterable[tuple[int, int]]:
        """Return the numbers, from 1, of the messages that a message waits for, with the delays after them."""
        if place not in self.waits:
            return ()
        after, delay_ns = self.waits[place]
        return zip(after, delay_ns if isinstance(delay_ns, tuple) else repeat(delay_ns, len(after)), strict=True)

    def check(self) -> None:
        """Raise WaitingError for a message that waits for a message which its source does not see end."""
        count, src, dst = len(self.src), self.src, self.dst
        for place, (after, delay_ns) in self.waits.items():
            if isinstance(delay_ns, tuple) and len(delay_ns) != len(after):
                raise WaitingError(
                    place,
                    f"flow {place + 1} has {len(delay_ns)} delays, but waits for {len(after)} flows; "
                    "give one delay, or one for each of them",
                )
            source = src[place]
            for number in after:
                if not 1 <= number <= count:
                    raise WaitingError(
                        place, f"flow {place + 1} waits for flow {number}, which does not exist; flows are 1 to {count}"
                    )
                if source != src[number - 1] and source != dst[number - 1]:
                    raise self._unseen(place, number)

    def _unseen(self, place: int, number: int) -> WaitingError:
        source, src, dst = (self.hosts[end] for end in (self.src[place], self.src[number - 1], self.dst[number - 1]))
        return WaitingError(
            place,
            f"flow {place + 1} waits for flow {number}, but its source {source} is neither source nor "
            f"destination of that flow, which goes from {src} to {dst}",
        )


def _renumbered(wait: Wait, rank: Sequence[int]) -> Wait:
    """Return the fields `after` and `delay_ns` with the new numbers, in ascending order."""
    after, delay_ns = wait
    if not isinstance(delay_ns, tuple):
        return tuple(sorted({rank[number - 1] + 1 for number in after})), delay_ns
    delays_ns: dict[int, int] = {}
    for number, own_ns in zip(after, delay_ns, strict=True):
        new = rank[number - 1] + 1
        delays_ns[new] = max(own_ns, delays_ns.get(new, 0))
    numbers = tuple(sorted(delays_ns))
    return numbers, joined_delay_ns([delays_ns[number] for number in numbers])


def _earliest(messages: _Messages) -> tuple[list[int], list[int]]:
    """Return each message's earliest start and the length of the longest chain of messages before it."""
    earliest_ns = messages.start_ns
    generation = [0] * len(earliest_ns)
    for place in _topological(messages):
        start_ns, length = earliest_ns[place], 0
        for number, delay_ns in messages.pairs(place):
            start_ns = max(start_ns, earliest_ns[number - 1] + delay_ns)
            length = max(length, generation[number - 1] + 1)
        earliest_ns[place], generation[place] = start_ns, length
    return earliest_ns, generation


def _topological(messages: _Messages) -> Iterable[int]:
    """Return the waiting messages, each after those that it waits for. WaitingError if there is a circle."""
    waits = messages.waits
    if all(max(after) <= place for place, (after, _) in waits.items()):
        return sorted(waits)
    dependents: dict[int, list[int]] = defaultdict(list)
    missing = {place: len(set(after)) for place, (after, _) in waits.items()}
    for place, (after, _) in waits.items():
        for number in set(after):
            dependents[number - 1].append(place)
    ready = deque(place for place in range(len(messages.src)) if place not in missing)
    order = []
    while ready:
        for later in dependents.get(ready.popleft(), ()):
            missing[later] -= 1
            if not missing[later]:
                ready.append(later)
                order.append(later)
    if any(missing.values()):
        raise _circle(messages, missing)
    return order


def _circle(messages: _Messages, missing: Mapping[int, int]) -> WaitingError:
    """Return the error about one cycle among the messages that still wait for others."""
    place = next(place for place in sorted(missing) if missing[place])
    path: dict[int, int] = {}
    while place not in path:
        path[place] = len(path)
        place = next(number - 1 for number in messages.after(place) if missing.get(number - 1))
    circle = [f"flow {member + 1}" for member in (*list(path)[path[place] :], place)]
    if len(circle) > 6:
        circle[3:-2] = ["..."]
    return WaitingError(place, f"messages wait for one another in a circle: {' waits for '.join(circle)}")


def _check_queue_pairs(messages: _Messages, order: Sequence[int], rank: Sequence[int]) -> None:
    """Check that messages of one queue pair become ready in order: both ends rely on an order fixed beforehand."""
    last: dict[tuple[int, int, int], int] = {}
    for place in order:
        queue_pair = messages.queue_pair[place]
        if not queue_pair:
            continue
        pair = (messages.src[place], messages.dst[place], queue_pair)
        before = last.get(pair)
        if before is not None and not _is_ready_later(messages, rank, before, place):
            source, destination = messages.hosts[pair[0]], messages.hosts[pair[1]]
            raise WaitingError(
                place,
                f"flow {place + 1} may be ready before flow {before + 1}, which precedes it on queue pair "
                f"{queue_pair} from {source} to {destination}: let flow {place + 1} wait for it too",
            )
        last[pair] = place


def _is_ready_later(messages: _Messages, rank: Sequence[int], before: int, place: int) -> bool:
    """Whether message `before` is always ready no later than message `place`, which follows it in the order."""
    if before not in messages.waits or before + 1 in messages.after(place):
        return True
    later = list(messages.pairs(place))
    return all(
        any(longer_ns >= delay_ns and _ends_later(messages, rank, one, other) for other, longer_ns in later)
        for one, delay_ns in messages.pairs(before)
    )


def _ends_later(messages: _Messages, rank: Sequence[int], one: int, other: int) -> bool:
    """Whether message `one` always ends no later than message `other`.

    They are the same message, or `one` precedes `other` on the same queue pair.
    """
    if one == other:
        return True
    first, second = one - 1, other - 1
    queue_pair, src, dst = messages.queue_pair, messages.src, messages.dst
    is_same = queue_pair[first] == queue_pair[second] and src[first] == src[second] and dst[first] == dst[second]
    return bool(queue_pair[first]) and is_same and rank[first] < rank[second]
