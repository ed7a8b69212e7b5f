# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The loss recovery of NDP, in which the receiver pulls (SIGCOMM 2017, section 3.2; docs/sources.md#ndp).

A sender starts with an initial window, for which it needs no pulls. After that every pull releases one packet: first a
packet that arrived trimmed, or else a new one. The order of arrivals carries no information, because packets may take
different paths. A packet whose header was returned waits for the next pull; only a sender that expects no pull resends
it without one.

The NDP paper has a timer for every packet. Here a flow has one timer, which restarts with every packet sent and every
answer. When it expires, all packets in flight count as lost and the sender may send one packet, which makes the
receiver pull again. The timer also runs while nothing is in flight, because the pull that the sender waits for may be
lost.
"""

from dataclasses import dataclass, replace
from typing import Final

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import PathContext
from sfc_testbed.hosts.transport.loss_recovery.base import KeepingOrder, LossRecovery
from sfc_testbed.request.checks import Count, PositiveCount, PositiveNanoseconds

_PULL_MASK: Final = 0xFFFFFF
_PULL_HALF: Final = 1 << 23


@dataclass(frozen=True, slots=True)
class NdpParameters:
    """Parameters of NDP (docs/sources.md#ndp)."""

    initial_window_packets: Count = 0
    """Packets that are sent without a pull; 0: one BDP."""
    rto_ns: PositiveNanoseconds = 1_000_000
    """Time without an answer after which all packets in flight count as lost. The NDP paper finds 1 ms sufficient;
    htsim uses 50 ms."""
    held_packets: PositiveCount = 1 << 16
    """Maximum distance of an early packet from the gap; the receiver drops packets further ahead."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Ndp(LossRecovery):
    """The NDP sender. Its state is the credit in packets, the later packets that arrived, and the packets to resend."""

    __slots__ = ("_arrived", "_credit", "_expected_pulls", "_last_pull", "_lost", "_rto_ns", "_window")

    Parameters = NdpParameters
    Order = KeepingOrder
    is_pulled = True
    tolerates_reordering = True

    @classmethod
    def resolve(cls, parameters: NdpParameters, path: PathContext) -> NdpParameters:
        """Return the parameters with the initial window set to one BDP if it is unset."""
        window = parameters.initial_window_packets or max(1, -(-path.bdp_bytes // path.payload_bytes))
        return replace(parameters, initial_window_packets=window)

    def __init__(self, parameters: NdpParameters, path: PathContext, rto_ns: int, first_index: int) -> None:
        super().__init__(parameters, path, rto_ns, first_index)
        self._window = parameters.initial_window_packets
        self._credit = self._window
        self._rto_ns = parameters.rto_ns
        self._last_pull = -1
        self._expected_pulls = 0  # pulls expected for the packets sent
        self._arrived: set[int] = set()
        self._lost: dict[int, None] = {}  # in the order in which to resend them

    def next_packet(self) -> int:
        """Return the first packet to resend, or else a new one; -1 without credit."""
        if self._credit <= 0:
            return -1
        return next(iter(self._lost)) if self._lost else self.next_new

    def in_flight(self) -> int:
        """Return the unacknowledged packets, except packets that arrived early or wait to be resent."""
        return self.next_new - self.cumulative - len(self._arrived) - len(self._lost)

    def on_sent(self, index: int, now_ns: int) -> None:
        """Use one packet of credit and expect a pull for it."""
        self._credit -= 1
        self._expected_pulls += 1
        if index == self.next_new:
            self.next_new = index + 1
        else:
            self._lost.pop(index, None)
        self._restart_timer(now_ns)

    def on_ack(self, cumulative: int, selective: int, negative: bool, now_ns: int) -> int:
        """Record the packets that arrived.

        If the first missing packet was acknowledged selectively before, all selective acknowledgements are discarded.
        """
        for index in range(self.cumulative, cumulative):
            self._arrived.discard(index)
            self._lost.pop(index, None)
        self.cumulative = cumulative
        lost = 0
        if cumulative in self._arrived:
            lost = len(self._arrived)
            self._lost.update(dict.fromkeys(sorted(self._arrived)))
            self._arrived.clear()
        if selective > cumulative:
            self._arrived.add(selective)
            self._lost.pop(selective, None)
        self._restart_timer(now_ns)
        return lost

    def on_trimmed(self, index: int, now_ns: int) -> int:
        """Mark a packet that arrived trimmed as lost."""
        self._restart_timer(now_ns)
        return self._lose(index)

    def on_returned(self, index: int, now_ns: int) -> int:
        """Mark a returned packet as lost; the receiver does not know of it and sends no pull for it."""
        if self._expected_pulls > 0:
            self._expected_pulls -= 1
        lost = self._lose(index)
        if lost and self._expected_pulls == 0 and self._credit <= 0:
            self._credit = 1
        self._restart_timer(now_ns)
        return lost

    def on_pull(self, number: int, now_ns: int) -> None:
        """Add credit for as many packets as the pull number has advanced, up to an initial window in total."""
        new_pulls = 1 if self._last_pull < 0 else (number - self._last_pull) & _PULL_MASK
        if new_pulls >= _PULL_HALF:
            return
        self._last_pull = number
        self._credit = min(self._credit + new_pulls, self._window)
        self._expected_pulls = max(0, self._expected_pulls - new_pulls)
        self._restart_timer(now_ns)

    def on_timer(self, now_ns: int) -> int:
        """Mark all packets in flight as lost and allow one packet to be sent."""
        before = len(self._lost)
        for index in range(self.cumulative, self.next_new):
            if index not in self._arrived:
                self._lost[index] = None
        self._credit = max(1, self._credit)
        self._expected_pulls = 0
        self._restart_timer(now_ns)
        return len(self._lost) - before

    def _lose(self, index: int) -> int:
        if not self.cumulative <= index < self.next_new or index in self._arrived or index in self._lost:
            return 0
        self._lost[index] = None
        return 1

    def _restart_timer(self, now_ns: int) -> None:
        self.deadline_ns = now_ns + self._rto_ns
