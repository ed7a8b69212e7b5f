# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Recursive halving and doubling: ranks exchange with the rank at half, or twice, the distance of the step before
(Thakur, Rabenseifner and Gropp 2005, docs/sources.md#collectives)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.collectives.schedule import Call, CollectiveAlgorithm, Schedule, parts

_HALVING, _DOUBLING = 1, 2
"""The queue pairs of the two phases."""


def _halve(
    schedule: Schedule, ranks: Sequence[int], sizes: Sequence[int], arrived: Mapping[int, list[int]], first_step: int
) -> dict[int, list[int]]:
    """Add a reduce-scatter, after which the rank in each place has the sum of the segment of this place.

    `arrived` has messages that ranks must have before they begin. Returns the messages that each rank needs afterwards.
    """
    received = {rank: list(arrived.get(rank, ())) for rank in ranks}
    distance, step = len(ranks) // 2, first_step
    while distance:
        sent = {}
        for place, rank in enumerate(ranks):
            partner = place ^ distance
            begin = partner & -distance
            sent[ranks[partner]] = schedule.send(
                rank,
                ranks[partner],
                sum(sizes[begin : begin + distance]),
                step=step,
                processed=received[rank],
                queue_pair=_HALVING,
            )
        received = {rank: [*numbers, sent[rank]] for rank, numbers in received.items()}
        distance, step = distance // 2, step + 1
    return received


def _double(
    schedule: Schedule, ranks: Sequence[int], sizes: Sequence[int], arrived: Mapping[int, list[int]], first_step: int
) -> dict[int, list[int]]:
    """Add an all-gather, in which the rank in each place begins with the segment of this place. As `_halve`."""
    received = {rank: list(arrived.get(rank, ())) for rank in ranks}
    distance, step = 1, first_step
    while distance < len(ranks):
        sent = {}
        for place, rank in enumerate(ranks):
            begin = place & -distance
            partner = ranks[place ^ distance]
            size_bytes = sum(sizes[begin : begin + distance])
            sent[partner] = schedule.send(
                rank, partner, size_bytes, step=step, after=received[rank], queue_pair=_DOUBLING
            )
        received = {rank: [*numbers, sent[rank]] for rank, numbers in received.items()}
        distance, step = 2 * distance, step + 1
    return received


def _power_below(ranks: int) -> int:
    """Return the largest power of two that is not above a number of ranks."""
    return 1 << (ranks.bit_length() - 1)


def _need_power_of_two(ranks: int, collective: str) -> None:
    if ranks != _power_below(ranks):
        raise ScenarioError(
            f"ranks {ranks}: algorithm recursive of {collective} needs a power of two, such as {_power_below(ranks)}; "
            "or use algorithm=ring"
        )


class RecursiveReduceScatter(CollectiveAlgorithm):
    """Recursive halving."""

    has_chunks = False

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Add the steps. ScenarioError unless the number of ranks is a power of two."""
        _need_power_of_two(call.ranks, "reduce-scatter")
        _halve(schedule, range(call.ranks), parts(call.size_bytes, call.ranks), {}, 1)


class RecursiveAllGather(CollectiveAlgorithm):
    """Recursive doubling."""

    has_chunks = False

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Add the steps. ScenarioError unless the number of ranks is a power of two."""
        _need_power_of_two(call.ranks, "all-gather")
        _double(schedule, range(call.ranks), parts(call.size_bytes, call.ranks), {}, 1)


class RecursiveAllReduce(CollectiveAlgorithm):
    """Recursive halving, then recursive doubling.

    With 2^k + r ranks, each of the first r even ranks first gives its buffer to the next rank, and gets the sum from it
    at the end. The other 2^k ranks do the rest.
    """

    has_chunks = False

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Add the steps of both phases, and the exchanges before and after them."""
        power = _power_below(call.ranks)
        folded = range(0, 2 * (call.ranks - power), 2)
        ranks = [rank for rank in range(call.ranks) if rank not in folded]
        sizes = parts(call.size_bytes, power)
        arrived = {rank + 1: [schedule.send(rank, rank + 1, call.size_bytes, step=1)] for rank in folded}
        first_step = 2 if folded else 1
        steps = power.bit_length() - 1
        arrived = _halve(schedule, ranks, sizes, arrived, first_step)
        arrived = _double(schedule, ranks, sizes, arrived, first_step + steps)
        for rank in folded:
            step = first_step + 2 * steps
            schedule.send(rank + 1, rank, call.size_bytes, step=step, after=arrived[rank + 1], queue_pair=_DOUBLING)
