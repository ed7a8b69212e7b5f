# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Go-back-N with a NAK per gap and a retransmission timeout (IBTA reliable connection; docs/sources.md#go-back-n).

The HPCC simulator has no timeout and never acknowledges duplicates, so that a flow hangs if its last packets are lost.
This implementation has both.
"""

from dataclasses import dataclass

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import PathContext
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER, Arrival, LossRecovery, PacketOrder
from sfc_testbed.request.checks import Nanoseconds


@dataclass(frozen=True, slots=True)
class GoBackNParameters:
    """Parameters of go-back-N."""

    nak_interval_ns: Nanoseconds = 500_000
    """Time after which a persisting gap is reported again (HPCC-sim attribute "NACK Generation Interval")."""


@mypyc_attr(allow_interpreted_subclasses=True)
class InOrderOnly(PacketOrder):
    """A packet order that accepts only the expected packet, with one NAK per gap that is repeated once per interval."""

    __slots__ = ("_gap_reported", "_interval_ns", "_report_again_ns")

    def __init__(self, parameters: GoBackNParameters) -> None:
        super().__init__(parameters)
        self._interval_ns = parameters.nak_interval_ns
        self._gap_reported = -1
        self._report_again_ns = 0

    def on_packet(self, index: int, opcode: int, body: bytes, body_crc: int, now_ns: int) -> Arrival:
        """Accept the expected packet, or report a gap."""
        if index == self.expected:
            self.expected = index + 1
            return Arrival.IN_ORDER
        if index < self.expected:
            return Arrival.DUPLICATE
        if self._gap_reported == self.expected and now_ns < self._report_again_ns:
            return Arrival.SILENT
        self._gap_reported = self.expected
        self._report_again_ns = now_ns + self._interval_ns
        return Arrival.NEGATIVE


@mypyc_attr(allow_interpreted_subclasses=True)
class GoBackN(LossRecovery):
    """A loss recovery that resends all packets from the first gap on."""

    __slots__ = ("_cursor", "_rto_ns")

    Parameters = GoBackNParameters
    Order = InOrderOnly
    resends_successors = True

    def __init__(self, parameters: GoBackNParameters, path: PathContext, rto_ns: int, first_index: int) -> None:
        super().__init__(parameters, path, rto_ns, first_index)
        self._cursor = first_index
        self._rto_ns = rto_ns

    def next_packet(self) -> int:
        """Return the cursor, which is less than `next_new` after a rewind and equal to it otherwise."""
        return self._cursor

    def in_flight(self) -> int:
        """Return the number of packets between the gap and the cursor."""
        return self._cursor - self.cumulative

    def on_sent(self, index: int, now_ns: int) -> None:
        """Advance the cursor, and start the timer for the first packet in flight."""
        self._cursor = index + 1
        if self._cursor > self.next_new:
            self.next_new = self._cursor
        if self.deadline_ns == NEVER:
            self.deadline_ns = now_ns + self._rto_ns

    def on_ack(self, cumulative: int, selective: int, negative: bool, now_ns: int) -> int:
        """Restart the timer if new packets are acknowledged, and rewind to the gap for a NAK."""
        if cumulative > self.cumulative:
            self.cumulative = cumulative
            if cumulative > self._cursor:
                self._cursor = cumulative
            self.deadline_ns = now_ns + self._rto_ns if cumulative < self.next_new else NEVER
        return self._rewind() if negative else 0

    def on_timer(self, now_ns: int) -> int:
        """Rewind to the first unacknowledged packet."""
        self.deadline_ns = NEVER
        return self._rewind()

    def _rewind(self) -> int:
        lost = self._cursor - self.cumulative
        self._cursor = self.cumulative
        return lost
