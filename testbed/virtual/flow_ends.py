# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tracks whether all flows of a run are done, so that every worker knows it after the same round."""

from __future__ import annotations

from array import array

from hosts.protocol import FlowReceived, FlowSent, Record
from testbed.recording.flow_ends import FlowEnds

_RECEIVED, _COMPLETED, _GIVEN_UP = range(3)
_KINDS = 3


class SharedFlowEnds:
    """Ends of flows that one worker has seen since the last round, and the state of all flows."""

    def __init__(self, flows: int) -> None:
        self._all = FlowEnds(flows)
        self._new_ends = array("q")

    @property
    def is_complete(self) -> bool:
        """Whether all flows were done at the end of the last round."""
        return self._all.is_complete

    def see(self, record: Record) -> None:
        """Note a record of one of this worker's hosts."""
        if isinstance(record, FlowReceived):
            self._new_ends.append(_KINDS * record.flow_id + _RECEIVED)
        elif isinstance(record, FlowSent) and record.gave_up:
            self._new_ends.append(_KINDS * record.flow_id + _GIVEN_UP)
        elif isinstance(record, FlowSent) and record.finish_us is not None:
            self._new_ends.append(_KINDS * record.flow_id + _COMPLETED)

    def take(self) -> bytes:
        """Return the ends seen since the last call, as bytes for the other workers, and count them here."""
        if not self._new_ends:
            return b""
        ends, self._new_ends = self._new_ends.tobytes(), array("q")
        self.add(ends)
        return ends

    def add(self, ends: bytes) -> None:
        """Count the ends that another worker saw in this round."""
        if not ends:
            return
        actions = {_RECEIVED: self._all.receive, _COMPLETED: self._all.complete, _GIVEN_UP: self._all.give_up}
        for word in array("q", ends):
            flow_id, kind = divmod(word, _KINDS)
            actions[kind](flow_id)
