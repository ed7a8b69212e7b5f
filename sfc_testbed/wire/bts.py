# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The Back-To-Sender (BTS) packet: a UDP payload of 18 bytes, big-endian, or 30 for cause SUB_RTT.

    u8 version | u8 DSCP of the flow
    u16 pause_us, or the feedback of a sample (cause FEEDBACK), or the time in which the queue drains (cause SUB_RTT)
    u4 flags (bit 0: cacheable) | u4 cause | u8 protocol of the flow | u16 destination port of the flow
    u24 destination QP (0: not RoCE) | u8 traffic class
    u32 queue_depth_bytes | u16 switch_id
    cause SUB_RTT only: the 12 bytes of the data packet's BTH, which end with its PSN

Outer addresses are swapped: source = the congested destination, destination = the sender to pause (paper §3.1). The
UDP source port is the flow's. The IPv4 identification, which is free in an atomic datagram (RFC 6864), is the time at
which the data packet arrived. The first four bytes and the port are those of the SFC prototype, which leaves the other
14 bytes 0 (docs/sources.md#bts-packet). Such a BTS has cause UNKNOWN.
"""

import struct
from typing import Final, NamedTuple

from mypy_extensions import i64

from sfc_testbed.wire import ethernet, ipv4, udp
from sfc_testbed.wire.constants import (
    BTS_FLAG_CACHEABLE,
    BTS_PAYLOAD_BYTES,
    BTS_UDP_PORT,
    BTS_VERSION,
    CLASS_COUNT,
    DSCP_BTS,
    DSCP_MASK,
    ETHERTYPE_IPV4,
    IP_PROTOCOL_TCP,
    IP_PROTOCOL_UDP,
    PSN_MASK,
    QPN_MASK,
    QUOTED_BTH_BYTES,
    BtsCause,
)
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.units import NS_PER_US
from sfc_testbed.wire.words import half_word_at, word_at

SUB_RTT_UNIT_NS: Final = 4
"""Unit of the time in a BTS of cause SUB_RTT, in model ns: a queue of few packets drains in less than a microsecond."""
_TICK_MODEL_NS: Final = 16
"""Shortest unit of the time stamp, with which stamps repeat after 1.05 model ms."""
STAMPS: Final = 1 << 16
"""Number of different time stamps."""

_LAYOUT = struct.Struct(">BBHBBHIIH")
_LENGTH_OFFSET: Final = ethernet.HEADER_BYTES + 2
_STAMP_OFFSET: Final = ethernet.HEADER_BYTES + 4
_SOURCE_PORT_OFFSET: Final = ethernet.HEADER_BYTES + ipv4.HEADER_BYTES
_PAYLOAD_OFFSET: Final = _SOURCE_PORT_OFFSET + udp.HEADER_BYTES
_CAUSE_OFFSET: Final = _PAYLOAD_OFFSET + 4
_QPN_OFFSET: Final = _PAYLOAD_OFFSET + 8
_DEPTH_OFFSET: Final = _PAYLOAD_OFFSET + 12
_SWITCH_OFFSET: Final = _PAYLOAD_OFFSET + 16
_PSN_OFFSET: Final = _PAYLOAD_OFFSET + BTS_PAYLOAD_BYTES + QUOTED_BTH_BYTES - 4
_QUOTED_BTH = struct.Struct(">III")
_CAUSES = {int(cause): cause for cause in BtsCause}


class BackToSender(NamedTuple):
    """A decoded BTS. For cause UNKNOWN, all fields are 0 except pause, DSCP, source port and stamp."""

    cause: BtsCause
    cacheable: bool
    pause_us: int
    """Duration of the pause from now on (model us): T_P of paper §3.2. For cause FEEDBACK it holds |Fb|, 1 to 63, and
    for cause SUB_RTT the time in which the queue drains that the data packet found, in units of SUB_RTT_UNIT_NS."""
    protocol: int
    dscp: int
    source_port: int
    destination_port: int
    destination_qpn: int
    traffic_class: int
    queue_depth_bytes: int
    switch_id: int
    stamp: int
    """Time on the switch's clock at which the data packet arrived, in ticks, modulo STAMPS."""
    psn: int = 0
    """PSN of the data packet, for cause SUB_RTT."""

    @property
    def request_ns(self) -> int:
        """The requested pause, or the drain time of cause SUB_RTT, in model ns."""
        return self.pause_us * (SUB_RTT_UNIT_NS if self.cause == BtsCause.SUB_RTT else NS_PER_US)


def tick_bits(dilation: Dilation) -> int:
    """Return the number of bits by which wall microseconds are shifted to ticks, the unit of time stamps.

    A tick is 16 to 32 model ns, or one microsecond of the switch's clock if that is longer. A shift is exact for every
    time, unlike a division in fixed point.
    """
    return (-(-_TICK_MODEL_NS * dilation.factor // NS_PER_US) - 1).bit_length()


def tick_ns(dilation: Dilation) -> int:
    """Return the unit of time stamps in wall ns."""
    return NS_PER_US << tick_bits(dilation)


def pack_payload(bts: BackToSender) -> bytes:
    """Return the bytes of the payload. Raise struct.error for a field that does not fit.

    A quoted BTH has its fields QP and PSN only.
    """
    payload = _LAYOUT.pack(
        BTS_VERSION,
        bts.dscp,
        bts.pause_us,
        (BTS_FLAG_CACHEABLE if bts.cacheable else 0) << 4 | bts.cause,
        bts.protocol,
        bts.destination_port,
        bts.destination_qpn << 8 | bts.traffic_class,
        bts.queue_depth_bytes,
        bts.switch_id,
    )
    is_quoting = bts.cause == BtsCause.SUB_RTT
    return payload + _QUOTED_BTH.pack(0, bts.destination_qpn, bts.psn) if is_quoting else payload


def unpack_frame(frame: bytes) -> BackToSender | None:
    """Decode strictly the BTS in a frame whose Ethernet, IPv4 and UDP headers are valid.

    Return None for a wrong length or version, an unknown flag or cause, or a value out of its range. A BTS for TCP is a
    TCP packet (`wire.tcp_signal`); only later fragments, which have no ports, are named here.
    """
    payload_bytes = half_word_at(frame, _LENGTH_OFFSET) - ipv4.HEADER_BYTES - udp.HEADER_BYTES
    if payload_bytes < BTS_PAYLOAD_BYTES or len(frame) < _PAYLOAD_OFFSET + payload_bytes:
        return None
    head, middle = word_at(frame, _PAYLOAD_OFFSET), word_at(frame, _CAUSE_OFFSET)
    qpn_class, depth_bytes = word_at(frame, _QPN_OFFSET), word_at(frame, _DEPTH_OFFSET)
    switch_id = half_word_at(frame, _SWITCH_OFFSET)
    flags, dscp = middle >> 28, head >> 16 & 0xFF
    known_cause = _CAUSES.get(middle >> 24 & 0xF)
    if head >> 24 != BTS_VERSION or flags & ~BTS_FLAG_CACHEABLE or known_cause is None:
        return None
    is_quoting = known_cause == BtsCause.SUB_RTT
    if payload_bytes != BTS_PAYLOAD_BYTES + (QUOTED_BTH_BYTES if is_quoting else 0):
        return None
    if dscp > DSCP_MASK or qpn_class & 0xFF >= CLASS_COUNT:
        return None
    source_port = half_word_at(frame, _SOURCE_PORT_OFFSET)
    if middle >> 16 & 0xFF == IP_PROTOCOL_TCP and (source_port or middle & 0xFFFF):
        return None
    if known_cause == BtsCause.UNKNOWN and (middle or qpn_class or depth_bytes or switch_id):
        return None
    fields = (
        known_cause,
        flags & BTS_FLAG_CACHEABLE != 0,
        head & 0xFFFF,
        middle >> 16 & 0xFF,
        dscp,
        source_port,
        middle & 0xFFFF,
        qpn_class >> 8 & QPN_MASK,
        qpn_class & 0xFF,
        depth_bytes,
        switch_id,
        half_word_at(frame, _STAMP_OFFSET),
        word_at(frame, _PSN_OFFSET) & PSN_MASK if is_quoting else i64(0),
    )
    return tuple.__new__(BackToSender, fields)  # a call of the class runs interpreted code


def pack_frame(bts: BackToSender, *, destination_mac: int, source_mac: int, congested_ip: int, paused_ip: int) -> bytes:
    """Return a whole frame as a switch sends it, for tests and the virtual clock's forged-signal checks."""
    payload = pack_payload(bts)
    length = udp.HEADER_BYTES + len(payload)
    return b"".join(
        (
            ethernet.pack_header(destination_mac, source_mac, ETHERTYPE_IPV4),
            ipv4.pack_header(congested_ip, paused_ip, IP_PROTOCOL_UDP, length, DSCP_BTS << 2, bts.stamp),
            udp.pack_header(bts.source_port, BTS_UDP_PORT, len(payload)),
            payload,
        )
    )
