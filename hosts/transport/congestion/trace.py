# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What is told of a congestion control while it works, where somebody asks for it. It reads, and changes nothing.

Knows no file and no unit but the engine's.
"""

from collections.abc import Callable
from dataclasses import dataclass

from hosts.transport.congestion.base import CongestionControl


@dataclass(frozen=True, slots=True)
class CongestionState:
    """At the sender: a flow's control after an acknowledgement."""

    flow_id: int
    """Of the message under way."""

    at_ns: int
    """When the acknowledgement arrived."""

    window_bytes: int
    """What the flow may have in flight."""

    rate_bps: int
    """What it is paced at (wall)."""

    rtt_ns: int | None
    """Round trip that the acknowledgement tells of, if any."""


class CongestionTrace:
    """One queue pair's: tells of a state that differs from the one told last, no sooner than an interval after it."""

    __slots__ = ("_congestion", "_due_ns", "_interval_ns", "_last", "_tell")

    def __init__(
        self, congestion: CongestionControl, interval_ns: int, tell: Callable[[CongestionState], None]
    ) -> None:
        self._congestion = congestion
        self._interval_ns = interval_ns
        self._tell = tell
        self._due_ns = 0
        self._last: tuple[int, int, int | None] | None = None

    def after_ack(self, flow_id: int, rtt_ns: int | None, now_ns: int) -> None:
        """The control has heard of an acknowledgement."""
        if now_ns < self._due_ns:
            return
        congestion = self._congestion
        state = (congestion.window_bytes, congestion.rate_bps, rtt_ns)
        if state != self._last:
            self._last = state
            self._due_ns = now_ns + self._interval_ns
            self._tell(CongestionState(flow_id, now_ns, congestion.window_bytes, congestion.rate_bps, rtt_ns))
