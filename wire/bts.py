# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The Back-To-Sender (BTS) packet: a private UDP payload of 28 bytes, big-endian, or 40 for cause SUB_RTT.

    u4 version | u4 flags (bit 0: cacheable) | u8 cause | u8 protocol of the flow | u8 TOS of the flow (DSCP << 2)
    u32 pause_us, or the feedback of a sample (cause FEEDBACK), or the time in which the queue drains (cause SUB_RTT)
    u16 source port of the flow | u16 destination port of the flow
    u24 destination QP (0: not RoCE) | u8 traffic class
    u32 queue_depth_bytes
    u16 switch_id | u48 sent_us
    cause SUB_RTT only: the 12 bytes of the data packet's BTH, which end with its PSN

Outer addresses are swapped: source = the congested destination, destination = the sender to pause (paper §3.1). The
layout is private, since no public one exists (docs/sources.md#bts-packet); other tools cannot decode it.
"""

import struct
from typing import Final, NamedTuple

from wire import ethernet, ipv4, udp
from wire.constants import (
    BTS_FLAG_CACHEABLE,
    BTS_PAYLOAD_BYTES,
    BTS_UDP_PORT,
    BTS_VERSION,
    CLASS_COUNT,
    DSCP_BTS,
    ETHERTYPE_IPV4,
    IP_PROTOCOL_UDP,
    PSN_MASK,
    QPN_MASK,
    QUOTED_BTH_BYTES,
    BtsCause,
)
from wire.words import half_word_at, word_at

_LAYOUT = struct.Struct(">BBBBIHHIIHHI")
_PAUSE_OFFSET: Final = 4
_PORTS_OFFSET: Final = 8
_QPN_OFFSET: Final = 12
_DEPTH_OFFSET: Final = 16
_SWITCH_OFFSET: Final = 20
_SENT_OFFSET: Final = 22
_PSN_OFFSET: Final = BTS_PAYLOAD_BYTES + QUOTED_BTH_BYTES - 4
_QUOTED_BTH = struct.Struct(">III")
_CAUSES = {int(cause): cause for cause in BtsCause}


class BackToSender(NamedTuple):
    """A decoded BTS payload. Times are wall microseconds, the unit of the P4 program."""

    cause: BtsCause
    cacheable: bool
    pause_us: int
    """Duration of the pause from now on (wall us): T_P of paper §3.2. For cause FEEDBACK it holds |Fb|, 1 to 63,
    and for cause SUB_RTT the time in which the queue drains that the data packet found."""
    protocol: int
    dscp: int
    source_port: int
    destination_port: int
    destination_qpn: int
    traffic_class: int
    queue_depth_bytes: int
    switch_id: int
    sent_us: int
    """Time on the switch's clock when it built the packet, wall us since the run's epoch."""
    psn: int = 0
    """PSN of the data packet, for cause SUB_RTT."""


def pack_payload(bts: BackToSender) -> bytes:
    """Return the bytes of the payload. Raise struct.error for a field that does not fit.

    A quoted BTH has its fields QP and PSN only.
    """
    payload = _LAYOUT.pack(
        BTS_VERSION << 4 | (BTS_FLAG_CACHEABLE if bts.cacheable else 0),
        bts.cause,
        bts.protocol,
        bts.dscp << 2,
        bts.pause_us,
        bts.source_port,
        bts.destination_port,
        bts.destination_qpn << 8 | bts.traffic_class,
        bts.queue_depth_bytes,
        bts.switch_id,
        bts.sent_us >> 32,
        bts.sent_us & 0xFFFFFFFF,
    )
    is_quoting = bts.cause == BtsCause.SUB_RTT
    return payload + _QUOTED_BTH.pack(0, bts.destination_qpn, bts.psn) if is_quoting else payload


def unpack_payload(payload: bytes) -> BackToSender | None:
    """Decode a payload strictly.

    Return None for a wrong length or version, an unknown flag or cause, or a value out of its range.
    """
    if len(payload) < BTS_PAYLOAD_BYTES:
        return None
    head, qpn_class = word_at(payload, 0), word_at(payload, _QPN_OFFSET)
    flags, tos = head >> 24, head & 0xFF
    known_cause = _CAUSES.get(head >> 16 & 0xFF)
    if flags >> 4 != BTS_VERSION or flags & 0xF & ~BTS_FLAG_CACHEABLE or known_cause is None:
        return None
    is_quoting = known_cause == BtsCause.SUB_RTT
    if len(payload) != BTS_PAYLOAD_BYTES + (QUOTED_BTH_BYTES if is_quoting else 0):
        return None
    if tos & 0x3 or qpn_class & 0xFF >= CLASS_COUNT:
        return None
    return BackToSender(
        known_cause,
        flags & BTS_FLAG_CACHEABLE != 0,
        word_at(payload, _PAUSE_OFFSET),
        head >> 8 & 0xFF,
        tos >> 2,
        half_word_at(payload, _PORTS_OFFSET),
        half_word_at(payload, _PORTS_OFFSET + 2),
        qpn_class >> 8 & QPN_MASK,
        qpn_class & 0xFF,
        word_at(payload, _DEPTH_OFFSET),
        half_word_at(payload, _SWITCH_OFFSET),
        half_word_at(payload, _SENT_OFFSET) << 32 | word_at(payload, _SENT_OFFSET + 2),
        word_at(payload, _PSN_OFFSET) & PSN_MASK if is_quoting else 0,
    )


def pack_frame(bts: BackToSender, *, destination_mac: int, source_mac: int, congested_ip: int, paused_ip: int) -> bytes:
    """Return a whole frame as a switch sends it, for tests and the virtual clock's forged-signal checks."""
    payload = pack_payload(bts)
    return b"".join(
        (
            ethernet.pack_header(destination_mac, source_mac, ETHERTYPE_IPV4),
            ipv4.pack_header(congested_ip, paused_ip, IP_PROTOCOL_UDP, udp.HEADER_BYTES + len(payload), DSCP_BTS << 2),
            udp.pack_header(bts.source_port, BTS_UDP_PORT, len(payload)),
            payload,
        )
    )
