# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Which flows of a run are done. Who tells of the ends of a flow, and in which order, makes no difference."""

from __future__ import annotations


class FlowEnds:
    """The ends of so many flows, each told at most once."""

    def __init__(self, flows: int) -> None:
        self._flows = flows
        self._given_up = 0
        self._received_early: set[int] = set()
        self._undelivered: set[int] = set()
        self.completed = 0
        """Flows whose sender has seen the last acknowledgment."""

    @property
    def is_complete(self) -> bool:
        """Whether every flow is done at both ends, or given up by its sender."""
        return self.completed + self._given_up == self._flows and not self._undelivered

    @property
    def undelivered(self) -> int:
        """Flows whose sender has seen the last acknowledgment and whose receiver does not have them whole."""
        return len(self._undelivered)

    def complete(self, flow_id: int) -> None:
        """The sender has seen the last acknowledgment."""
        self.completed += 1
        self._match(flow_id, self._received_early, self._undelivered)

    def give_up(self, flow_id: int) -> None:
        """The sender has; whether the receiver has it whole does not matter any more."""
        self._given_up += 1
        self._received_early.discard(flow_id)

    def receive(self, flow_id: int) -> None:
        """The receiver has it whole."""
        self._match(flow_id, self._undelivered, self._received_early)

    @staticmethod
    def _match(flow_id: int, others: set[int], waiting: set[int]) -> None:
        """One end of a flow is done: its other end is among `others`, or it waits for that."""
        if flow_id in others:
            others.remove(flow_id)
        else:
            waiting.add(flow_id)
