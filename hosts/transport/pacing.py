# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The pacing of a queue pair's packets at the rate of its congestion control."""

from mypy_extensions import i64

from sfc_testbed.hosts.transport.congestion.base import CongestionControl
from sfc_testbed.wire.units import NS_PER_S


class Pacing:
    """Computes when the next packet of a queue pair may start.

    With a congestion control that `repaces`, a new rate also moves the packet that waits. Otherwise the rate at the
    start of the last packet decides. At the line rate, the wire alone paces.
    """

    __slots__ = ("_congestion", "_last_bytes", "_last_start_ns", "_line_rate_bps", "_next_ns", "_repaces")

    def __init__(self, congestion: CongestionControl) -> None:
        self._congestion = congestion
        self._repaces: bool = congestion.repaces
        self._line_rate_bps = congestion.path.line_rate_bps
        self._last_start_ns = self._last_bytes = 0
        self._next_ns: int = 0

    def next_start_ns(self) -> int:
        """Return when the next packet may start; the time may have passed."""
        if not self._repaces:
            return self._next_ns
        if self._congestion.rate_bps == self._line_rate_bps:
            return 0
        return self._last_start_ns + self._gap_ns()

    def on_sent(self, frame_bytes: i64, now_ns: int) -> None:
        """Note the start of a packet on the wire."""
        self._last_start_ns = now_ns
        self._last_bytes = frame_bytes
        if not self._repaces:
            self._next_ns = now_ns + self._gap_ns()

    def _gap_ns(self) -> int:
        rate_bps = self._congestion.rate_bps
        if rate_bps < 1:
            raise ValueError(f"{type(self._congestion).__name__} set rate_bps to {rate_bps}; the least is 1")
        return self._last_bytes * 8 * NS_PER_S // rate_bps
