# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Source Flow Control at the sender: a BTS pauses the flow that it names (paper §3.2)."""

from typing import Any

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import PathContext
from sfc_testbed.hosts.transport.flow_control.base import FlowControl
from sfc_testbed.wire.bts import BackToSender


@mypyc_attr(allow_interpreted_subclasses=True)
class SourceFlowControl(FlowControl):
    """A flow control that pauses for the time in a BTS; a newer BTS replaces the pause end (paper §3.2)."""

    __slots__ = ("_pause_end_ns",)

    obeys_signals = True

    def __init__(self, parameters: Any, path: PathContext, max_pause_ns: int) -> None:
        super().__init__(parameters, path, max_pause_ns)
        self._pause_end_ns = 0

    def on_signal(self, signal: BackToSender, pause_ns: int, now_ns: int) -> None:
        """Set the pause end; the pause time is limited to `max_pause_ns`."""
        self._pause_end_ns = now_ns + min(pause_ns, self.max_pause_ns)

    def earliest_send_ns(self, now_ns: int) -> int:
        """Return the end of the current pause."""
        return self._pause_end_ns
