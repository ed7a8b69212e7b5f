# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The pause of a flow, caused by its own signals or its traffic class, and the total time paused."""


class FlowPause:
    """The pauses of one queue pair. A new end replaces the old one, even if the old one is later."""

    __slots__ = ("_before_ns", "_start_ns", "class_end_ns", "end_ns")

    def __init__(self) -> None:
        self.end_ns = self._start_ns = self._before_ns = 0
        self.class_end_ns: int = 0
        """End of the pause of the flow's traffic class, which the flow control does not know."""

    def total_ns(self, now_ns: int) -> int:
        """Return the total time for which the flow has been paused so far."""
        return self._before_ns + min(now_ns, self.end_ns) - self._start_ns

    def set_end(self, flow_end_ns: int, now_ns: int) -> None:
        """Set the pause end to the one of the flow control or of the class, whichever is later."""
        end_ns = max(flow_end_ns, self.class_end_ns)
        if end_ns == self.end_ns or max(end_ns, self.end_ns) <= now_ns:
            return
        self._before_ns = self.total_ns(now_ns)
        self._start_ns = now_ns
        self.end_ns = max(now_ns, end_ns)
