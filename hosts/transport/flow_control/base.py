# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a flow control is: one object a flow that answers until when the flow must not send.

It knows neither window nor rate, so it composes with every congestion control.
"""

from typing import Any, ClassVar

from mypy_extensions import mypyc_attr

from hosts.transport.congestion.base import AckSample, NoParameters, PathContext
from wire.bts import BackToSender


@mypyc_attr(allow_interpreted_subclasses=True)
class FlowControl:
    """Base of all rows: never pauses. Override the hooks you need."""

    __slots__ = ("max_pause_ns",)

    Parameters: ClassVar[type[Any]] = NoParameters
    obeys_signals: ClassVar[bool] = False
    """Whether a BTS for one of its flows is handed to `on_signal`; otherwise it is counted as ignored."""
    obeys_class_pause: ClassVar[bool] = False
    """Whether the NIC stops a class when an 802.1Qbb frame says so, and sends such frames when its receiver is slow."""
    wants_delay: ClassVar[bool] = False
    """Whether data packets carry a time stamp; samples then carry `one_way_delay_ns`."""

    @classmethod
    def resolve(cls, parameters: Any, path: PathContext) -> Any:
        """The parameters with what was left open worked out from the path. Both in one kind of units."""
        return parameters

    def __init__(self, parameters: Any, path: PathContext, max_pause_ns: int) -> None:
        """`max_pause_ns` (wall) bounds what any one signal may ask for."""
        self.max_pause_ns = max_pause_ns

    def on_signal(self, signal: BackToSender, now_ns: int) -> None:
        """A BTS for this flow arrived."""

    def on_sent(self, size_bytes: int, now_ns: int) -> None:
        """A data packet with so many payload bytes started on the wire."""

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        """An acknowledgement arrived."""

    def earliest_send_ns(self, now_ns: int) -> int:
        """First instant at which the flow may send; anything up to `now_ns` means now."""
        return 0
