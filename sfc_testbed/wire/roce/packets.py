# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Parts of RoCEv2 packets: base transport header, AETH, immediate data, CNP, and the header of the invariant CRC."""

import struct
from enum import IntEnum
from typing import Final

from isal.isal_zlib import crc32
from mypy_extensions import i64

from sfc_testbed.wire.constants import PSN_MASK, ROCE_SOURCE_PORT_BASE, ROCE_SOURCE_PORT_QPN_MASK
from sfc_testbed.wire.crc import word_crc
from sfc_testbed.wire.words import WORD_BYTES, little_word_at

BTH_BYTES: Final = 12
AETH_BYTES: Final = 4
IMMEDIATE_BYTES: Final = 4
ICRC_BYTES: Final = 4
ACK_REQUEST: Final = 1 << 31
"""Bit of the last BTH word (AckReq, reserved, PSN) with which the sender asks for an acknowledgement."""
SENT_AGAIN: Final = 1 << 24
"""Reserved bit of the last BTH word with which the sender marks a retransmission, so that a receiver can tell it from a
packet that others have overtaken."""

IP_OFFSET: Final = 14
TTL_OFFSET: Final = IP_OFFSET + 8
UDP_OFFSET: Final = 34
BTH_OFFSET: Final = 42
PSN_OFFSET: Final = 50
"""Offset of the last BTH word. The bytes before it are equal for all packets of a flow with one opcode and length."""
BODY_OFFSET: Final = 54

ACK_FRAME_BYTES = BODY_OFFSET + AETH_BYTES + ICRC_BYTES
"""Length of an ACK or a NAK without a selective word."""

QPN_BITS: Final = 24
"""Width of the destination QP. The byte above it has FECN, BECN and six flags, which the ICRC does not cover."""
BECN: Final = 1 << 30
_WORD: Final = struct.Struct(">I")
_PSEUDO_LRH: Final = b"\xff" * 8
_LRH_STATE: Final[i64] = crc32(_PSEUDO_LRH)
_TOS_MASK: Final = 0x0000FF00
_TTL_AND_CHECKSUM_MASK: Final = 0xFFFF00FF
_UDP_CHECKSUM_MASK: Final = 0xFFFF0000
_BECN_MASK: Final = 0x000000FF
"""Masks of the little-endian words with fields that the ICRC does not cover."""

SEND_FIRST: Final = 0x00
SEND_MIDDLE: Final = 0x01
SEND_LAST: Final = 0x02
SEND_LAST_WITH_IMMEDIATE: Final = 0x03
SEND_ONLY: Final = 0x04
SEND_ONLY_WITH_IMMEDIATE: Final = 0x05
ACKNOWLEDGE: Final = 0x11
CNP: Final = 0x81
PULL: Final = 0xC0
"""Opcode, in the range reserved for manufacturers, with which a receiver asks for a packet (docs/wire-format.md).

The body is a number.
"""


class Opcode(IntEnum):
    """The opcodes that this testbed sends: reliable connection SEND, acknowledge, the RoCEv2 CNP, and PULL.

    Code that runs once per packet uses the constants above, since access to an enumeration is slower.
    """

    SEND_FIRST = SEND_FIRST
    SEND_MIDDLE = SEND_MIDDLE
    SEND_LAST = SEND_LAST
    SEND_LAST_WITH_IMMEDIATE = SEND_LAST_WITH_IMMEDIATE
    SEND_ONLY = SEND_ONLY
    SEND_ONLY_WITH_IMMEDIATE = SEND_ONLY_WITH_IMMEDIATE
    ACKNOWLEDGE = ACKNOWLEDGE
    CNP = CNP
    PULL = PULL


SEND_OPCODES: Final = frozenset(range(Opcode.SEND_FIRST, Opcode.SEND_ONLY_WITH_IMMEDIATE + 1))


class Syndrome(IntEnum):
    """The AETH syndromes in use. The low five bits of an ACK are a credit code; all ones means no credit limit."""

    ACK = 0x1F
    TRIMMED = 0x40
    """The header of this packet arrived without its data. The standard reserves this type of syndrome."""
    NAK_SEQUENCE_ERROR = 0x60


CNP_BYTES: Final = 16
CNP_RESERVED = bytes(CNP_BYTES)
PULL_BYTES: Final = 4
SELECTIVE_BYTES: Final = 4


def data_opcode(*, is_first: bool, is_last: bool) -> i64:
    """Return the opcode of a data packet by its place in the message. The last packet carries immediate data."""
    if is_last:
        return SEND_ONLY_WITH_IMMEDIATE if is_first else SEND_LAST_WITH_IMMEDIATE
    return SEND_FIRST if is_first else SEND_MIDDLE


def has_immediate(opcode: i64) -> bool:
    """Whether packets with this opcode have four bytes of immediate data before the payload."""
    return opcode in (SEND_LAST_WITH_IMMEDIATE, SEND_ONLY_WITH_IMMEDIATE)


def ends_message(opcode: i64) -> bool:
    """Whether a data packet with this opcode is the last one of its message."""
    return opcode in (SEND_LAST, SEND_ONLY) or has_immediate(opcode)


def data_frame_bytes(payload_bytes: int, *, is_last: bool) -> int:
    """Return the length of a frame with `payload_bytes` message bytes.

    The last frame of a message also carries immediate data.
    """
    immediate_bytes = IMMEDIATE_BYTES if is_last else 0
    return BODY_OFFSET + immediate_bytes + payload_bytes + -payload_bytes % 4 + ICRC_BYTES


def source_port(qpn: int) -> int:
    """Return the UDP source port of a queue pair.

    Switches identify the sender's QP by this port, and ECMP spreads flows by it (paper §4, footnote).
    """
    return ROCE_SOURCE_PORT_BASE | qpn & ROCE_SOURCE_PORT_QPN_MASK


def pack_psn_word(psn: int, *, ack_request: bool = False) -> bytes:
    """Return the last word of a BTH: AckReq, seven reserved bits, PSN."""
    return ((ACK_REQUEST if ack_request else 0) | psn & PSN_MASK).to_bytes(4, "big")


def nearest_index(psn: i64, base: i64) -> i64:
    """Return the unwrapped packet number of a 24-bit PSN: the matching number that is nearest to `base`."""
    distance: i64 = (psn - base) & PSN_MASK
    return base + (distance if distance <= PSN_MASK >> 1 else distance - PSN_MASK - 1)


def pack_aeth(syndrome: int, message_sequence_number: int) -> bytes:
    """Return the four bytes of an AETH."""
    return _WORD.pack(syndrome << 24 | message_sequence_number & 0xFFFFFF)


def pack_selective(psn: int) -> bytes:
    """Return the selective word, eight zero bits and the PSN of a packet that arrived out of order.

    IRN appends it to a NAK, NDP to an ACK.
    """
    return _WORD.pack(psn & PSN_MASK)


def pack_immediate(value: int) -> bytes:
    """Return the four bytes of immediate data, which in this testbed hold the CRC-32 of the whole message."""
    return value.to_bytes(IMMEDIATE_BYTES, "big")


def icrc_state(header: bytes, offset: i64 = 0) -> i64:
    """Return the CRC state after the pseudo LRH and the masked header (36 bytes from `offset`, from IP to the
    destination QP).

    TOS, TTL, both checksums and the FECN/BECN byte may change on the way, so they are replaced by ones.
    """
    state = _LRH_STATE
    for at in range(i64(0), PSN_OFFSET - IP_OFFSET, WORD_BYTES):
        word = little_word_at(header, offset + at)
        if at == 0:
            word |= _TOS_MASK
        elif at == 8:
            word |= _TTL_AND_CHECKSUM_MASK
        elif at == 24:
            word |= _UDP_CHECKSUM_MASK
        elif at == 32:
            word |= _BECN_MASK
        state = word_crc(word, state)
    return state
