# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tracks which flows of a run are done. Sender and receiver may report in any order."""

from __future__ import annotations


class FlowEnds:
    """The reports from both ends of all flows, at most one per end."""

    def __init__(self, flows: int) -> None:
        self._flows = flows
        self._given_up = 0
        self._received_early: set[int] = set()
        self._undelivered: set[int] = set()
        self.completed = 0
        """Number of flows whose sender has received the last acknowledgment."""

    @property
    def is_complete(self) -> bool:
        """Whether every flow is done at both ends, or abandoned by its sender."""
        return self.completed + self._given_up == self._flows and not self._undelivered

    @property
    def undelivered(self) -> int:
        """Number of flows whose sender has the last acknowledgment, but whose receiver has not reported them yet."""
        return len(self._undelivered)

    def complete(self, flow_id: int) -> None:
        """Record that the sender has received the last acknowledgment."""
        self.completed += 1
        self._match(flow_id, self._received_early, self._undelivered)

    def give_up(self, flow_id: int) -> None:
        """Record that the sender has given up. Whether the receiver has the whole flow no longer matters."""
        self._given_up += 1
        self._received_early.discard(flow_id)

    def receive(self, flow_id: int) -> None:
        """Record that the receiver has the whole flow."""
        self._match(flow_id, self._undelivered, self._received_early)

    @staticmethod
    def _match(flow_id: int, others: set[int], waiting: set[int]) -> None:
        """Record one end of a flow: remove it from `others` if the other end is there, else add it to `waiting`."""
        if flow_id in others:
            others.remove(flow_id)
        else:
            waiting.add(flow_id)
