# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A lower bound of the completion time of messages that wait for others: no run can be faster.

Only two limits count. A message takes at least its idle FCT after the messages that it waits for, and the messages of
one host share its NIC. The order of the messages is free, and a NIC may switch between messages at any time. The end of
all messages of a NIC is then the least possible if the NIC always sends a ready message with the longest way behind the
NIC: Jackson's rule with preemption (docs/sources.md#ideal-completion).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from heapq import heappop, heappush
from typing import NamedTuple

from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.testbed.flows.ideal import IdealTimes


class Transmission(NamedTuple):
    """A message on the NIC of its source host, in ns."""

    ready_ns: float
    sent_ns: float
    """Time that the NIC needs for the message."""
    rest_ns: float
    """The least time from the last bit on the NIC to the end of the message."""
    least_ns: float
    """The least time from `ready_ns` to the end. It is more than `sent_ns + rest_ns` if a link is slower than the NIC
    or the last frame is short: frames then wait for one another, unless the NIC sends other messages in between."""


def completion_bound_ns(flows: Sequence[Flow], times: IdealTimes, members: Iterable[int]) -> float:
    """Return a lower bound of the time from the first ready message of `members` to their last acknowledgment.

    `members` are positions in `flows`. A message that waits only for other flows may be ready at once, because the time
    begins with the first ready message.
    """
    chosen = dict.fromkeys(members)
    fixed_ns = [flows[place].start_ns for place in chosen if not flows[place].after]
    first_ns = min(fixed_ns, default=0)
    ready_ns: dict[int, float] = {}
    bounds: dict[tuple[tuple[tuple[int, int], ...], str], float] = {}
    inner = {place: _inner(flows[place], chosen) for place in chosen}
    for place in TopologicalSorter({place: dict(waits) for place, waits in inner.items()}).static_order():
        flow = flows[place]
        if not inner[place]:
            ready_ns[place] = 0.0 if flow.after else flow.start_ns - first_ns
            continue
        key = (inner[place], flow.src)
        if key not in bounds:
            bounds[key] = _last_end_ns(flows, times, ready_ns, inner[place], flow.src)
        ready_ns[place] = bounds[key]
    return _last_end_ns(flows, times, ready_ns, ((place, 0) for place in chosen), None)


def _inner(flow: Flow, chosen: Mapping[int, None]) -> tuple[tuple[int, int], ...]:
    """Return the positions of the chosen messages that a message waits for, with its delays after them."""
    pairs = zip(flow.after, flow.delays_ns, strict=True)
    return tuple((number - 1, delay_ns) for number, delay_ns in pairs if number - 1 in chosen)


def _last_end_ns(
    flows: Sequence[Flow],
    times: IdealTimes,
    ready_ns: Mapping[int, float],
    waits: Iterable[tuple[int, int]],
    waiting: str | None,
) -> float:
    """Return a lower bound of the end of all these messages, plus their delays in ns, as the host `waiting` sees it.

    A message ends with its delivery for the host that receives it, and with its acknowledgment for others. A delay
    after it counts as a part of its way behind the NIC.
    """
    by_source: dict[str, list[Transmission]] = defaultdict(list)
    for place, delay_ns in waits:
        end = times.delivered if flows[place].dst == waiting else times.acknowledged
        answer_ns = float(end[place] - times.delivered[place])
        by_source[flows[place].src].append(
            Transmission(
                ready_ns[place],
                float(times.sent[place]),
                float(times.behind[place]) + answer_ns + delay_ns,
                float(end[place]) + delay_ns,
            )
        )
    return max(map(end_of_nic_ns, by_source.values()))


def end_of_nic_ns(messages: list[Transmission]) -> float:
    """Return the least possible time at which all messages of a NIC have ended."""
    messages.sort()
    ready: list[tuple[float, float]] = []  # negative rest, and time still needed on the NIC
    now_ns = 0.0
    end_ns = max(message.ready_ns + message.least_ns for message in messages)
    for place, message in enumerate(messages):
        now_ns = max(now_ns, message.ready_ns)
        heappush(ready, (-message.rest_ns, message.sent_ns))
        until_ns = messages[place + 1].ready_ns if place + 1 < len(messages) else float("inf")
        while ready and now_ns < until_ns:
            negative_rest_ns, needed_ns = heappop(ready)
            sent_ns = min(needed_ns, until_ns - now_ns)
            now_ns += sent_ns
            if sent_ns < needed_ns:
                heappush(ready, (negative_rest_ns, needed_ns - sent_ns))
            else:
                end_ns = max(end_ns, now_ns - negative_rest_ns)
    return end_ns
