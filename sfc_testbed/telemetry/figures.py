# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The definition of a figure, and the figures that a flow's sender and receiver report.

`SenderCounts` and `ReceiverFigures` are the only lists of these figures. A sender counts in an object of the first, and
a receiver creates an object of the second for a complete message. Reports contain the objects, and `telemetry.schema`
derives the columns of the flows trace and the table in docs/traces.md from the classes. The module is compiled, since
every packet is counted.
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
class SenderCounts:
    """The counters of a flow's sender so far. Each is a column of the flows trace."""

    packets_sent: Annotated[int, Meaning("data packets sent, including retransmitted packets", "packets")] = 0
    packets_resent: Annotated[int, Meaning("retransmitted data packets", "packets")] = 0
    bytes_resent: Annotated[int, Meaning("retransmitted message bytes", "B", bits=64)] = 0
    timeouts: Annotated[int, Meaning("retransmission timeouts")] = 0
    naks: Annotated[int, Meaning("negative acknowledgements received")] = 0


@dataclass(slots=True)
class ReceiverFigures:
    """The figures of a complete message at its receiver. Each is a column of the flows trace.

    It is not frozen, because workers send it, and a compiled frozen dataclass cannot be unpickled.
    A figure that is `int | None` or `float | None` is null for other messages and in runs of older releases.
    """

    corrupted: Annotated[bool, Meaning("the receiver's checksum of the message did not match")] = False
