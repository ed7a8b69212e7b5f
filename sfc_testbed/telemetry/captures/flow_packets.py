# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Recognises the packets of a flow by their headers: data, ACKs, BTS and everything else that the flow causes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from sfc_testbed.wire.bts import unpack_frame
from sfc_testbed.wire.constants import (
    BTS_UDP_PORT,
    DSCP_RETURNED,
    DSCP_TRIMMED,
    ETHERTYPE_IPV4,
    INT_UDP_PORT,
    IP_PROTOCOL_UDP,
    PSN_MASK,
    ROCE_UDP_PORT,
    BtsCause,
)
from sfc_testbed.wire.int_header import telemetry_bytes
from sfc_testbed.wire.roce.packets import (
    ACKNOWLEDGE,
    BTH_BYTES,
    BTH_OFFSET,
    CNP,
    PULL,
    SEND_OPCODES,
    Syndrome,
    source_port,
)

_IP_VERSION_AND_LENGTH = 0x45
_SYNDROME_KINDS = 0xE0
_ADDRESSES = slice(26, 34)


class Kind(Enum):
    """The role of a packet in a flow."""

    DATA = "data"
    TRIMMED = "trimmed"
    RETURNED = "returned"
    ACK = "ack"
    NAK = "nak"
    CNP = "cnp"
    PULL = "pull"
    BTS = "bts"


_ANSWERS = (Kind.ACK, Kind.NAK, Kind.RETURNED, Kind.CNP, Kind.PULL)
_OF_QUEUE_PAIR = (Kind.CNP, Kind.PULL, Kind.BTS)
"""Packets that name a queue pair only. They belong to each of its messages."""


@dataclass(frozen=True)
class FlowOnWire:
    """The header fields that identify a flow's packets."""

    source_ip: bytes
    destination_ip: bytes
    source_qpn: int
    destination_qpn: int
    first_psn: int
    """The PSN of the flow's first packet. Earlier messages of the queue pair have used the PSNs before it."""
    packets: int

    def recognise(self, frame: bytes) -> tuple[Kind, int] | None:
        """Return the kind of a packet of this flow and its number in the message; None for any other frame.

        The number of an ACK or NAK is the number that its PSN refers to. Packets that have no PSN have number 0.
        """
        addresses = frame[_ADDRESSES]
        if addresses == self.source_ip + self.destination_ip:
            is_answer = False
        elif addresses == self.destination_ip + self.source_ip:
            is_answer = True
        else:
            return None
        if is_answer and self._is_signalled(frame):
            return Kind.BTS, 0
        bth = _bth_offset(frame)
        kind = None if bth is None else _kind(frame, bth)
        if bth is None or kind is None or is_answer != (kind in _ANSWERS):
            return None
        # A returned header keeps the QPN of its original destination.
        qpn = self.source_qpn if is_answer and kind is not Kind.RETURNED else self.destination_qpn
        if int.from_bytes(frame[bth + 5 : bth + 8], "big") != qpn:
            return None
        if kind in _OF_QUEUE_PAIR:
            return kind, 0
        packet = (int.from_bytes(frame[bth + 9 : bth + 12], "big") - self.first_psn) & PSN_MASK
        if packet < self.packets or (packet == self.packets and kind in (Kind.ACK, Kind.NAK)):
            return kind, packet
        return None

    def _is_signalled(self, frame: bytes) -> bool:
        """Whether a frame to the source is a BTS that names this flow's queue pair, or its UDP port only.

        A BTS with a cause names the queue pair even if the packets of the flow have different UDP source ports.
        """
        if not _is_udp(frame) or int.from_bytes(frame[36:38], "big") != BTS_UDP_PORT:
            return False
        signal = unpack_frame(frame)
        if signal is None:
            return False
        if signal.cause != BtsCause.UNKNOWN:
            return signal.destination_qpn == self.destination_qpn
        return signal.source_port == source_port(self.source_qpn)


class FlowFilter:
    """Selects the frames of some flows."""

    def __init__(self, flows: Iterable[FlowOnWire]) -> None:
        self._by_addresses: dict[bytes, list[FlowOnWire]] = {}
        for flow in flows:
            for addresses in (flow.source_ip + flow.destination_ip, flow.destination_ip + flow.source_ip):
                self._by_addresses.setdefault(addresses, []).append(flow)

    def selects(self, frame: bytes) -> bool:
        """Whether a frame is a packet of one of the flows."""
        flows = self._by_addresses.get(frame[_ADDRESSES], ())
        return any(flow.recognise(frame) is not None for flow in flows)

    def expression(self) -> str:
        """Return an expression of libpcap that accepts these frames, and others between the same hosts."""
        ends = {frozenset((addresses[:4], addresses[4:])) for addresses in self._by_addresses}
        pairs = sorted(" and ".join(f"host {'.'.join(map(str, ip))}" for ip in sorted(pair)) for pair in ends)
        return " or ".join(f"({pair})" for pair in pairs)


def _is_udp(frame: bytes) -> bool:
    """Whether a frame has IPv4 without options, and is long enough for a UDP header and a BTH or BTS behind it."""
    if len(frame) < BTH_OFFSET + BTH_BYTES or int.from_bytes(frame[12:14], "big") != ETHERTYPE_IPV4:
        return False
    return frame[14] == _IP_VERSION_AND_LENGTH and frame[23] == IP_PROTOCOL_UDP


def _bth_offset(frame: bytes) -> int | None:
    """Return the offset of a RoCEv2 packet's BTH, behind any telemetry; None if the frame is not RoCEv2."""
    if not _is_udp(frame):
        return None
    port = int.from_bytes(frame[36:38], "big")
    if port == ROCE_UDP_PORT:
        return BTH_OFFSET
    if port != INT_UDP_PORT:
        return None
    offset = BTH_OFFSET + telemetry_bytes(frame[BTH_OFFSET], frame[BTH_OFFSET + 1])
    return offset if len(frame) >= offset + BTH_BYTES else None


def _kind(frame: bytes, bth: int) -> Kind | None:
    dscp, opcode = frame[15] >> 2, frame[bth]
    if opcode in SEND_OPCODES:
        return {DSCP_TRIMMED: Kind.TRIMMED, DSCP_RETURNED: Kind.RETURNED}.get(dscp, Kind.DATA)
    if opcode in (CNP, PULL):
        return Kind.CNP if opcode == CNP else Kind.PULL
    if opcode != ACKNOWLEDGE or len(frame) <= bth + BTH_BYTES:
        return None
    syndrome = frame[bth + BTH_BYTES] & _SYNDROME_KINDS
    return Kind.ACK if syndrome == Syndrome.ACK & _SYNDROME_KINDS else Kind.NAK
