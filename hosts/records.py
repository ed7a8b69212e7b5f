# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From a NIC's events to the rows of a run's traces, in model units; the same rows on both clocks.

Columns are those of `telemetry.schema` that a host can know. It does not know where the rows go.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from hosts.transport.messages import BtsReceived, Event, Goodput, MessageCompleted, MessageReceived, SendingReport
from hosts.transport.nic import Nic
from wire.dilation import Dilation
from wire.units import NS_PER_US


class RecordSink(Protocol):
    """Where rows go: the recorder of a virtual run, or an agent's standard output."""

    def flow_finished(self, row: Mapping[str, Any]) -> None:
        """A flow whose last acknowledgement has arrived."""

    def flow_unfinished(self, row: Mapping[str, Any]) -> None:
        """A flow that had begun and was not done when the run ended."""

    def flow_received(self, flow_id: int, corrupted: bool) -> None:
        """The receiver has the whole message."""

    def goodput(self, row: Mapping[str, Any]) -> None:
        """What a flow's receiver got in an interval."""

    def signal(self, row: Mapping[str, Any]) -> None:
        """A BTS reached a host. `switch` holds the switch's number: a host knows no names."""


class RecordWriter:
    """Turns events into rows. Times count from `start_ns` (wall), the instant of model time 0."""

    def __init__(self, sink: RecordSink, dilation: Dilation, start_ns: int) -> None:
        self._sink = sink
        self._dilation = dilation
        self._start_ns = start_ns

    def write(self, host: str, event: Event) -> None:
        """Record one event of one host's NIC."""
        if isinstance(event, MessageCompleted):
            finish_us = self._instant_us(event.finish_ns)
            self._sink.flow_finished({**self._sending_row(event.report), "finish_us": finish_us})
        elif isinstance(event, MessageReceived):
            self._sink.goodput(self._goodput_row(event.last))
            self._sink.flow_received(event.flow_id, event.corrupted)
        elif isinstance(event, Goodput):
            self._sink.goodput(self._goodput_row(event))
        else:
            self._sink.signal(self._signal_row(host, event))

    def write_events(self, nic: Nic) -> None:
        """Record all events of a NIC that nobody has taken yet."""
        while (event := nic.next_event()) is not None:
            self.write(nic.address.name, event)

    def write_rest(self, nic: Nic) -> None:
        """Record what is known of messages that the end of the run cut off, at both ends."""
        nic.end_intervals()
        self.write_events(nic)
        self.write_unfinished(nic.unfinished_messages())

    def write_unfinished(self, reports: Iterable[SendingReport]) -> None:
        """Record what their senders know of such messages."""
        for report in reports:
            self._sink.flow_unfinished({**self._sending_row(report), "finish_us": None})

    def _instant_us(self, wall_ns: int) -> float:
        return self._dilation.model_us(wall_ns - self._start_ns)

    def _sending_row(self, report: SendingReport) -> dict[str, Any]:
        return {
            "flow_id": report.flow_id,
            "tag": report.tag,
            "size_bytes": report.size_bytes,
            "start_us": self._instant_us(report.start_ns),
            "packets_sent": report.packets_sent,
            "packets_resent": report.packets_resent,
            "bytes_resent": report.bytes_resent,
            "timeouts": report.timeouts,
            "naks": report.naks,
            "paused_us": self._dilation.model_us(report.paused_ns),
        }

    def _goodput_row(self, event: Goodput) -> dict[str, Any]:
        return {
            "from_us": self._instant_us(event.from_ns),
            "until_us": self._instant_us(event.until_ns),
            "flow_id": event.flow_id,
            "delivered_bytes": event.size_bytes,
        }

    def _signal_row(self, host: str, event: BtsReceived) -> dict[str, Any]:
        signal = event.signal
        until_ns = event.paused_until_ns
        return {
            "sent_us": self._instant_us(event.sent_ns),
            "received_us": self._instant_us(event.received_ns),
            "host": host,
            "flow_id": event.flow_id,
            "switch": signal.switch_id,
            "cause": signal.cause.name.lower(),
            "pause_us": self._dilation.model_us(signal.pause_us * NS_PER_US),
            "queue_depth_bytes": signal.queue_depth_bytes,
            "cacheable": signal.cacheable,
            "obeyed": event.obeyed,
            "paused_until_us": None if until_ns is None else self._instant_us(until_ns),
        }
