# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""All-to-all, and the two all-to-alls of a mixture of experts (docs/sources.md#collectives)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.collectives.schedule import Call, CollectiveAlgorithm, Schedule, parts

SizesOf = Callable[[int, int], Sequence[int]]
"""Returns the sizes of the chunks from one rank to another."""


def _exchange(
    schedule: Schedule,
    call: Call,
    sizes_of: SizesOf,
    *,
    is_shifted: bool,
    ready: Sequence[Sequence[int]] = (),
    first_step: int = 1,
    queue_pair: int = 1,
) -> list[list[int]]:
    """Let every rank send to every other rank, first to the next rank. Returns the messages that each rank receives.

    Shifted: a rank sends to the rank at distance s when it has the message from the rank at distance s - 1. Otherwise
    it sends all messages at once. `ready` has messages that each rank must have before it begins.
    """
    received: list[list[int]] = [[] for _ in range(call.ranks)]
    before: list[list[int]] = [[] for _ in range(call.ranks)]
    begins = ready or [()] * call.ranks
    for distance in range(1, call.ranks):
        arriving: list[list[int]] = [[] for _ in range(call.ranks)]
        for rank in range(call.ranks):
            other = (rank + distance) % call.ranks
            for chunk, size_bytes in enumerate(sizes_of(rank, other)):
                previous = before[rank][chunk : chunk + 1] if is_shifted else []
                arriving[other].append(
                    schedule.send(
                        rank,
                        other,
                        size_bytes,
                        step=first_step + (distance - 1 if is_shifted else 0),
                        after=previous,
                        processed=begins[rank],
                        queue_pair=queue_pair,
                    )
                )
        before = arriving
        for rank in range(call.ranks):
            received[rank] += arriving[rank]
    return received


class ShiftedAllToAll(CollectiveAlgorithm):
    """Every rank sends to the rank at distance s in step s, once the message of the step before has arrived."""

    is_shifted = True

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Send one of `ranks` equal parts of the buffer to each other rank."""
        sizes = parts(call.size_bytes, call.ranks * call.chunks)
        segments = [sizes[rank * call.chunks : (rank + 1) * call.chunks] for rank in range(call.ranks)]
        _exchange(schedule, call, lambda _, other: segments[other], is_shifted=self.is_shifted)


class AllToAllAtOnce(ShiftedAllToAll):
    """Every rank sends to all others at once."""

    is_shifted = False


class ShiftedExperts(CollectiveAlgorithm):
    """Ranks send tokens to the experts, one on each rank, and each expert returns its results to all ranks.

    An expert returns its results when all its tokens have arrived. The expert in place k by popularity, which the seed
    gives to a rank, gets a fraction of every rank's tokens in proportion to 1 / k^skew.
    """

    is_shifted = True

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Add the messages with the tokens and those with the results."""
        sizes = [_chunks_of(size_bytes, call) for size_bytes in _tokens(call)]
        received = _exchange(schedule, call, lambda _, other: sizes[other], is_shifted=self.is_shifted)
        _exchange(
            schedule,
            call,
            lambda rank, _: sizes[rank],
            is_shifted=self.is_shifted,
            ready=received,
            first_step=max(schedule.step) + 1,
            queue_pair=2,
        )


class ExpertsAtOnce(ShiftedExperts):
    """The same, but every rank sends to all others at once."""

    is_shifted = False


def _tokens(call: Call) -> list[int]:
    """Return the bytes that every rank sends to each expert."""
    weights = [(place + 1) ** -call.skew for place in range(call.ranks)]
    order = call.random.permutation(call.ranks).tolist()
    total = sum(weights)
    sizes = [0] * call.ranks
    for place, rank in enumerate(order):
        sizes[rank] = int(call.size_bytes * weights[place] / total)
    return sizes


def _chunks_of(size_bytes: int, call: Call) -> list[int]:
    if size_bytes < call.chunks:
        raise ScenarioError(
            f"bytes {call.size_bytes} is too small: with skew {call.skew:g} and {call.ranks} ranks, an expert gets "
            f"{size_bytes} B of each rank for {call.chunks} chunks; use more bytes or a smaller skew"
        )
    return parts(size_bytes, call.chunks)
