# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Pipeline parallelism: neighbouring ranks pass micro-batches on (Huang et al., GPipe, NeurIPS 2019)."""

from __future__ import annotations

from sfc_testbed.scenarios.traffic.collectives.schedule import Call, CollectiveAlgorithm, Schedule, parts


class GPipe(CollectiveAlgorithm):
    """All micro-batches pass forward through the ranks. When the last rank has all of them, gradients pass backward.

    `chunks` is the number of micro-batches, and the size is that of all micro-batches between two ranks.
    """

    def add_messages(self, schedule: Schedule, call: Call) -> None:
        """Add the forward pass and the backward pass."""
        sizes, last = parts(call.size_bytes, call.chunks), call.ranks - 1
        arrived: list[list[int]] = [[] for _ in sizes]
        for rank in range(last):
            arrived = [
                [schedule.send(rank, rank + 1, size, step=rank + 1, processed=after)]
                for size, after in zip(sizes, arrived, strict=True)
            ]
        arrived = [[number for numbers in arrived for number in numbers]] * call.chunks
        for rank in range(last, 0, -1):
            arrived = [
                [schedule.send(rank, rank - 1, size, step=2 * last - rank + 1, processed=after)]
                for size, after in zip(sizes, arrived, strict=True)
            ]
