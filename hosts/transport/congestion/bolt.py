# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Bolt (Arslan et al., NSDI'23), as in its authors' simulator (docs/sources.md#bolt): a window set by the switches.

A congested switch asks the sender itself for a smaller window, in less than a round trip. Data packets ask switches for
a larger one, and the acknowledgement has the number of requests that no switch refused. The window also grows by a
packet in each round trip.
"""

from dataclasses import dataclass, replace
from typing import Final

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import AckSample, PathContext
from sfc_testbed.hosts.transport.congestion.packet_window import Packets, PacketWindow, Share, check_order
from sfc_testbed.wire.constants import BOLT_FIRST, BOLT_INC, BOLT_LAST, BtsCause
from sfc_testbed.wire.units import NS_PER_S

_NEVER: Final = -1


@dataclass(frozen=True, slots=True)
class BoltParameters:
    """Parameters of Bolt's sender. The defaults are its simulator's (docs/sources.md#bolt); windows are in packets."""

    additive_packets: Packets = 1.0
    """AiFactor: increase in a round trip."""
    max_decrease: Share = 0.5
    """MaxMd: share of the window that a loss takes, and that a switch's request takes from one of at most a packet."""
    min_packets: Packets = 0.01
    """MinCwnd: minimum window."""
    max_packets: Packets | None = None
    """MaxCwnd: maximum window, with which a flow also begins; None: one BDP."""

    def __post_init__(self) -> None:
        """Refuse bounds in the wrong order."""
        check_order(self, ("min_packets", "max_packets"))


@mypyc_attr(allow_interpreted_subclasses=True)
class Bolt(PacketWindow):
    """Bolt's sender: a window in packets, decreased by switches and increased with their permission.

    Its state is the window, the last RTT, the time of the last decrease, and the end of the present round trip.
    """

    __slots__ = ("_additive_packets", "_is_answered", "_last_cut_ns", "_max_decrease", "_round_until_bytes", "_rtt_ns")

    obeyed_cause = BtsCause.SUB_RTT

    Parameters = BoltParameters

    @classmethod
    def resolve(cls, parameters: BoltParameters, path: PathContext) -> BoltParameters:
        """Return the parameters with an unset maximum window derived from the path."""
        if parameters.max_packets is not None:
            return parameters
        return replace(parameters, max_packets=max(1.0, path.bdp_bytes / path.payload_bytes))

    def __init__(self, parameters: BoltParameters, path: PathContext) -> None:
        assert parameters.max_packets is not None  # resolved
        super().__init__(parameters, path, parameters.min_packets, parameters.max_packets)
        self._additive_packets = parameters.additive_packets
        self._max_decrease = parameters.max_decrease
        self._rtt_ns: int = 0
        self._is_answered = False
        self._last_cut_ns: int = _NEVER
        self._round_until_bytes: int = 0
        self._change_window(parameters.max_packets)

    def data_flags(self, remaining_bytes: int) -> int:
        """Return whether the packet is in the flow's first and last window; in neither it asks for a larger window.

        The first window ends with the first acknowledgement. An RTT may be known much later: retransmissions have none.
        """
        flags = 0 if self._is_answered else BOLT_FIRST
        if remaining_bytes <= self.window_bytes:
            return flags | BOLT_LAST
        return flags or BOLT_INC

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Increase the window by the granted requests, and by `additive_packets` at the end of a round trip."""
        self._is_answered = True
        if sample.rtt_ns:
            self._rtt_ns = sample.rtt_ns
        gained = float(sample.increments)
        if sample.cumulative_bytes > self._round_until_bytes:
            self._round_until_bytes = sample.sent_bytes
            gained += self._additive_packets
        self._change_window(self.window_packets + gained)

    def on_sub_rtt(self, drain_ns: int, elapsed_ns: int | None, now_ns: int) -> None:
        """Decrease the window by a packet, as often in a loop as the flow has packets in the queue.

        The loop is the way of the packet to the switch and of the request back. The flow's share of the queue is its
        share of the link, so its part of the queue is drain time x its rate, and the link's rate is not needed.
        """
        if self.window_packets <= 1:
            self._change_window(self.window_packets * (1 - self._max_decrease))
            return
        loop_ns = self._round_trip_ns() if elapsed_ns is None else elapsed_ns
        if self._last_cut_ns == _NEVER:
            self._last_cut_ns = now_ns - loop_ns
        packets_in_queue = drain_ns * self._rate_bps() / (NS_PER_S * self._frame_bits)
        if (now_ns - self._last_cut_ns) * packets_in_queue >= loop_ns:
            self._last_cut_ns = now_ns
            self._change_window(self.window_packets - 1)

    def on_loss(self, size_bytes: int, now_ns: int) -> None:
        """Decrease the window, at most once in a round trip."""
        if self._last_cut_ns == _NEVER or now_ns - self._last_cut_ns >= self._round_trip_ns():
            self._last_cut_ns = now_ns
            self._change_window(self.window_packets * (1 - self._max_decrease))

    def _rate_bps(self) -> float:
        """Return the rate of the flow: a window in an RTT, or the line rate before the first RTT is known."""
        if not self._rtt_ns:
            return self.path.line_rate_bps
        return self.window_packets * self.path.payload_bytes * 8 * NS_PER_S / self._rtt_ns

    def _round_trip_ns(self) -> int:
        return self._rtt_ns or self.path.base_rtt_ns

    def _change_window(self, packets: float) -> None:
        self.set_window(packets, self._round_trip_ns())
