# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The base class of flow controls. Every flow has one object, which determines until when the flow must not send.

A flow control knows neither window nor rate, so it can be combined with every congestion control.
"""

from typing import Any, ClassVar

from mypy_extensions import mypyc_attr

from sfc_testbed.hosts.transport.congestion.base import AckSample, NoParameters, PathContext
from sfc_testbed.wire.bts import BackToSender


@mypyc_attr(allow_interpreted_subclasses=True)
class FlowControl:
    """Base class of all flow controls, and the control "none", which never pauses. Override the hooks that you need."""

    __slots__ = ("max_pause_ns",)

    Parameters: ClassVar[type[Any]] = NoParameters
    obeys_signals: ClassVar[bool] = False
    """Whether `on_signal` is called for a BTS that names the flow; otherwise the BTS is counted as ignored."""
    obeys_class_pause: ClassVar[bool] = False
    """Whether the NIC obeys 802.1Qbb frames, and sends them if its receiver is slow."""
    obeys_queue_pause: ClassVar[bool] = False
    """Whether data packets name their flow's queue of the NIC, and `on_queue_pause` is called when it is paused."""
    wants_delay: ClassVar[bool] = False
    """Whether data packets carry a time stamp, so that samples have `one_way_delay_ns`."""

    @classmethod
    def resolve(cls, parameters: Any, path: PathContext) -> Any:
        """Return the parameters with unset values derived from the path. Both must be in the same units."""
        return parameters

    def __init__(self, parameters: Any, path: PathContext, max_pause_ns: int) -> None:
        """Start unpaused; `max_pause_ns` (wall) is the longest pause that one signal can cause."""
        self.max_pause_ns = max_pause_ns

    def on_signal(self, signal: BackToSender, pause_ns: int, now_ns: int) -> None:
        """Handle a BTS for this flow, which requests a pause of `pause_ns` (wall)."""

    def on_queue_pause(self, end_ns: int, now_ns: int) -> None:
        """Handle the pause of the flow's queue until `end_ns`, or its end, with an `end_ns` up to `now_ns`."""

    def on_sent(self, size_bytes: int, now_ns: int) -> None:
        """Handle the start of a data packet with `size_bytes` payload bytes on the wire."""

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """Handle an acknowledgement."""

    def earliest_send_ns(self, now_ns: int) -> int:
        """Return the earliest time at which the flow may send; a time up to `now_ns` means now."""
        return 0
