# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The trace of a congestion control's state, if it is enabled. Tracing does not change the control's behaviour.

All values are in wall units; this module writes no files.
"""

from collections.abc import Callable
from dataclasses import dataclass

from sfc_testbed.hosts.transport.congestion.base import CongestionControl


@dataclass(frozen=True, slots=True)
class CongestionState:
    """The state of a flow's congestion control after an acknowledgement, at the sender."""

    flow_id: int
    at_ns: int
    window_bytes: int
    rate_bps: int
    """Pacing rate of the flow (wall)."""
    rtt_ns: int | None
    """Round-trip time measured by the acknowledgement; None if it measured none."""


class CongestionTrace:
    """The trace of one queue pair, which reports changed states at most once per interval."""

    __slots__ = ("_congestion", "_due_ns", "_interval_ns", "_last", "_report")

    def __init__(
        self, congestion: CongestionControl, interval_ns: int, report: Callable[[CongestionState], None]
    ) -> None:
        self._congestion = congestion
        self._interval_ns = interval_ns
        self._report = report
        self._due_ns = 0
        self._last: tuple[int, int, int | None] | None = None

    def after_ack(self, flow_id: int, rtt_ns: int | None, now_ns: int) -> None:
        """Report the state after an acknowledgement, if it has changed and the interval has passed."""
        if now_ns < self._due_ns:
            return
        congestion = self._congestion
        state = (congestion.window_bytes, congestion.rate_bps, rtt_ns)
        if state != self._last:
            self._last = state
            self._due_ns = now_ns + self._interval_ns
            self._report(CongestionState(flow_id, now_ns, congestion.window_bytes, congestion.rate_bps, rtt_ns))
