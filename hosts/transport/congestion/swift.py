# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Swift (Kumar et al., SIGCOMM'20; docs/sources.md#swift): a window that keeps the fabric delay at a target.

The delay is the RTT between the packet's start on the wire and its acknowledgement, so it contains no time in the
sender's NIC. The target grows with the number of switches and with small windows, so that many flows share a link. A
window below one packet is a pace: one packet in flight, and more than one RTT between two packets.
"""

from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import AckSample, PathContext
from sfc_testbed.hosts.transport.congestion.packet_window import Packets, PacketWindow, Share, check_order
from sfc_testbed.request.checks import Nanoseconds, PositiveCount, PositiveNanoseconds

_HOP_SHARE: Final = 6.55
"""Base target divided by the target of a hop, in csg-htsim."""
_FLOW_RANGE_SHARE: Final = 5
"""Range of the target for small windows divided by the base target, in csg-htsim."""
_RTT_WEIGHT: Final = 1 / 8
"""Weight of a new RTT in the smoothed RTT."""


@dataclass(frozen=True, slots=True)
class SwiftParameters:
    """Parameters of Swift. The defaults are csg-htsim's (docs/sources.md#swift); windows are in packets."""

    base_target_ns: PositiveNanoseconds = 20_000
    """Target delay without switches and with large windows."""
    hop_target_ns: Nanoseconds | None = None
    """Additional target for each switch (topology scaling); None: base target / 6.55."""
    flow_range_ns: Nanoseconds | None = None
    """fs_range: additional target for the smallest windows (flow scaling); None: 5 x base target."""
    flow_min_packets: Packets = 0.1
    """fs_min_cwnd: window at and below which the target has all of `flow_range_ns`."""
    flow_max_packets: Packets = 100.0
    """fs_max_cwnd: window at and above which the target has nothing of `flow_range_ns`."""
    additive_packets: Packets = 1.0
    """ai: increase in a round trip below the target."""
    beta: Share = 0.8
    """Strength of decreases: share of the excess delay by which the window falls."""
    max_decrease: Share = 0.5
    """max_mdf: largest share of the window that one decrease takes, and the share that a loss takes."""
    min_packets: Packets = 0.01
    """Minimum window (10 B of a packet of 1000 B in csg-htsim)."""
    max_packets: Packets = 1_000.0
    """Maximum window."""
    initial_packets: Packets | None = None
    """Window of a new flow; None: one BDP."""
    timeouts_to_minimum: PositiveCount = 5
    """RETX_RESET_THRESHOLD: number of consecutive round trips with a loss and without an acknowledgement that set the
    minimum window."""

    def __post_init__(self) -> None:
        """Refuse bounds in the wrong order."""
        check_order(self, ("flow_min_packets", "flow_max_packets"), ("min_packets", "max_packets"))


@mypyc_attr(allow_interpreted_subclasses=True)
class Swift(PacketWindow):
    """Swift's sender: a window in packets, increased below the target delay and decreased once in an RTT above it.

    Its state is the window, the smoothed RTT, the time of the last decrease, and the number of losses without an
    acknowledgement between them.
    """

    __slots__ = (
        "_additive_packets", "_base_target_ns", "_beta", "_flow_alpha_ns", "_flow_beta_ns", "_flow_range_ns",
        "_hop_target_ns", "_last_cut_ns", "_losses", "_max_decrease", "_smoothed_ns", "_timeouts_to_minimum",
    )  # fmt: skip

    Parameters = SwiftParameters
    times_resent = True

    @classmethod
    def resolve(cls, parameters: SwiftParameters, path: PathContext) -> SwiftParameters:
        """Return the parameters with unset values derived from the base target and the path."""
        hop_ns, range_ns, initial = parameters.hop_target_ns, parameters.flow_range_ns, parameters.initial_packets
        if hop_ns is None:
            hop_ns = round(parameters.base_target_ns / _HOP_SHARE)
        if range_ns is None:
            range_ns = _FLOW_RANGE_SHARE * parameters.base_target_ns
        if initial is None:
            initial = min(max(1.0, path.bdp_bytes / path.payload_bytes), parameters.max_packets)
        return replace(parameters, hop_target_ns=hop_ns, flow_range_ns=range_ns, initial_packets=initial)

    def __init__(self, parameters: SwiftParameters, path: PathContext) -> None:
        super().__init__(parameters, path, parameters.min_packets, parameters.max_packets)
        assert parameters.hop_target_ns is not None and parameters.flow_range_ns is not None  # resolved
        assert parameters.initial_packets is not None
        self._base_target_ns: int = parameters.base_target_ns
        self._hop_target_ns: int = parameters.hop_target_ns
        self._flow_range_ns: int = parameters.flow_range_ns
        least, most = 1 / sqrt(parameters.flow_max_packets), 1 / sqrt(parameters.flow_min_packets)
        self._flow_alpha_ns = self._flow_range_ns / (most - least)
        self._flow_beta_ns = -self._flow_alpha_ns * least
        self._additive_packets = parameters.additive_packets
        self._beta = parameters.beta
        self._max_decrease = parameters.max_decrease
        self._timeouts_to_minimum: int = parameters.timeouts_to_minimum
        self._smoothed_ns = float(path.base_rtt_ns)
        self._last_cut_ns = -1
        self._losses = 0
        self._set_window(parameters.initial_packets)

    def target_ns(self, switches: int) -> float:
        """Return the target delay of the present window on a path with this number of switches."""
        flow_ns = self._flow_alpha_ns / sqrt(self.window_packets) + self._flow_beta_ns
        return self._base_target_ns + switches * self._hop_target_ns + min(max(flow_ns, 0.0), self._flow_range_ns)

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Change the window by the delay. Acknowledgements of unknown transmissions have none."""
        self._losses = 0
        rtt_ns = sample.rtt_ns
        if rtt_ns is None:
            return
        may_cut = self._may_cut(now_ns)
        self._smoothed_ns += _RTT_WEIGHT * (rtt_ns - self._smoothed_ns)
        target_ns = self.target_ns(sample.switches)
        if rtt_ns < target_ns:
            acked_packets = sample.acked_bytes / self.path.payload_bytes
            gained = self._additive_packets * acked_packets
            self._set_window(self.window_packets + gained / max(1.0, self.window_packets))
        elif may_cut:
            self._cut(min(self._beta * (rtt_ns - target_ns) / rtt_ns, self._max_decrease), now_ns)
        else:
            self._set_window(self.window_packets)

    def on_loss(self, size_bytes: int, now_ns: int) -> None:
        """Decrease the window as far as one decrease may, or to the minimum after several round trips with losses."""
        if not self._may_cut(now_ns):
            return
        self._losses += 1
        if self._losses >= self._timeouts_to_minimum:
            self._last_cut_ns = now_ns
            self._set_window(self._min_packets)
        else:
            self._cut(self._max_decrease, now_ns)

    def _may_cut(self, now_ns: int) -> bool:
        return self._last_cut_ns < 0 or now_ns - self._last_cut_ns >= self._smoothed_ns

    def _cut(self, share: float, now_ns: int) -> None:
        if share > 0:
            self._last_cut_ns = now_ns
        self._set_window(self.window_packets * (1 - share))

    def _set_window(self, packets: float) -> None:
        self.set_window(packets, self._smoothed_ns)
