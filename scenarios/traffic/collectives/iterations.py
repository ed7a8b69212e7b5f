# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The flows of a job: iterations of a schedule with compute gaps and barriers between them.

A message can wait only for messages of its own host. So the barrier consists of real messages, the dissemination
barrier of Hensgen, Finkel and Manber (1988): in round k of ceil(log2 ranks), every rank signals to the rank at distance
2^k when it has the signals of the rounds before.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sfc_testbed.request.spec import BARRIER_TAG
from sfc_testbed.scenarios.model.flow import FlowRequest, joined_delay_ns
from sfc_testbed.scenarios.traffic.collectives.schedule import MOST_MESSAGES, Schedule, too_many_messages

_BARRIER_BYTES = 8
"""Size of a signal."""

Waits = dict[int, int]
"""The delay after each message that a message waits for, by its position in the list of flows, from 1."""


class _Gate(NamedTuple):
    """The messages that a rank waits for before an iteration, and the gap after them."""

    after: Sequence[int]
    gap_ns: int


@dataclass(frozen=True)
class JobSettings:
    """The common properties of all iterations of a job."""

    number: int
    tag: str
    hosts: Sequence[str]
    """The host of each rank."""
    step_ns: int
    has_barrier: bool
    gaps_ns: Sequence[Sequence[int]]
    """The gap of each rank before each iteration; before the first one, counted from the start of the run."""


class JobFlows:
    """Generates the flows of a job, which follow `first` other flows in their list."""

    def __init__(self, schedule: Schedule, settings: JobSettings, first: int) -> None:
        self._schedule = schedule
        self._settings = settings
        self._ends = schedule.after_ends.tolist()
        self._last = self._last_by_queue_pair()
        self._part = self._own_parts()
        self._barrier_pair = max(schedule.queue_pair) + 1
        ranks = len(settings.hosts)
        self._distances = [1 << number for number in range((ranks - 1).bit_length())] if settings.has_barrier else []
        self._stride = len(schedule) + ranks * len(self._distances)
        self._first = first
        if len(settings.gaps_ns) * self._stride > MOST_MESSAGES or self._waits_of_part() > MOST_MESSAGES:
            raise too_many_messages()

    def __iter__(self) -> Iterator[FlowRequest]:
        """Yield the flows of all iterations, without a barrier after the last one."""
        count = len(self._settings.gaps_ns)
        for iteration in range(count):
            yield from self._messages(iteration)
            if iteration + 1 < count:
                yield from self._barrier(iteration)

    def _waits_of_part(self) -> int:
        """Return how many pairs of a message and one that it waits for the iterations need, without inner ones."""
        if self._distances:
            return sum(map(len, self._part.values()))
        by_rank: dict[int, int] = defaultdict(int)
        for rank in self._schedule.src:
            by_rank[rank] += 1
        return sum(count * len(self._part[rank]) for rank, count in by_rank.items()) * (len(self._settings.gaps_ns) - 1)

    def _last_by_queue_pair(self) -> Mapping[tuple[int, int, int], int]:
        """Return the number of the last message on each queue pair."""
        schedule = self._schedule
        pairs = zip(schedule.src, schedule.dst, schedule.queue_pair, strict=True)
        return {pair: number for number, pair in enumerate(pairs)}

    def _own_parts(self) -> Mapping[int, Sequence[int]]:
        """Return the messages whose ends are the end of each rank's part: its last ones in both directions."""
        part: dict[int, list[int]] = defaultdict(list)
        for (src, dst, _), number in self._last.items():
            part[src].append(number)
            part[dst].append(number)
        return part

    def _place(self, iteration: int, number: int) -> int:
        """Return the position in the list of flows of a message, or of a signal, whose numbers follow."""
        return self._first + iteration * self._stride + number + 1

    def _signal(self, iteration: int, turn: int, rank: int) -> int:
        """Return the position of the signal that a rank sends in a round of the barrier after an iteration."""
        return self._place(iteration, len(self._schedule) + turn * len(self._settings.hosts) + rank)

    def _gates(self, iteration: int) -> Sequence[_Gate]:
        """Return what each rank waits for before an iteration."""
        gaps_ns = self._settings.gaps_ns[iteration]
        if not iteration:
            return [_Gate((), 0) for _ in gaps_ns]
        before = iteration - 1
        if not self._distances:
            parts = ([self._place(before, number) for number in self._part[rank]] for rank in range(len(gaps_ns)))
            return [_Gate(part, gap_ns) for part, gap_ns in zip(parts, gaps_ns, strict=True)]
        return [_Gate(self._signals(before, len(self._distances), rank), gap_ns) for rank, gap_ns in enumerate(gaps_ns)]

    def _signals(self, iteration: int, turns: int, rank: int) -> list[int]:
        """Return what a rank has after some rounds: its own first signal, and those that it received.

        The acknowledgment of the own signal shows that the rank's own part is done.
        """
        ranks = len(self._settings.hosts)
        distances = enumerate(self._distances[:turns])
        received = (self._signal(iteration, turn, (rank - distance) % ranks) for turn, distance in distances)
        return [self._signal(iteration, 0, rank), *received]

    def _messages(self, iteration: int) -> Iterator[FlowRequest]:
        """Yield the messages of an iteration.

        Each one also waits for the last message of its queue pair in the iteration before, which orders the queue pair.
        """
        schedule, settings = self._schedule, self._settings
        gates = self._gates(iteration)
        begin = 0
        for number, end in enumerate(self._ends):
            src, dst, queue_pair = schedule.src[number], schedule.dst[number], schedule.queue_pair[number]
            waits: Waits = dict.fromkeys(gates[src].after, gates[src].gap_ns)
            if iteration:
                waits.setdefault(self._place(iteration - 1, self._last[src, dst, queue_pair]), 0)
            inner = zip(schedule.after[begin:end], schedule.is_processed[begin:end], strict=True)
            waits.update((self._place(iteration, other), settings.step_ns * processed) for other, processed in inner)
            begin = end
            yield FlowRequest(
                settings.hosts[src],
                settings.hosts[dst],
                schedule.size_bytes[number],
                0 if iteration else settings.gaps_ns[0][src],
                settings.tag,
                queue_pair=queue_pair,
                after=tuple(waits),
                delay_ns=joined_delay_ns(tuple(waits.values())),
                job=settings.number,
                iteration=iteration + 1,
                step=schedule.step[number],
                rank=src,
            )

    def _barrier(self, iteration: int) -> Iterator[FlowRequest]:
        """Yield the signals after an iteration."""
        settings, ranks = self._settings, len(self._settings.hosts)
        for turn, distance in enumerate(self._distances):
            for rank in range(ranks):
                before = (
                    self._signals(iteration, turn, rank)
                    if turn
                    else [self._place(iteration, number) for number in self._part[rank]]
                )
                if iteration:
                    before.append(self._signal(iteration - 1, turn, rank))
                yield FlowRequest(
                    settings.hosts[rank],
                    settings.hosts[(rank + distance) % ranks],
                    _BARRIER_BYTES,
                    0,
                    BARRIER_TAG,
                    queue_pair=self._barrier_pair,
                    after=tuple(before),
                    job=settings.number,
                    iteration=iteration + 1,
                    step=turn + 1,
                    rank=rank,
                )
