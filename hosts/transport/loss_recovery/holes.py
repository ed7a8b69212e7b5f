# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packets that later packets have overtaken, until they arrive or count as lost.

A hole counts as lost once a packet sent `packets` later has arrived, or `duration_ns` after the first later packet has
arrived, whichever comes first. A limit of 0 is off. This is RFC 8985's reordering window (RACK), with a fixed window,
and RFC 5681's threshold of duplicate acknowledgements.
"""

from collections import deque

from sfc_testbed.hosts.transport.loss_recovery.base import NEVER


class Holes:
    """The holes of one queue pair by index, in order, with the time at which each counts as lost."""

    __slots__ = ("_due", "_duration_ns", "_packets")

    def __init__(self, packets: int, duration_ns: int) -> None:
        self._packets = packets
        self._duration_ns = duration_ns
        self._due: deque[tuple[int, int]] = deque()

    def add(self, first: int, end: int, now_ns: int) -> None:
        """Note that a packet after `first` to `end` - 1 has arrived before them."""
        due_ns = now_ns + self._duration_ns if self._duration_ns else NEVER
        for index in range(first, end):
            self._due.append((index, due_ns))

    def take_lost(self, cumulative: int, arrived: set[int], highest: int, now_ns: int) -> list[int]:
        """Remove the holes that have arrived or count as lost, and return the lost ones.

        Packets before `cumulative` and in `arrived` have arrived; `highest` is the last one of them.
        """
        due, lost = self._due, []
        last = highest - self._packets if self._packets else -1
        while due:
            index, due_ns = due[0]
            if index >= cumulative and index not in arrived:
                if index > last and due_ns > now_ns:
                    break
                lost.append(index)
            due.popleft()
        return lost

    @property
    def next_ns(self) -> int:
        """The time at which the next hole counts as lost."""
        return self._due[0][1] if self._due else NEVER

    def clear(self) -> None:
        """Forget all holes."""
        self._due.clear()
