# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Until when a flow must wait, and how long it has waited: for its own signals, and for its class."""


class FlowPause:
    """The pauses of one queue pair. A new end replaces the old one, which may lie later."""

    __slots__ = ("_before_ns", "_start_ns", "class_end_ns", "end_ns")

    def __init__(self) -> None:
        self.end_ns = self._start_ns = self._before_ns = 0
        self.class_end_ns: int = 0
        """Of the pause of its traffic class; flow control knows only the flow's own."""

    def total_ns(self, now_ns: int) -> int:
        """Time it has been paused so far."""
        return self._before_ns + min(now_ns, self.end_ns) - self._start_ns

    def set_end(self, flow_end_ns: int, now_ns: int) -> None:
        """Flow control says so; the class's end counts if it is later."""
        end_ns = max(flow_end_ns, self.class_end_ns)
        if end_ns == self.end_ns or max(end_ns, self.end_ns) <= now_ns:
            return
        self._before_ns = self.total_ns(now_ns)
        self._start_ns = now_ns
        self.end_ns = max(now_ns, end_ns)
