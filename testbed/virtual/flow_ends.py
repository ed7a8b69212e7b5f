# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Whether all flows of a run are done, as every worker must know it after the same round."""

from __future__ import annotations

from array import array

from hosts.protocol import FlowReceived, FlowSent, Record

_RECEIVED, _COMPLETED, _GIVEN_UP = range(3)
_KINDS = 3


class FlowEnds:
    """The ends of flows that one worker saw since the last round, and what is left of all."""

    def __init__(self, flows: int) -> None:
        self._flows = flows
        self._ended = 0
        self._received: set[int] = set()
        self._undelivered: set[int] = set()
        self._seen = array("q")

    @property
    def is_complete(self) -> bool:
        """As `Recorder.is_complete`."""
        return self._ended == self._flows and not self._undelivered

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
        seen, self._seen = self._seen.tobytes(), array("q")
        self.add(seen)
        return seen

    def add(self, seen: bytes) -> None:
        """What another one saw in this round."""
        for word in array("q", seen):
            flow_id, kind = divmod(word, _KINDS)
            if kind == _RECEIVED:
                self._received.add(flow_id)
                self._undelivered.discard(flow_id)
                continue
            self._ended += 1
            if kind == _COMPLETED and flow_id not in self._received:
                self._undelivered.add(flow_id)
