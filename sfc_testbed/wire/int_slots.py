# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The compact layout of in-band telemetry: five slots, which the sender writes empty and each hop fills.

    shim, 4 bytes, as in `wire.int_header` with the compact flag; it counts the filled slots
    slot, 8 bytes each, five times, the newest first: 4 bits rate code | 24 bits time | 20 bits sent | 16 bits queue
    record, 16 bytes, with the stamp flag: the sender's

The fields are those of the HPCC paper (docs/sources.md#hpcc), and a data packet has the same length on every link. A
rate code is a place in the sorted list of the network's link rates, from 1; 0 is unknown. The unit of time depends on
the dilation (`time_shift`). Times and byte counts wrap, and the queue stops at the largest value of its field.
"""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple

from sfc_testbed.wire.constants import INT_FLAG_COMPACT, INT_MAX_HOPS, INT_SHIM_BYTES, INT_SLOT_BYTES
from sfc_testbed.wire.dilation import Dilation

RATE_BITS: Final = 4
TIME_BITS: Final = 24
SENT_BITS: Final = 20
QUEUE_BITS: Final = 16
SENT_UNIT_BYTES: Final = 128
QUEUE_UNIT_BYTES: Final = 80
MOST_RATES: Final = (1 << RATE_BITS) - 1
"""Highest number of different link rates that have codes."""

SENT_SHIFT: Final = QUEUE_BITS
TIME_SHIFT: Final = SENT_SHIFT + SENT_BITS
RATE_SHIFT: Final = TIME_SHIFT + TIME_BITS
"""Places of the fields in a slot, as the number of bits below them."""

_NS_DILATION: Final = 1000
"""The dilation at which a wall microsecond is a model nanosecond."""
_SLOTS = struct.Struct(f">{INT_MAX_HOPS}Q")


class Slot(NamedTuple):
    """The fields of a slot in their own units."""

    rate_code: int
    time: int
    sent: int
    queue: int


def rate_code(rates_bps: Sequence[int], rate_bps: int) -> int:
    """Return the code of a link rate in a network with these rates; 0 if it has none."""
    if len(rates_bps) > MOST_RATES or rate_bps not in rates_bps:
        return 0
    return sorted(rates_bps).index(rate_bps) + 1


def time_shift(dilation: Dilation) -> int:
    """Return the number of bits by which wall microseconds are shifted to the unit of a slot's time.

    Up to a dilation of 1000 the unit is a wall microsecond. Above, it is 1 to 2 model ns, so that times wrap after
    16.8 model ms at the earliest, as in the HPCC simulator.
    """
    return (-(-dilation.factor // _NS_DILATION) - 1).bit_length()


def pack(slots: Sequence[Slot], flags: int = 0, stamp: bytes = b"") -> bytes:
    """Return the shim and the slots that follow the UDP header, for tests and for models of a switch."""
    words = [
        slot.rate_code << RATE_SHIFT | slot.time << TIME_SHIFT | slot.sent << SENT_SHIFT | slot.queue for slot in slots
    ]
    empty = [0] * (INT_MAX_HOPS - len(slots))
    return bytes([len(slots), flags | INT_FLAG_COMPACT, 0, 0]) + _SLOTS.pack(*words, *empty) + stamp


def unpack(shim: bytes) -> tuple[Slot, ...]:
    """Return the filled slots, the last switch first, for tests."""
    words = _SLOTS.unpack(shim[INT_SHIM_BYTES : INT_SHIM_BYTES + INT_MAX_HOPS * INT_SLOT_BYTES])
    return tuple(
        Slot(
            word >> RATE_SHIFT,
            word >> TIME_SHIFT & (1 << TIME_BITS) - 1,
            word >> SENT_SHIFT & (1 << SENT_BITS) - 1,
            word & (1 << QUEUE_BITS) - 1,
        )
        for word in words[: shim[0]]
    )
