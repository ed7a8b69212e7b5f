# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The TCP signal: the Back-To-Sender (BTS) with which a switch answers a TCP packet, a TCP packet of 46 bytes.

    TCP header: ports of the flow, swapped | sequence number = pause_us | acknowledgment number = queue_depth_bytes
        | data offset 5, reserved bits 0001, no flags | window, checksum and urgent pointer 0
    u8 DSCP of the flow | u4 flags (bit 0: cacheable) | u4 cause | u8 traffic class | u8 reserved | u16 switch_id

IPv4 addresses, DSCP and identification are those of a BTS over UDP (`wire.bts`). The SFC prototype keeps acknowledgment
number, data offset, flags, window and urgent pointer of the data packet, and its first bytes after the header. The
flags distinguish both signals, because every segment of TCP has a flag. The prototype's signal has cause UNKNOWN.
"""

import struct
from typing import Final

from sfc_testbed.wire import ethernet, ipv4
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.constants import (
    BTS_FLAG_CACHEABLE,
    BTS_FRAME_BYTES,
    CLASS_COUNT,
    DSCP_BTS,
    DSCP_MASK,
    ETHERTYPE_IPV4,
    IP_PROTOCOL_TCP,
    TCP_HEADER_WORDS,
    TCP_SIGNAL,
    BtsCause,
)
from sfc_testbed.wire.words import half_word_at, word_at

_TCP = struct.Struct(">HHIIHHHH")
_FIELDS = struct.Struct(">BBBBH")
_TOTAL_BYTES: Final = BTS_FRAME_BYTES - ethernet.HEADER_BYTES
_LENGTH_OFFSET: Final = ethernet.HEADER_BYTES + 2
_STAMP_OFFSET: Final = ethernet.HEADER_BYTES + 4
_PORTS_OFFSET: Final = ethernet.HEADER_BYTES + ipv4.HEADER_BYTES
_SEQUENCE_OFFSET: Final = _PORTS_OFFSET + 4
_DEPTH_OFFSET: Final = _PORTS_OFFSET + 8
_CONTROL_OFFSET: Final = _PORTS_OFFSET + 12
_CHECKSUM_OFFSET: Final = _PORTS_OFFSET + 16
_FIELDS_OFFSET: Final = _PORTS_OFFSET + _TCP.size
_CONTROL: Final = TCP_HEADER_WORDS << 12 | TCP_SIGNAL << 8
_LONGEST_PAUSE_BITS: Final = 16
_PROTOTYPES: Final = BackToSender(BtsCause.UNKNOWN, False, 0, IP_PROTOCOL_TCP, 0, 0, 0, 0, 0, 0, 0, 0)
_CAUSES = {int(cause): cause for cause in (BtsCause.QUEUE, BtsCause.CACHE, BtsCause.ESTIMATOR)}


def is_signal(frame: bytes) -> bool:
    """Whether a frame whose IPv4 header is valid and names TCP is a signal.

    A real segment with this length, an accurate ECN bit (RFC 9768), a checksum of 0 and such a sequence number occurs
    at most once in 2^32 such segments.
    """
    if len(frame) < BTS_FRAME_BYTES or half_word_at(frame, _LENGTH_OFFSET) != _TOTAL_BYTES:
        return False
    reserved = half_word_at(frame, _CONTROL_OFFSET) >> 8 & 0xF
    has_pause = word_at(frame, _SEQUENCE_OFFSET) >> _LONGEST_PAUSE_BITS == 0
    return reserved == TCP_SIGNAL and has_pause and half_word_at(frame, _CHECKSUM_OFFSET) == 0


def unpack_frame(frame: bytes) -> BackToSender | None:
    """Decode strictly the signal in a frame for which `is_signal` holds.

    Return None for an unknown flag or cause, or a value out of its range. A signal of the prototype has only protocol,
    ports, pause and stamp.
    """
    control, last = half_word_at(frame, _CONTROL_OFFSET), word_at(frame, _CHECKSUM_OFFSET)
    ports = word_at(frame, _PORTS_OFFSET)
    signal = _PROTOTYPES._replace(
        pause_us=word_at(frame, _SEQUENCE_OFFSET),
        source_port=ports & 0xFFFF,
        destination_port=ports >> 16,
        stamp=half_word_at(frame, _STAMP_OFFSET),
    )
    if control & 0xFF:
        return signal
    head, switch_id = word_at(frame, _FIELDS_OFFSET), half_word_at(frame, _FIELDS_OFFSET + 4)
    dscp, flags, traffic_class = head >> 24, head >> 20 & 0xF, head >> 8 & 0xFF
    cause = _CAUSES.get(head >> 16 & 0xF)
    window = half_word_at(frame, _CONTROL_OFFSET + 2)
    if cause is None or control != _CONTROL or window or last or flags & ~BTS_FLAG_CACHEABLE or head & 0xFF:
        return None
    if dscp > DSCP_MASK or traffic_class >= CLASS_COUNT:
        return None
    return signal._replace(
        cause=cause,
        cacheable=flags & BTS_FLAG_CACHEABLE != 0,
        dscp=dscp,
        traffic_class=traffic_class,
        queue_depth_bytes=word_at(frame, _DEPTH_OFFSET),
        switch_id=switch_id,
    )


def pack_frame(
    signal: BackToSender, *, destination_mac: int, source_mac: int, congested_ip: int, paused_ip: int
) -> bytes:
    """Return a whole frame as a switch sends it, for tests. Raise struct.error for a field that does not fit."""
    tcp = _TCP.pack(
        signal.destination_port, signal.source_port, signal.pause_us, signal.queue_depth_bytes, _CONTROL, 0, 0, 0
    )
    flags = BTS_FLAG_CACHEABLE if signal.cacheable else 0
    fields = _FIELDS.pack(signal.dscp, flags << 4 | signal.cause, signal.traffic_class, 0, signal.switch_id)
    length = len(tcp) + len(fields)
    return b"".join(
        (
            ethernet.pack_header(destination_mac, source_mac, ETHERTYPE_IPV4),
            ipv4.pack_header(congested_ip, paused_ip, IP_PROTOCOL_TCP, length, DSCP_BTS << 2, signal.stamp),
            tcp,
            fields,
        )
    )
