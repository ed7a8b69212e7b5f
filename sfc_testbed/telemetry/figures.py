# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The figures of a flow, each defined once: those of the message, of its sender and of its receiver.

The classes are the only lists of these figures. Records of hosts contain objects of `SenderFigures` and
`ReceiverFigures`. `telemetry.schema` derives the columns of the flows trace, of the journal and the table in
docs/traces.md from the classes, and `telemetry.flow_parts` the join of the three parts.

A figure is an integer, a float, a bool or a text, or None where a flow has no value. Times are in model µs
(`hosts.transport.model_clock`). A new figure of message or receiver can be None, so that runs of older releases stay
readable; a figure of the sender always can, because a run may be killed before the sender reports it. The module is
compiled, since every packet is counted.
"""

from dataclasses import dataclass
from typing import Annotated


@dataclass(frozen=True, slots=True)
class Meaning:
    """The meaning and unit of a column, and the width of an integer column."""

    text: str
    unit: str = ""
    bits: int = 32
    """Width of an integer. Integers are unsigned."""


@dataclass(slots=True)
class MessageFigures:
    """The figures of a message that are known before the run (`testbed.flows.planned`)."""

    ideal_fct_us: Annotated[
        float,
        Meaning(
            "FCT that the message would have at line rate in an idle network, on the best of equally short paths", "µs"
        ),
    ]
    job: Annotated[
        int | None, Meaning("number of the job (such as a collective) that sends the message, from 1; null: none")
    ] = None
    iteration: Annotated[int | None, Meaning("number of the job's iteration, from 1")] = None
    step: Annotated[int | None, Meaning("number of the message's step in the iteration, from 1")] = None
    rank: Annotated[int | None, Meaning("number of the sending process in the job, from 0")] = None


@dataclass(slots=True)
class SenderFigures:
    """The figures of a message at its sender so far. A message that was never ready has the defaults."""

    packets_sent: Annotated[int, Meaning("data packets sent, including retransmitted packets", "packets")] = 0
    packets_resent: Annotated[int, Meaning("retransmitted data packets", "packets")] = 0
    bytes_resent: Annotated[int, Meaning("retransmitted message bytes", "B", bits=64)] = 0
    timeouts: Annotated[int, Meaning("retransmission timeouts")] = 0
    naks: Annotated[int, Meaning("NAKs that the sender received")] = 0
    paused_us: Annotated[
        float, Meaning("time during which flow control held back packets of the flow at the sender", "µs")
    ] = 0.0


@dataclass(slots=True)
class ReceiverFigures:
    """The figures of a complete message at its receiver. An incomplete message has the defaults.

    It is not frozen, because workers send it, and a compiled frozen dataclass cannot be unpickled.
    """

    corrupted: Annotated[bool, Meaning("whether the checksum of the received message was wrong")] = False
    received_us: Annotated[
        float | None, Meaning("time at which the receiver had the whole message; null: never", "µs")
    ] = None
    packets_reordered: Annotated[
        int | None, Meaning("data packets that arrived after a later packet; retransmissions do not count", "packets")
    ] = None
    reordering_max: Annotated[
        int | None,
        Meaning("largest distance of these packets: highest PSN received before minus the packet's PSN", "packets"),
    ] = None
    reordering_mean: Annotated[
        float | None, Meaning("mean distance of these packets; 0 if there are none", "packets")
    ] = None
