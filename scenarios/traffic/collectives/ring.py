# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Ring algorithms: every rank sends to the next rank only (Patarasuk and Yuan 2009, docs/sources.md#all-reduce)."""

from __future__ import annotations

from sfc_testbed.scenarios.traffic.collectives.schedule import Call, CollectiveAlgorithm, Schedule, parts


class _Ring(CollectiveAlgorithm):
    """Ranks forward what they received in the step before. The buffer has `ranks` segments of `chunks` messages."""

    rounds = 1
    """How often each segment passes through all ranks."""
    reduces = False
    """Whether a rank needs time to process a chunk before it forwards it."""

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Send segment r - s from rank r in step s, once the same chunk of it has arrived."""
        ranks, chunks = call.ranks, call.chunks
        sizes = parts(call.size_bytes, ranks * chunks)
        for step in range(self.rounds * (ranks - 1)):
            before = (step - 1) * ranks * chunks
            for rank in range(ranks):
                first = (rank - step) % ranks * chunks
                from_previous = before + (rank - 1) % ranks * chunks
                for chunk in range(chunks):
                    arrived = (from_previous + chunk,) if step else ()
                    schedule.send(
                        rank,
                        (rank + 1) % ranks,
                        sizes[first + chunk],
                        step=step + 1,
                        after=() if self.reduces else arrived,
                        processed=arrived if self.reduces else (),
                    )


class RingAllReduce(_Ring):
    """A reduce-scatter, followed by an all-gather."""

    rounds = 2
    reduces = True


class RingReduceScatter(_Ring):
    """Each rank gets the sum of one segment."""

    reduces = True


class RingAllGather(_Ring):
    """Each rank gets the segments of all ranks."""


class ChainBroadcast(CollectiveAlgorithm):
    """A ring without its last hop: rank 0 sends the buffer, and every rank forwards each chunk to the next rank."""

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Send each chunk from rank to rank."""
        sizes = parts(call.size_bytes, call.chunks)
        for rank in range(call.ranks - 1):
            before = (rank - 1) * call.chunks
            for chunk, size_bytes in enumerate(sizes):
                after = (before + chunk,) if rank else ()
                schedule.send(rank, rank + 1, size_bytes, step=rank + 1, after=after)
