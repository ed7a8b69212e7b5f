# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The rows that a run writes down one by one: name, type, unit and meaning of each column, once.

Whoever measures makes such a row, an agent sends it as it is, and `telemetry.schema` makes the columns of the file from
its class. This file loads no library that handles files, so that agents need none. Rows that packets make are not
frozen: that would take three times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a column's name and type leave open."""

    text: str
    unit: str = ""
    bits: int = 32
    """Of an integer, which is never negative."""


@dataclass(frozen=True, slots=True)
class FlowRow:
    """One row per message (a flow is one message from one host to another)."""

    flow_id: Annotated[int, Meaning("number of the flow in this run, from 1")]
    src: Annotated[str, Meaning("sending host")]
    dst: Annotated[str, Meaning("receiving host")]
    tag: Annotated[str, Meaning("traffic class of the scenario, such as `hadoop` or `incast`")]
    size_bytes: Annotated[int, Meaning("bytes of the message, without headers", "B", bits=64)]
    start_us: Annotated[
        float | None,
        Meaning("the message is ready to be pushed to the NIC; null: what it waits for had not ended", "µs"),
    ]
    finish_us: Annotated[
        float | None, Meaning("its last packet is acknowledged at the sender; null: did not finish", "µs")
    ]
    fct_us: Annotated[float | None, Meaning("`finish_us` - `start_us`", "µs")]
    ideal_fct_us: Annotated[float, Meaning("the same transfer at line rate in an otherwise idle network", "µs")]
    slowdown: Annotated[float | None, Meaning("`fct_us` / `ideal_fct_us`, never clamped to 1", "1")]
    packets_sent: Annotated[
        int | None,
        Meaning(
            "data packets sent, resent ones included; null, here and in the next five: the runner was killed before",
            "packets",
        ),
    ]
    packets_resent: Annotated[int | None, Meaning("data packets sent again", "packets")]
    bytes_resent: Annotated[int | None, Meaning("message bytes sent again", "B", bits=64)]
    timeouts: Annotated[int | None, Meaning("retransmission timeouts")]
    naks: Annotated[int | None, Meaning("negative acknowledgements received")]
    paused_us: Annotated[float | None, Meaning("time that flow control kept the flow from sending", "µs")]
    corrupted: Annotated[bool, Meaning("the receiver's checksum of the message did not match")]


@dataclass(slots=True)
class SignalRow:
    """One row per Back-To-Sender (BTS) packet that reached a host."""

    sent_us: Annotated[float, Meaning("the switch made the packet", "µs")]
    received_us: Annotated[float, Meaning("the host's NIC received it", "µs")]
    host: Annotated[str, Meaning("the host that received it")]
    flow_id: Annotated[int | None, Meaning("flow that it names; null: the host has no such flow")]
    switch: Annotated[str, Meaning("the switch that made it")]
    cause: Annotated[str, Meaning("`queue`, `cache` (answered by a sender-side ToR), `estimator`, or `feedback` (QCN)")]
    pause_us: Annotated[float, Meaning("pause that it asks for, counted from its receipt; 0: feedback", "µs")]
    queue_depth_bytes: Annotated[
        int,
        Meaning(
            "bytes in that switch's queue for the packet; of cause `cache` another than the congested one",
            "B",
        ),
    ]
    cacheable: Annotated[bool, Meaning("a ToR on the way may remember it")]
    obeyed: Annotated[bool, Meaning("the host paused the flow for it, or gave the feedback to its congestion control")]
    paused_until_us: Annotated[float | None, Meaning("end of the pause that it set; null: it set none", "µs")]


@dataclass(slots=True)
class LatenessRow:
    """One row per interval in which a switch, or a process that serves hosts, sent anything; none under the virtual
    clock."""

    time_us: Annotated[float, Meaning("end of the interval", "µs")]
    part: Annotated[str, Meaning("`host` or `switch`")]
    node: Annotated[str, Meaning("the switch, or the process that serves hosts: its `logs/NODE.json` names them")]
    departures: Annotated[int, Meaning("frames that it sent in the interval", bits=64)]
    max_us: Annotated[float, Meaning("how late the latest of them was, in model time", "µs")]


@dataclass(slots=True)
class GoodputRow:
    """One row per flow and interval (`transport.goodput_interval_ns`) in which its receiver got message bytes in
    order."""

    from_us: Annotated[float, Meaning("begin of the interval", "µs")]
    until_us: Annotated[float, Meaning("end of the interval", "µs")]
    flow_id: Annotated[int, Meaning("the flow")]
    delivered_bytes: Annotated[int, Meaning("message bytes handed over in the interval, without headers", "B", bits=64)]


@dataclass(slots=True)
class CongestionRow:
    """Only where `transport.cc_trace_ns` asks for it: one row per acknowledgement after which a flow's congestion
    control stands otherwise than in the row before, which is that long ago at least."""

    time_us: Annotated[float, Meaning("the acknowledgement arrived", "µs")]
    flow_id: Annotated[int, Meaning("the flow")]
    cwnd_bytes: Annotated[
        int | None, Meaning("the window: what the flow may have in flight; null: no limit", "B", bits=64)
    ]
    rate_bps: Annotated[int, Meaning("the rate that the flow is paced at, its NIC's if it is not", "bit/s", bits=64)]
    rtt_us: Annotated[
        float | None, Meaning("round trip that the acknowledgement tells of; null: its packet was sent twice", "µs")
    ]
