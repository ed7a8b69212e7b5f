# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Divides the time that a flow lost among its reasons.

The time lost is FCT minus ideal FCT. A flow loses it before it sends its last packet (paused, or held back), while this
packet waits in queues, and until the ACK is back. Reasons are assigned in this order, each one at most the rest:

1. An earlier message on the same queue pair, until it was complete.
2. Pauses. The sender counts their time exactly; the BTS say which switch set them.
3. The last ACK: its time from receiver to sender beyond the delay of the links.
4. Queues that the last packet passed, from the port's samples (`port_curve`).
5. Retransmissions: the longest gaps between deliveries without the waits in queues and the pauses in them, as many
   gaps as packets were sent again, if the run lost packets; and the time to send these packets.
6. The sender's NIC, in intervals in which it sent without a gap, beyond the flow's own time on it.
7. Queues that delayed the ACKs of earlier packets. A flow with a window of one BDP sends a window per round trip, so
   that queues in which packets wait for q us cost it q / (q + base RTT) of the time.
8. For a message of at most one window, which nothing else can hold back: peaks of queues between two samples.
9. Congestion control, if the flow has one; otherwise the rest is not recorded.

If equal-cost paths differ at a hop, the traces do not say which port the flow used. The shortest wait of these ports is
certain; up to the longest, the reason says that the port was not recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from sfc_testbed.analysis.formatting import amount, enumeration
from sfc_testbed.analysis.life.port_curve import PortCurve, saturated
from sfc_testbed.analysis.metrics.percentiles import Values

Kind = Literal["message", "pause", "acknowledgement", "queue", "resent", "nic", "congestion", "unknown"]
Span = tuple[float, float]

_STEADY = 0.9
"""The utilization from which an interval counts as sent without a gap. Sampled intervals cut frames in two."""
_MOST_PORTS_NAMED = 2


@dataclass(frozen=True, eq=False, repr=False)
class Reason:
    """A reason for which a flow lost time."""

    kind: Kind
    text: str
    lost_us: float


@dataclass(frozen=True, eq=False, repr=False)
class Hop:
    """The ports over which a flow may have left its switch at one hop of its path."""

    ports: Sequence[tuple[str, int]]
    """Switch and number of each port."""
    towards: str
    """The node at the other end, if it is the same for all ports and can stop them by PFC."""
    curves: Sequence[PortCurve]
    delay_us: float
    """The delay from these ports to the next node."""

    @property
    def name(self) -> str:
        """The ports as text."""
        if len(self.ports) == 1:
            [(switch, port)] = self.ports
            return f"{switch}, port {port}"
        switches = list(dict.fromkeys(switch for switch, _ in self.ports))
        if len(self.ports) <= _MOST_PORTS_NAMED:
            ports = " or ".join(f"{switch}, port {port}" for switch, port in self.ports)
        else:
            ports = f"one of {len(self.ports)} ports of {enumeration(switches)}"
        return f"{ports} (not recorded which)"


@dataclass(frozen=True, eq=False, repr=False)
class Pause:
    """A pause that a BTS set at the sender."""

    begin_us: float
    end_us: float
    text: str


@dataclass(frozen=True, eq=False, repr=False)
class Observations:
    """The records of a flow, and what its run says about it."""

    row: Mapping[str, Any]
    """The row of flows.parquet."""
    end_us: float
    """The receipt of the message; the end of the run if it was not received."""
    hops: Sequence[Hop]
    return_hops: Sequence[Hop]
    """The path of the ACKs."""
    access_us: float
    """The delay from the sender to its ToR."""
    return_us: float
    """The delay of the links from the receiver to the sender."""
    pauses: Sequence[Pause] = ()
    delivered_us: Sequence[float] = ()
    """The times at which bytes were delivered."""
    nic: PortCurve | None = None
    """The bytes that the sender's NIC sent."""
    nic_rate_bps: int = 0
    window_bytes: int = 0
    """The bytes that the flow may send in its first round trip."""
    earlier: tuple[int, float] | None = None
    """The earlier message on the queue pair, and the time at which it was complete."""
    stops_ports: bool = False
    """Whether switches stop ports of other switches (PFC)."""
    other_pause: str = "paused by its flow control"
    """The reason for pauses that no BTS set."""
    congestion: str = ""
    """The name of the congestion control; empty without one."""
    has_losses: bool = False
    """Whether the run lost or dropped packets."""


@dataclass(eq=False, repr=False)
class _Ledger:
    """The time that is left to be explained, and the reasons so far."""

    left_us: float
    lost_us: dict[tuple[Kind, str], float] = field(default_factory=dict)

    def add(self, kind: Kind, text: str, time_us: float) -> float:
        """Assign a time, at most the time that is left, and return the assigned part."""
        assigned = min(max(time_us, 0.0), self.left_us)
        if assigned > 0:
            self.lost_us[kind, text] = self.lost_us.get((kind, text), 0.0) + assigned
            self.left_us -= assigned
        return assigned

    @property
    def reasons(self) -> list[Reason]:
        """The reasons, the most important first."""
        reasons = [Reason(kind, text, lost_us) for (kind, text), lost_us in self.lost_us.items()]
        return sorted(reasons, key=lambda reason: -reason.lost_us)


def reasons_of(seen: Observations) -> list[Reason]:
    """Return the reasons for which a flow lost time, the most important first."""
    row = seen.row
    begin_us = float(row["start_us"])
    took_us = seen.end_us - begin_us if row["fct_us"] is None else float(row["fct_us"])
    ledger = _Ledger(max(0.0, took_us - float(row["ideal_fct_us"])))
    if seen.earlier is not None:
        number, complete_us = seen.earlier
        ledger.add("message", f"waited for flow {number} on its queue pair", complete_us - begin_us)
        begin_us = max(begin_us, min(complete_us, seen.end_us))
    _add_pauses(ledger, seen, begin_us)
    if row["finish_us"] is not None and row["received_us"] is not None:
        _add_acknowledgement(ledger, seen, row["finish_us"] - row["received_us"] - seen.return_us)
    sent_us = _add_passage(ledger, seen)
    _add_resent(ledger, seen, begin_us)
    _add_nic(ledger, seen, (begin_us, sent_us))
    _add_delayed_acks(ledger, seen, (begin_us, seen.end_us), min)
    _add_hidden_peaks(ledger, seen, sent_us)
    _add_delayed_acks(ledger, seen, (begin_us, seen.end_us), max)
    if seen.congestion and row["size_bytes"] > seen.window_bytes:
        ledger.add("congestion", f"limited by its congestion control ({seen.congestion})", ledger.left_us)
    ledger.add("unknown", "not recorded", ledger.left_us)
    return ledger.reasons


def _add_pauses(ledger: _Ledger, seen: Observations, begin_us: float) -> None:
    by_text: dict[str, float] = {}
    for pause in seen.pauses:
        length = min(pause.end_us, seen.end_us) - max(pause.begin_us, begin_us)
        if length > 0:
            by_text[pause.text] = by_text.get(pause.text, 0.0) + length
    of_bts = sum(by_text.values())
    counted = seen.row["paused_us"]
    total = of_bts if counted is None else float(counted)
    for text, length in by_text.items():
        ledger.add("pause", text, length * min(1.0, total / of_bts))
    ledger.add("pause", seen.other_pause, total - of_bts)


def _add_acknowledgement(ledger: _Ledger, seen: Observations, late_us: float) -> None:
    """Add the time for which the last ACK was late, by the queues that it passed."""
    at_us, left_us = float(seen.row["finish_us"]), max(0.0, late_us)
    for hop in reversed(seen.return_hops):
        at_us -= hop.delay_us
        wait_us = min(left_us, float(_waits(hop, np.array([at_us]))[0]))
        ledger.add("acknowledgement", f"last ACK in the queue of {hop.name}", wait_us)
        at_us, left_us = at_us - wait_us, left_us - wait_us
    ledger.add("acknowledgement", "last ACK on its way back", left_us)


def _add_passage(ledger: _Ledger, seen: Observations) -> float:
    """Add the waits of the last packet in the queues of its path, and return when the sender sent the packet."""
    at_us = seen.end_us
    for hop in reversed(seen.hops):
        left_us = at_us - hop.delay_us
        entered = [float(curve.entered_us(np.array([left_us]))[0]) for curve in hop.curves]
        latest_us = max(entered, default=left_us)
        _add_wait(ledger, seen, hop, (latest_us, left_us), left_us - latest_us)
        at_us = latest_us
    return at_us - seen.access_us


def _add_wait(ledger: _Ledger, seen: Observations, hop: Hop, span: Span, wait_us: float) -> None:
    """Add a wait at a hop, and which part of it the port stood still."""
    stopped_us = 0.0
    if seen.stops_ports and hop.towards and hop.curves:
        share = min(curve.idle_share(*span) for curve in hop.curves)
        if share > 1 - _STEADY:
            stopped_us = ledger.add("queue", f"{hop.name}, stopped by PFC of {hop.towards}", share * wait_us)
    ledger.add("queue", f"queue of {hop.name}", wait_us - stopped_us)


def _add_resent(ledger: _Ledger, seen: Observations, begin_us: float) -> None:
    row = seen.row
    packets, timeouts = row["packets_resent"] or 0, row["timeouts"] or 0
    if not packets and not timeouts:
        return
    ends = np.array([begin_us, *(at for at in seen.delivered_us if begin_us < at < seen.end_us), seen.end_us])
    waits = sum((_waits(hop, ends[1:]) for hop in seen.hops), np.zeros(ends.size - 1))
    paused = np.diff(_paused_until(seen.pauses, ends))
    stopped = np.clip(np.diff(ends) - waits - paused, 0.0, None)
    stopped_us = float(np.sort(stopped)[-max(packets, timeouts) :].sum()) if seen.has_losses else 0.0
    again_us = (row["bytes_resent"] or 0) * 8e6 / seen.nic_rate_bps if seen.nic_rate_bps else 0.0
    cause = amount(timeouts, "timeout") if timeouts else "a loss" if seen.has_losses else "reordering"
    ledger.add("resent", f"resent {amount(packets, 'packet')} after {cause}", stopped_us + again_us)


def _add_nic(ledger: _Ledger, seen: Observations, span: Span) -> None:
    """Add the time in which the sender's NIC was busy with other flows."""
    if seen.nic is None or not seen.nic_rate_bps:
        return
    low, high = (np.clip(ends - seen.access_us, *span) for ends in saturated(seen.nic, _STEADY))
    paused = _paused_until(seen.pauses, high) - _paused_until(seen.pauses, low)
    busy_us = float((high - low - paused).sum())
    own_us = (seen.row["size_bytes"] + (seen.row["bytes_resent"] or 0)) * 8e6 / seen.nic_rate_bps
    ledger.add("nic", f"other flows on the NIC of {seen.row['src']}", busy_us - own_us)


def _add_delayed_acks(ledger: _Ledger, seen: Observations, span: Span, choose: Callable[..., Values]) -> None:
    """Add the time for which queues delayed the ACKs that the sender waited for.

    `choose`: min or max, for the wait at a hop with several ports. With max, only such hops count.
    """
    is_longest = choose is max
    if ledger.left_us <= 0 or (is_longest and all(len(hop.curves) == 1 for hop in seen.hops)):
        return
    if seen.row["size_bytes"] <= seen.window_bytes or not seen.hops or not seen.hops[-1].curves:
        return
    times = seen.hops[-1].curves[0].times_us
    ends = times[(times > span[0]) & (times < span[1])]
    if not ends.size:
        return
    limits = np.concatenate([[span[0]], ends])
    lengths = np.diff(limits - _paused_until(seen.pauses, limits))
    waits = [_waits(hop, ends, longest=is_longest) for hop in seen.hops]
    total = np.sum([*waits, np.zeros(ends.size)], axis=0)
    delayed_us = np.clip(lengths, 0.0, None) / (total + 2 * seen.return_us)
    for hop, wait in zip(seen.hops, waits, strict=True):
        if not is_longest or len(hop.curves) > 1:
            _add_wait(ledger, seen, hop, span, float((delayed_us * wait).sum()))


def _waits(hop: Hop, left_us: Values, *, longest: bool = False) -> Values:
    """Return the waits of packets that left a hop at these times; with several ports, the shortest or the longest."""
    if not hop.curves:
        return np.zeros(left_us.size)
    waits = [left_us - curve.entered_us(left_us) for curve in hop.curves]
    shown: Values = np.max(waits, axis=0) if longest else np.min(waits, axis=0)
    return shown


def _add_hidden_peaks(ledger: _Ledger, seen: Observations, sent_us: float) -> None:
    """Add queues that built up and drained between two samples, for a message of at most one window."""
    if seen.row["size_bytes"] > seen.window_bytes or seen.row["packets_resent"] or ledger.left_us <= 0:
        return
    bounds = [max((curve.most_us(sent_us, seen.end_us) for curve in hop.curves), default=0.0) for hop in seen.hops]
    left_us, total = ledger.left_us, sum(bounds)
    for hop, bound in zip(seen.hops, bounds, strict=True):
        if bound:
            ledger.add("queue", f"queue of {hop.name}", min(left_us, total) * bound / total)


def _paused_until(pauses: Sequence[Pause], times_us: Values) -> Values:
    """Return the total time for which the flow had been paused at each time. Pauses do not overlap."""
    if not pauses:
        return np.zeros(times_us.size)
    ends = np.array([(pause.begin_us, pause.end_us) for pause in pauses]).reshape(-1)
    lengths = np.diff(ends, prepend=ends[0])
    lengths[::2] = 0.0
    totals: Values = np.interp(times_us, ends, np.cumsum(lengths))
    return totals
