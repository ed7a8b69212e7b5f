# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Classes of the rows that a run records one by one. They define name, type, unit and meaning of each column.

The measuring code creates a row, an agent sends it unchanged, and `telemetry.schema` derives the columns of the trace
from its class. This module must not import polars, so that agents start without it. Rows that are created for single
packets are not frozen, since creating a frozen row takes three times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from sfc_testbed.telemetry.figures import Meaning, MessageFigures, ReceiverFigures, SenderFigures


@dataclass(frozen=True, slots=True)
class FlowRow:
    """The trace has one row per flow: one message from one host to another. Figures that the sender reports, such as
    `packets_sent`, are null if the runner was killed before the sender reported them."""

    flow_id: Annotated[int, Meaning("number of the flow in this run, from 1")]
    src: Annotated[str, Meaning("sending host")]
    dst: Annotated[str, Meaning("receiving host")]
    tag: Annotated[str, Meaning("traffic class of the scenario, such as `hadoop` or `incast`")]
    size_bytes: Annotated[int, Meaning("bytes of the message, without headers", "B", bits=64)]
    start_us: Annotated[
        float | None,
        Meaning("time at which the message was ready to be sent; null: a flow that it waits for did not finish", "µs"),
    ]
    finish_us: Annotated[
        float | None,
        Meaning("time at which the sender received the ACK of the last packet; null: the flow did not finish", "µs"),
    ]
    fct_us: Annotated[float | None, Meaning("`finish_us` - `start_us`", "µs")]
    message: MessageFigures
    slowdown: Annotated[float | None, Meaning("`fct_us` / `ideal_fct_us`; values below 1 are kept", "1")]
    sender: SenderFigures | None
    receiver: ReceiverFigures


@dataclass(slots=True)
class SignalRow:
    """The trace has one row for each Back-To-Sender packet (BTS) that reached a host. A BTS that names several flows
    has one row for each of them."""

    sent_us: Annotated[
        float | None,
        Meaning("time at which the data packet that triggered the BTS reached the switch; null: unknown", "µs"),
    ]
    received_us: Annotated[float, Meaning("time at which the host's NIC received the BTS", "µs")]
    host: Annotated[str, Meaning("host that received the BTS")]
    flow_id: Annotated[int | None, Meaning("flow that the BTS names; null: the host has no such flow")]
    switch: Annotated[str, Meaning("switch that sent the BTS, or `unknown`")]
    cause: Annotated[
        str,
        Meaning(
            "reason of the BTS: `queue` (above Q_th), `cache` (pause cache), `estimator` (incast estimator), "
            "`feedback` (QCN), `sub_rtt` (Bolt) or `unknown` (the SFC prototype does not tell it)"
        ),
    ]
    pause_us: Annotated[float, Meaning("requested pause, counted from the receipt of the BTS; 0: none", "µs")]
    queue_depth_bytes: Annotated[
        int,
        Meaning(
            "bytes in the data packet's queue at `switch`; for cause `cache` this is not the congested queue",
            "B",
        ),
    ]
    cacheable: Annotated[bool, Meaning("whether ToRs on the path may store the pause in their pause cache")]
    obeyed: Annotated[
        bool, Meaning("whether the host paused the flow, or passed the request to the flow's congestion control")
    ]
    paused_until_us: Annotated[
        float | None,
        Meaning(
            "end of the pause that the BTS set; equal to `received_us`: the host had nothing left to send; null: no "
            "pause",
            "µs",
        ),
    ]


@dataclass(slots=True)
class LatenessRow:
    """The trace shows how late frames were sent: one row per interval in which a switch, or a process that serves
    hosts, sent frames. Virtual runs have no rows, because they are never late."""

    time_us: Annotated[float, Meaning("end of the interval", "µs")]
    part: Annotated[str, Meaning("`switch`, or `host` for a process that serves hosts")]
    node: Annotated[str, Meaning("name of the switch or process; `logs/NODE.json` lists the hosts of a process")]
    departures: Annotated[int, Meaning("frames sent in the interval", bits=64)]
    max_us: Annotated[float, Meaning("lateness of the frame that was latest, in model time", "µs")]


@dataclass(slots=True)
class GoodputRow:
    """The trace has one row per flow for each interval in which the receiver got message bytes of the flow in order."""

    from_us: Annotated[float, Meaning("start of the interval", "µs")]
    until_us: Annotated[float, Meaning("end of the interval", "µs")]
    flow_id: Annotated[int, Meaning("number of the flow")]
    delivered_bytes: Annotated[
        int, Meaning("message bytes delivered in order in the interval, without headers", "B", bits=64)
    ]


@dataclass(slots=True)
class CongestionRow:
    """The trace has the state of each flow's congestion control over time, if `transport.cc_trace_ns` is set: a row for
    each ACK after which window, rate or round trip differ from the flow's previous row."""

    time_us: Annotated[float, Meaning("time at which the ACK arrived", "µs")]
    flow_id: Annotated[int, Meaning("number of the flow")]
    cwnd_bytes: Annotated[
        int | None, Meaning("window: most bytes that the flow may have in flight; null: no limit", "B", bits=64)
    ]
    rate_bps: Annotated[
        int, Meaning("pacing rate of the flow; the NIC's rate if the flow is not paced", "bit/s", bits=64)
    ]
    rtt_us: Annotated[
        float | None, Meaning("round-trip time of the acknowledged packet; null: the packet was sent twice", "µs")
    ]
