# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Turns the operations of a trace into messages that wait for others, with the computing time between them as delays.

The time of an operation is the latest of a constant and of the ends of messages plus delays, all seen by its own rank.
This form is exact: an operation starts when all operations that it waits for have ended, and a computation adds its
duration. A send ends when its message is acknowledged. A receive ends when its message has arrived and the operations
that it waits for have ended. So each message gets a delay for every message that it waits for.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sfc_testbed.scenarios.model.flow import MAX_SIZE_BYTES, FlowRequest, joined_delay_ns
from sfc_testbed.scenarios.traffic.traces.operations import Operation, Trace, TraceError, in_order

MOST_MESSAGES = 1_000_000
MOST_WAITS = 5_000_000
"""The most pairs of a message and a message that waits for it."""
_MOST_STEPS_BACK = 32
"""The most dependencies that are followed to find messages for which another message has waited."""
_MANY_DELAYS = 64
"""The number of messages above which an operation that is no send drops the unnecessary ones."""
MAX_TIME_NS = 3_600_000_000_000
"""The longest start or delay: the length of the longest run."""


@dataclass(frozen=True, slots=True)
class _Time:
    """The latest of a constant and of the ends of messages plus delays, and `more_ns` later."""

    constant_ns: int
    delays_ns: Mapping[int, int]
    """The delay after each message, by its number."""
    more_ns: int = 0

    def later(self, more_ns: int) -> _Time:
        return _Time(self.constant_ns, self.delays_ns, self.more_ns + more_ns)


_BEGIN = _Time(0, {})


def messages_of(
    trace: Trace, hosts: Sequence[str], *, may_overlap: bool = False
) -> tuple[list[FlowRequest], list[str]]:
    """Return the messages of a trace whose rank r is on `hosts[r]`, and sentences about what they leave out.

    With `may_overlap`, computations of one processor that no dependency orders take place at the same time. Otherwise
    TraceError names them.
    """
    operations = trace.operations
    order = in_order(operations)
    sends = _matched(operations, order)
    order = in_order(operations, sends)
    if not may_overlap:
        _check_processors(operations, order)
    messages = _Messages(operations, sends, hosts)
    for place in order:
        messages.add(place)
    if not messages.requests:
        raise TraceError("the trace", "no message between two hosts")
    return messages.requests, [*trace.notes, *messages.notes(), *_rest(operations, order)]


def _matched(operations: Sequence[Operation], order: Iterable[int]) -> list[int]:
    """Return for each receive the position of its send, and -1 for other operations.

    The sends of one rank to another with the same tag belong to the receives in the order of the ranks' dependencies,
    and of the file where these give none.
    """
    waiting: dict[tuple[int, int, object], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for place in order:
        operation = operations[place]
        if operation.kind == "send":
            waiting[operation.rank, operation.peer, operation.match][0].append(place)
        elif operation.kind == "receive":
            waiting[operation.peer, operation.rank, operation.match][1].append(place)
    sends = [-1] * len(operations)
    for (source, destination, match), (sent, received) in waiting.items():
        for send, receive in zip(sent, received, strict=False):
            _check_sizes(operations[send], operations[receive])
            sends[receive] = send
        if len(sent) != len(received):
            is_send = len(sent) > len(received)
            alone = operations[(sent if is_send else received)[min(len(sent), len(received))]]
            verb, lacks = ("sends to", "no matching receive") if is_send else ("receives from", "no matching send")
            peer, other = (destination, source) if is_send else (source, destination)
            raise TraceError(
                alone.place,
                f"rank {other} {verb} rank {peer} with tag {match}, but rank {peer} has {lacks} "
                f"({len(sent)} sends, {len(received)} receives)",
            )
    return sends


def _check_sizes(send: Operation, receive: Operation) -> None:
    if receive.size_bytes < send.size_bytes:
        raise TraceError(
            receive.place,
            f"the receive of {receive.size_bytes} B is shorter than its message of {send.size_bytes} B ({send.place})",
        )


def _check_processors(operations: Sequence[Operation], order: Iterable[int]) -> None:
    """Check that dependencies within a rank order all computations of each processor.

    `ended[p]` has, by processor, how many of its computations have ended when operation p starts.
    """
    last: dict[tuple[int, object], list[int]] = defaultdict(list)
    ended: list[Mapping[object, int]] = [{}] * len(operations)
    for place in order:
        operation = operations[place]
        known: Mapping[object, int] = {}
        for before in operation.after_end:
            known = _merged(known, _ended_after(operations[before], ended[before]))
        for before in operation.after_start:
            known = _merged(known, ended[before])
        ended[place] = known
        if operation.kind == "compute" and operation.duration_ns and operation.processor is not None:
            earlier = last[operation.rank, operation.processor]
            if known.get(operation.processor, 0) < len(earlier):
                other = operations[earlier[-1]]
                raise TraceError(
                    operation.place,
                    f"this computation and that of {other.place} are on the same processor of rank {operation.rank}, "
                    "but no dependency orders them; add one, or let them overlap with --set overlap=true",
                )
            earlier.append(place)


def _ended_after(operation: Operation, ended: Mapping[object, int]) -> Mapping[object, int]:
    """Return how many computations have ended, by processor, when an operation ends."""
    if operation.kind != "compute" or not operation.duration_ns or operation.processor is None:
        return ended
    return {**ended, operation.processor: ended.get(operation.processor, 0) + 1}


def _merged(one: Mapping[object, int], other: Mapping[object, int]) -> Mapping[object, int]:
    if not one or one is other:
        return other
    if not other:
        return one
    return {key: max(one.get(key, 0), other.get(key, 0)) for key in (*one, *other)}


def _rest(operations: Sequence[Operation], order: Sequence[int]) -> list[str]:
    """Return a note about computations after the last message of their rank."""
    leads = [operation.kind == "send" for operation in operations]
    for place in reversed(order):
        if leads[place]:
            for before in (*operations[place].after_end, *operations[place].after_start):
                leads[before] = True
    rest = [
        operation
        for operation, is_needed in zip(operations, leads, strict=True)
        if operation.kind == "compute" and operation.duration_ns and not is_needed
    ]
    return [f"no message waits for {len(rest)} computations, which are left out"] if rest else []


class _Messages:
    """The messages of the operations that have been added, in this order."""

    def __init__(self, operations: Sequence[Operation], sends: Sequence[int], hosts: Sequence[str]) -> None:
        self._operations = operations
        self._sends = sends
        self._hosts = hosts
        self._starts: list[_Time] = [_BEGIN] * len(operations)
        self._ends: list[_Time] = [_BEGIN] * len(operations)
        self._numbers: dict[int, int] = {}
        """The number of the message of each send."""
        self._waits = 0
        self._local = 0
        self._empty = 0
        self.requests: list[FlowRequest] = []

    def notes(self) -> list[str]:
        """Return sentences about messages that are not sent as they are in the trace."""
        notes = []
        if self._local:
            notes.append(f"{self._local} messages between ranks on the same host take no time")
        if self._empty:
            notes.append(f"{self._empty} messages of 0 B are sent as 1 B")
        return notes

    def add(self, place: int) -> None:
        """Add an operation. All operations that it waits for must have been added."""
        operation = self._operations[place]
        ends = [self._ends[before] for before in operation.after_end]
        starts = [self._starts[before] for before in operation.after_start]
        start = self._latest([*ends, *starts], self._hosts[operation.rank])
        self._starts[place] = start
        if operation.kind == "compute":
            end = start.later(operation.duration_ns)
        elif operation.kind == "send":
            end = self._sent(place, start)
        else:
            send = self._sends[place]
            arrival = self._ends[send] if send in self._numbers else self._starts[send]
            end = self._latest([start, arrival], self._hosts[operation.rank])
        if max(end.constant_ns, 0) + end.more_ns > MAX_TIME_NS:
            raise TraceError(operation.place, f"more than {MAX_TIME_NS / 1e9:g} s of computation before this operation")
        self._ends[place] = end

    def _sent(self, place: int, start: _Time) -> _Time:
        operation = self._operations[place]
        source, destination = self._hosts[operation.rank], self._hosts[operation.peer]
        if source == destination:
            self._local += 1
            return start
        if operation.size_bytes > MAX_SIZE_BYTES:
            raise TraceError(operation.place, f"a message has at most {MAX_SIZE_BYTES} B, not {operation.size_bytes}")
        self._empty += not operation.size_bytes
        delays_ns = {number: delay_ns + start.more_ns for number, delay_ns in start.delays_ns.items()}
        if len(delays_ns) > 1:
            self._drop_earlier(delays_ns, source)
        self._waits += len(delays_ns)
        if len(self.requests) >= MOST_MESSAGES or self._waits > MOST_WAITS:
            raise TraceError(
                operation.place,
                f"too large up to here: at most {MOST_MESSAGES:,} messages, which wait for {MOST_WAITS:,} in all",
            )
        after = tuple(sorted(delays_ns))
        self.requests.append(
            FlowRequest(
                source,
                destination,
                max(1, operation.size_bytes),
                start.constant_ns + start.more_ns,
                operation.traffic_class,
                after=after,
                delay_ns=joined_delay_ns([delays_ns[number] for number in after]),
            )
        )
        number = len(self.requests)
        self._numbers[place] = number
        return _Time(0, {number: 0})

    def _latest(self, times: Sequence[_Time], host: str) -> _Time:
        """Return the latest of some times at a host."""
        if len(times) <= 1:
            return times[0] if times else _BEGIN
        constant_ns = 0
        delays_ns: dict[int, int] = {}
        for time in times:
            constant_ns = max(constant_ns, time.constant_ns + time.more_ns)
            for number, delay_ns in time.delays_ns.items():
                delays_ns[number] = max(delays_ns.get(number, 0), delay_ns + time.more_ns)
        if len(delays_ns) > _MANY_DELAYS:
            self._drop_earlier(delays_ns, host)
        return _Time(constant_ns, delays_ns)

    def _drop_earlier(self, delays_ns: dict[int, int], host: str) -> None:
        """Remove messages that another of the messages has waited for long enough, perhaps through further messages.

        The host sees the end of the earlier message no later than the source of the one that waited for it did, if both
        have the same source, or if the host is the source of the one that waited.
        """
        first = min(delays_ns)
        for number in sorted(delays_ns, reverse=True):
            steps = _MOST_STEPS_BACK
            waited = [(number, delays_ns[number])] if number in delays_ns else []
            while waited and steps:
                later, later_ns = waited.pop()
                request = self.requests[later - 1]
                for earlier, waited_ns in zip(request.after, request.delays_ns, strict=True):
                    steps = max(0, steps - 1)
                    total_ns = later_ns + waited_ns
                    is_seen = request.src in (host, self.requests[earlier - 1].src)
                    if is_seen and delays_ns.get(earlier, total_ns + 1) <= total_ns:
                        del delays_ns[earlier]
                    if earlier > first:  # a message waits for messages with lower numbers
                        waited.append((earlier, total_ns))
