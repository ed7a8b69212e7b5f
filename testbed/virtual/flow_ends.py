# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Whether all flows of a run are done, as every worker must know it after the same round."""

from __future__ import annotations

from array import array

from hosts.protocol import FlowReceived, FlowSent, Record
from testbed.recording.flow_ends import FlowEnds

_RECEIVED, _COMPLETED, _GIVEN_UP = range(3)
_KINDS = 3


class SharedFlowEnds:
    """The ends of flows that one worker saw since the last round, and what is left of all."""

    def __init__(self, flows: int) -> None:
        self._all = FlowEnds(flows)
        self._seen = array("q")

    @property
    def is_complete(self) -> bool:
        """As of the last round."""
        return self._all.is_complete

    def see(self, record: Record) -> None:
        """A record of a host of this worker."""
        if isinstance(record, FlowReceived):
            self._seen.append(_KINDS * record.flow_id + _RECEIVED)
        elif isinstance(record, FlowSent) and record.gave_up:
            self._seen.append(_KINDS * record.flow_id + _GIVEN_UP)
        elif isinstance(record, FlowSent) and record.finish_us is not None:
            self._seen.append(_KINDS * record.flow_id + _COMPLETED)

    def take(self) -> bytes:
        """What was seen, for the others; it counts from now on."""
        if not self._seen:
            return b""
        seen, self._seen = self._seen.tobytes(), array("q")
        self.add(seen)
        return seen

    def add(self, seen: bytes) -> None:
        """What another one saw in this round."""
        if not seen:
            return
        tell = {_RECEIVED: self._all.receive, _COMPLETED: self._all.complete, _GIVEN_UP: self._all.give_up}
        for word in array("q", seen):
            flow_id, kind = divmod(word, _KINDS)
            tell[kind](flow_id)
