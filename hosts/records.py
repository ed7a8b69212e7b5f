# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Conversion of NIC events into the records of a run's traces, in model units.

Live runs and runs under the virtual clock use the same records. This module does not know where the records go.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address

from sfc_testbed.hosts.io.late_bins import LateBin
from sfc_testbed.hosts.protocol import (
    Congestion,
    FlowReceived,
    FlowSent,
    Goodput,
    HostState,
    HostStatistics,
    Late,
    MessageState,
    ProgramFlowState,
    Record,
    Signal,
)
from sfc_testbed.hosts.transport import messages
from sfc_testbed.hosts.transport.congestion import UNLIMITED_WINDOW
from sfc_testbed.hosts.transport.congestion.trace import CongestionState
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.messages import BtsReceived, MessageReceived
from sfc_testbed.hosts.transport.model_clock import ModelClock
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.reports import Event, NicState
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.bts import STAMPS, tick_ns
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.dilation import Dilation

_CAUSES = {cause: cause.name.lower() for cause in BtsCause}


@dataclass(frozen=True, slots=True)
class SwitchClock:
    """The name and clock offset of a switch; a BTS itself carries only the switch's number."""

    name: str
    lag_ns: int = 0
    """The time to add to the switch's time stamps to get ns since the run's epoch."""


class RecordWriter:
    """Converter of events into records. Record times count from `start_ns`, the wall instant of model time 0."""

    def __init__(
        self,
        take: Callable[[Record], None],
        dilation: Dilation,
        start_ns: int,
        switches: Mapping[int, SwitchClock],
    ) -> None:
        """Pass every record to `take`; the keys of `switches` are switch numbers."""
        self._take = take
        self._dilation = dilation
        self._stamp_period_ns = STAMPS * tick_ns(dilation)
        self._clock = ModelClock(dilation, start_ns)
        self._switches = switches

    def write(self, host: str, event: Event) -> None:
        """Record one event of one host's NIC."""
        if isinstance(event, Transmission):
            self._take(self._sent(event))
        elif isinstance(event, MessageReceived):
            self._take(self._goodput(event.last))
            self._take(FlowReceived(event.flow_id, event.figures))
        elif isinstance(event, CongestionState):
            self._take(self._congestion(event))
        elif isinstance(event, messages.Goodput):
            self._take(self._goodput(event))
        else:
            self._take(self._signal(host, event))

    def write_events(self, nic: Nic) -> None:
        """Record and remove all pending events of a NIC."""
        while (event := nic.next_event()) is not None:
            self.write(nic.address.name, event)

    def write_rest(self, nic: Nic) -> None:
        """Record the state of messages that were unfinished at the end of the run, at the sender and the receiver."""
        nic.end_intervals()
        self.write_events(nic)
        for unfinished in nic.unfinished_messages():
            self._take(self._sent(unfinished))

    def write_late_bins(self, node: str, bins: Iterable[LateBin]) -> None:
        """Record the lateness of an agent's hosts over time."""
        for late_bin in bins:
            late_us = self._clock.duration_us(late_bin.max_ns)
            self._take(Late(self._clock.instant_us(late_bin.end_ns), "host", node, late_bin.departures, late_us))

    def _sent(self, sent: Transmission) -> FlowSent:
        message = sent.message
        return FlowSent(
            flow_id=message.flow_id,
            finish_us=None if sent.finish_ns == NEVER else self._clock.instant_us(sent.finish_ns),
            figures=sent.figures,
            gave_up=sent.gave_up,
            start_us=self._clock.instant_us(message.ready_ns) if message.after else None,
        )

    def _goodput(self, event: messages.Goodput) -> Goodput:
        return Goodput(
            from_us=self._clock.instant_us(event.from_ns),
            until_us=self._clock.instant_us(event.until_ns),
            flow_id=event.flow_id,
            delivered_bytes=event.size_bytes,
        )

    def _congestion(self, event: CongestionState) -> Congestion:
        return Congestion(
            time_us=self._clock.instant_us(event.at_ns),
            flow_id=event.flow_id,
            cwnd_bytes=None if event.window_bytes == UNLIMITED_WINDOW else event.window_bytes,
            rate_bps=event.rate_bps * self._dilation.factor,
            rtt_us=None if event.rtt_ns is None else self._clock.duration_us(event.rtt_ns),
        )

    def _signal(self, host: str, event: BtsReceived) -> Signal:
        signal = event.signal
        is_named = signal.cause != BtsCause.UNKNOWN
        name = f"switch {signal.switch_id}" if is_named else "unknown"
        switch = self._switches.get(signal.switch_id) or SwitchClock(name)
        until_ns = event.paused_until_ns
        return Signal(
            sent_us=None if event.sent_ns is None else self._sent_us(event.sent_ns + switch.lag_ns, event.received_ns),
            received_us=self._clock.instant_us(event.received_ns),
            host=host,
            flow_id=event.flow_id,
            switch=switch.name,
            cause=_CAUSES[signal.cause],
            pause_us=float(signal.pause_us if signal.cause.requests_pause else 0),
            queue_depth_bytes=signal.queue_depth_bytes,
            cacheable=signal.cacheable,
            obeyed=event.obeyed,
            paused_until_us=None if until_ns is None else self._clock.instant_us(until_ns),
        )

    def _sent_us(self, stamp_ns: int, received_ns: int) -> float:
        """Return the latest time before the receipt that has this time stamp, since stamps repeat."""
        return self._clock.instant_us(received_ns - (received_ns - stamp_ns) % self._stamp_period_ns)


def host_state(statistics: HostStatistics, state: NicState, dilation: Dilation, now_ns: int) -> HostState:
    """Return the current state of a host, in model units; pause times are the remaining durations."""

    def left_us(until_ns: int) -> float:
        return dilation.model_us(max(0, until_ns - now_ns))

    sending = tuple(
        MessageState(
            flow_id=message.transmission.flow_id,
            acknowledged_bytes=min(message.acknowledged_bytes, message.transmission.size_bytes),
            in_flight_bytes=message.in_flight_bytes,
            paused_for_us=left_us(message.paused_until_ns),
            window_bytes=None if message.window_bytes == UNLIMITED_WINDOW else message.window_bytes,
            rate_gbps=message.rate_bps * dilation.factor / 1e9,
            figures=message.transmission.figures,
        )
        for message in state.messages
    )
    programs = tuple(
        ProgramFlowState(
            destination_ip=str(IPv4Address(flow.destination_ip)),
            protocol=flow.protocol,
            source_port=flow.source_port,
            destination_port=flow.destination_port,
            held_bytes=flow.held_bytes,
            paused_for_us=left_us(flow.paused_until_ns),
        )
        for flow in state.programs
    )
    return HostState(statistics, sending, programs, left_us(state.class_paused_until_ns))
