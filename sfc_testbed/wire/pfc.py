# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Priority-based flow control frames (IEEE 802.1Qbb) and their quanta (docs/sources.md#pfc)."""

import struct
from collections.abc import Mapping
from typing import NamedTuple

from sfc_testbed.wire.constants import (
    CLASS_COUNT,
    ETHERTYPE_MAC_CONTROL,
    PFC_DESTINATION_MAC,
    PFC_FRAME_BYTES,
    PFC_MAX_QUANTA,
    PFC_OPCODE,
    PFC_QUANTUM_BITS,
)
from sfc_testbed.wire.ethernet import HEADER_BYTES, ethertype_of, pack_header
from sfc_testbed.wire.units import NS_PER_S

_BODY = struct.Struct(">HH8H")


class PfcFrame(NamedTuple):
    """The request of a PFC frame."""

    source_mac: int
    pause_quanta: dict[int, int]
    """Quanta by traffic class, only for classes whose enable bit is set. 0 resumes the class."""


def quanta_for(pause_ns: int, rate_bps: int) -> int:
    """Return the quanta that cover a pause at a line rate: ceil(T R / 512 bits), at most 65535.

    A longer pause needs further frames.
    """
    return min(PFC_MAX_QUANTA, -(-pause_ns * rate_bps // (PFC_QUANTUM_BITS * NS_PER_S)))


def quanta_ns(quanta: int, rate_bps: int) -> int:
    """Return the duration of a number of quanta at a line rate, in ns, rounded up."""
    return -(-quanta * PFC_QUANTUM_BITS * NS_PER_S // rate_bps)


def pack_frame(source_mac: int, pause_quanta: Mapping[int, int]) -> bytes:
    """Return a whole 60-byte frame. Raise ValueError for a class outside 0-7 or quanta outside 0-65535."""
    times = [0] * CLASS_COUNT
    enabled = 0
    for traffic_class, quanta in pause_quanta.items():
        if not 0 <= traffic_class < CLASS_COUNT or not 0 <= quanta <= PFC_MAX_QUANTA:
            raise ValueError(f"class {traffic_class} with {quanta} quanta does not fit a PFC frame")
        times[traffic_class] = quanta
        enabled |= 1 << traffic_class
    header = pack_header(PFC_DESTINATION_MAC, source_mac, ETHERTYPE_MAC_CONTROL)
    return (header + _BODY.pack(PFC_OPCODE, enabled, *times)).ljust(PFC_FRAME_BYTES, b"\0")


def unpack_frame(frame: bytes) -> PfcFrame | None:
    """Decode a frame. Return None unless it is a well-formed PFC frame; other MAC control frames are not."""
    if len(frame) < HEADER_BYTES + _BODY.size or ethertype_of(frame) != ETHERTYPE_MAC_CONTROL:
        return None
    opcode, enabled, *times = _BODY.unpack_from(frame, HEADER_BYTES)
    if opcode != PFC_OPCODE or enabled > 0xFF:
        return None
    quanta = {number: times[number] for number in range(CLASS_COUNT) if enabled >> number & 1}
    return PfcFrame(int.from_bytes(frame[6:12], "big"), quanta)
