# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Backpressure Flow Control at the host: the NIC is the first hop, with a queue for each flow (docs/schemes/bfc.md)."""

from typing import Any

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import PathContext
from sfc_testbed.hosts.transport.flow_control.base import FlowControl


@mypyc_attr(allow_interpreted_subclasses=True)
class BackpressureFlowControl(FlowControl):
    """A flow control that the first switch pauses and resumes with frames for the flow's queue."""

    __slots__ = ("_pause_end_ns",)

    obeys_queue_pause = True

    def __init__(self, parameters: Any, path: PathContext, max_pause_ns: int) -> None:
        super().__init__(parameters, path, max_pause_ns)
        self._pause_end_ns = 0

    def on_queue_pause(self, end_ns: int, now_ns: int) -> None:
        """Set the pause end, which the switch refreshes as long as it requires the pause."""
        self._pause_end_ns = min(end_ns, now_ns + self.max_pause_ns)

    def earliest_send_ns(self, now_ns: int) -> int:
        """Return the end of the current pause."""
        return self._pause_end_ns
