# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A window in packets that may be a fraction of one: then one packet is in flight, and packets are paced.

The base class of Swift and Bolt, which have such windows.
"""

from typing import Annotated

from mypy_extensions import mypyc_attr
from pydantic import Field

from sfc_testbed.hosts.transport.congestion.base import CongestionControl, PathContext
from sfc_testbed.wire.roce.packets import data_frame_bytes
from sfc_testbed.wire.units import NS_PER_S

Packets = Annotated[float, Field(gt=0, le=1_000_000)]
Share = Annotated[float, Field(gt=0, lt=1)]


def check_order(parameters: object, *pairs: tuple[str, str]) -> None:
    """Raise ValueError unless the first parameter of each pair is below the second."""
    for low, high in pairs:
        least, most = getattr(parameters, low), getattr(parameters, high)
        if most is not None and not least < most:
            raise ValueError(f"{low}: must be below {high} ({most:g}), not {least:g}")


@mypyc_attr(allow_interpreted_subclasses=True)
class PacketWindow(CongestionControl):
    """A congestion control whose limits follow from `window_packets`."""

    __slots__ = ("_frame_bits", "_max_packets", "_min_packets", "window_packets")

    def __init__(self, parameters: object, path: PathContext, min_packets: float, max_packets: float) -> None:
        super().__init__(parameters, path)
        self._min_packets = min_packets
        self._max_packets = max_packets
        self._frame_bits = 8 * data_frame_bytes(path.payload_bytes, is_last=False)
        self.window_packets = 0.0

    def set_window(self, packets: float, rtt_ns: float) -> None:
        """Limit the window, and turn a window below one packet into a pace of one packet in RTT / window."""
        packets = min(max(packets, self._min_packets), self._max_packets)
        self.window_packets = packets
        line_rate_bps = self.path.line_rate_bps
        if packets >= 1:
            self.window_bytes = int(packets * self.path.payload_bytes)
            self.rate_bps = line_rate_bps
        else:
            self.window_bytes = self.path.payload_bytes
            self.rate_bps = min(line_rate_bps, max(1, int(self._frame_bits * NS_PER_S * packets / rtt_ns)))
