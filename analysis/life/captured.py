# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Finds the packets of one flow in the captures of a run by their headers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from telemetry.captures.pcapng import CapturedFrame, Direction, read_capture
from wire.constants import (
    DSCP_RETURNED,
    DSCP_TRIMMED,
    ETHERTYPE_IPV4,
    INT_UDP_PORT,
    IP_PROTOCOL_UDP,
    PSN_MASK,
    ROCE_UDP_PORT,
)
from wire.int_header import telemetry_bytes
from wire.roce.packets import ACKNOWLEDGE, BTH_BYTES, BTH_OFFSET, SEND_OPCODES, Syndrome

_IP_VERSION_AND_LENGTH = 0x45
_SYNDROME_KINDS = 0xE0


class Kind(Enum):
    """The role of a packet in a flow."""

    DATA = "data"
    TRIMMED = "trimmed"
    RETURNED = "returned"
    ACK = "ack"
    NAK = "nak"


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


class Sighting(NamedTuple):
    """A packet of the flow at an interface."""

    time_us: float
    direction: Direction
    kind: Kind
    packet: int
    """The number of the packet in the message, from 0; for an ACK or NAK, the number that its PSN refers to."""
    frame_bytes: int


def sightings(path: Path, flow: FlowOnWire) -> list[Sighting]:
    """Return the flow's packets in a capture, in order of time. Packets without a model time are left out.

    Raises CaptureError or OSError if the capture cannot be read.
    """
    packets = [sighting for captured in read_capture(path) if (sighting := _sighting(captured, flow)) is not None]
    return sorted(packets, key=lambda sighting: sighting.time_us)


def _sighting(captured: CapturedFrame, flow: FlowOnWire) -> Sighting | None:
    frame = captured.frame
    kinds: tuple[Kind, ...]
    addresses = frame[26:34]
    if addresses == flow.source_ip + flow.destination_ip:
        kinds, qpn = (Kind.DATA, Kind.TRIMMED), flow.destination_qpn
    elif addresses == flow.destination_ip + flow.source_ip:
        kinds, qpn = (Kind.ACK, Kind.NAK, Kind.RETURNED), flow.source_qpn
    else:
        return None
    time_us = None if captured.interface.clock is None else captured.interface.clock.model_us(captured.time_ns)
    bth = _bth_offset(frame)
    if time_us is None or bth is None:
        return None
    kind = _kind(frame, bth)
    if kind is Kind.RETURNED:
        qpn = flow.destination_qpn  # a returned header keeps the QPN of its original destination
    if kind is None or kind not in kinds or int.from_bytes(frame[bth + 5 : bth + 8], "big") != qpn:
        return None
    packet = (int.from_bytes(frame[bth + 9 : bth + 12], "big") - flow.first_psn) & PSN_MASK
    if packet >= flow.packets and not (kind in (Kind.ACK, Kind.NAK) and packet == flow.packets):
        return None
    return Sighting(time_us, captured.direction, kind, packet, len(frame))


def _bth_offset(frame: bytes) -> int | None:
    """Return the offset of a RoCEv2 packet's BTH, behind any telemetry; None if the frame is not RoCEv2."""
    if len(frame) < BTH_OFFSET + BTH_BYTES or int.from_bytes(frame[12:14], "big") != ETHERTYPE_IPV4:
        return None
    if frame[14] != _IP_VERSION_AND_LENGTH or frame[23] != IP_PROTOCOL_UDP:
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
    if opcode != ACKNOWLEDGE or len(frame) <= bth + BTH_BYTES:
        return None
    syndrome = frame[bth + BTH_BYTES] & _SYNDROME_KINDS
    return Kind.ACK if syndrome == Syndrome.ACK & _SYNDROME_KINDS else Kind.NAK
