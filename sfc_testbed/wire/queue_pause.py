# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Pause frames for one queue, and the queue number that a data packet carries for the next hop.

Both are private to the testbed (docs/wire-format.md#pause-of-a-queue). The queue number is the second byte of the
Ethernet source address, which is 0 in all addresses of the testbed, which every hop sets, and which no ICRC covers.
"""

import struct
from typing import Final, NamedTuple

from sfc_testbed.wire.constants import (
    CLASS_COUNT,
    ETHERTYPE_MAC_CONTROL,
    EXTENSION_OPCODE,
    PFC_DESTINATION_MAC,
    PFC_FRAME_BYTES,
    QUEUE_NUMBERS,
    QUEUE_PAUSE_ORGANIZATION,
)
from sfc_testbed.wire.ethernet import HEADER_BYTES, ethertype_of, pack_header

_BODY = struct.Struct(">HHBBBH")
_QUEUE_SHIFT: Final = 32


class QueuePause(NamedTuple):
    """The request of a frame that pauses one queue of a class."""

    traffic_class: int
    queue: int
    units: int
    """Duration in units of QUEUE_PAUSE_QUANTA quanta; 0 resumes the queue."""


def pack_frame(source_mac: int, pause: QueuePause) -> bytes:
    """Return a whole 60-byte frame."""
    organization = QUEUE_PAUSE_ORGANIZATION
    body = _BODY.pack(EXTENSION_OPCODE, organization >> 8, organization & 0xFF, *pause)
    return (pack_header(PFC_DESTINATION_MAC, source_mac, ETHERTYPE_MAC_CONTROL) + body).ljust(PFC_FRAME_BYTES, b"\0")


def unpack_frame(frame: bytes) -> QueuePause | None:
    """Decode a frame. Return None unless it is a well-formed pause of one queue."""
    if len(frame) < HEADER_BYTES + _BODY.size or ethertype_of(frame) != ETHERTYPE_MAC_CONTROL:
        return None
    opcode, upper, lower, traffic_class, queue, quanta = _BODY.unpack_from(frame, HEADER_BYTES)
    if opcode != EXTENSION_OPCODE or upper << 8 | lower != QUEUE_PAUSE_ORGANIZATION or traffic_class >= CLASS_COUNT:
        return None
    return QueuePause(traffic_class, queue, quanta)


def with_queue(mac: int, queue: int) -> int:
    """Return a source address that names the queue which held the packet."""
    return mac | queue << _QUEUE_SHIFT


def queue_of_pair(qpn: int) -> int:
    """Return the number of the NIC's queue for a queue pair, from 1; the NIC's other packets have queue 0.

    The first 255 queue pairs of a host have queues of their own.
    """
    return 1 + (qpn - 1) % (QUEUE_NUMBERS - 1)
