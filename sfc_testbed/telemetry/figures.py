# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The definition of a figure, and the figures that a flow's sender counts.

`SenderCounts` is the only list of these figures. Senders count in its objects, reports contain the objects, and
`telemetry.schema` derives the columns of the flows trace and the table in docs/traces.md from the class. The module is
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
class SenderCounts:
    """The counters of a flow's sender so far. Each is a column of the flows trace."""

    packets_sent: Annotated[int, Meaning("data packets sent, including retransmitted packets", "packets")] = 0
    packets_resent: Annotated[int, Meaning("retransmitted data packets", "packets")] = 0
    bytes_resent: Annotated[int, Meaning("retransmitted message bytes", "B", bits=64)] = 0
    timeouts: Annotated[int, Meaning("retransmission timeouts")] = 0
    naks: Annotated[int, Meaning("negative acknowledgements received")] = 0
