# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The packets of one flow in the captures of a run. Knows headers, and neither queues nor what a packet's way was."""

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
    INT_RECORD_BYTES,
    INT_SHIM_BYTES,
    INT_UDP_PORT,
    IP_PROTOCOL_UDP,
    PSN_MASK,
    ROCE_UDP_PORT,
)
from wire.roce.packets import ACKNOWLEDGE, BTH_BYTES, BTH_OFFSET, SEND_OPCODES, Syndrome

_IP_VERSION_AND_LENGTH = 0x45
_SYNDROME_KINDS = 0xE0


class Kind(Enum):
    """What a packet is to a flow."""

    DATA = "data"
    TRIMMED = "trimmed"
    RETURNED = "returned"
    ACK = "ack"
    NAK = "nak"


@dataclass(frozen=True)
class FlowOnWire:
    """How a flow's packets are told from others."""

    source_ip: bytes
    destination_ip: bytes
    source_qpn: int
    destination_qpn: int
    first_psn: int
    """Of its first packet: earlier messages of its queue pair have those before."""
    packets: int


class Sighting(NamedTuple):
    """A packet of the flow at an interface."""

    time_us: float
    direction: Direction
    kind: Kind
    packet: int
    """Its number in the message, from 0; of an answer, that of the packet that it names."""
    frame_bytes: int


def sightings(path: Path, flow: FlowOnWire) -> list[Sighting]:
    """Those at one interface, in order of time; none where the capture does not know it. CaptureError, OSError."""
    found = [seen for each in read_capture(path) if (seen := _sighting(each, flow)) is not None]
    return sorted(found, key=lambda each: each.time_us)


def _sighting(seen: CapturedFrame, flow: FlowOnWire) -> Sighting | None:
    frame = seen.frame
    kinds: tuple[Kind, ...]
    way = frame[26:34]
    if way == flow.source_ip + flow.destination_ip:
        kinds, qpn = (Kind.DATA, Kind.TRIMMED), flow.destination_qpn
    elif way == flow.destination_ip + flow.source_ip:
        kinds, qpn = (Kind.ACK, Kind.NAK, Kind.RETURNED), flow.source_qpn
    else:
        return None
    time_us = None if seen.interface.clock is None else seen.interface.clock.model_us(seen.time_ns)
    at = _bth_offset(frame)
    if time_us is None or at is None:
        return None
    kind = _kind(frame, at)
    if kind is Kind.RETURNED:
        qpn = flow.destination_qpn  # a header that goes back still names where it was to go
    if kind is None or kind not in kinds or int.from_bytes(frame[at + 5 : at + 8], "big") != qpn:
        return None
    packet = (int.from_bytes(frame[at + 9 : at + 12], "big") - flow.first_psn) & PSN_MASK
    if packet >= flow.packets and not (kind in (Kind.ACK, Kind.NAK) and packet == flow.packets):
        return None
    return Sighting(time_us, seen.direction, kind, packet, len(frame))


def _bth_offset(frame: bytes) -> int | None:
    """Where the BTH of a RoCEv2 packet begins, telemetry or not."""
    if len(frame) < BTH_OFFSET + BTH_BYTES or int.from_bytes(frame[12:14], "big") != ETHERTYPE_IPV4:
        return None
    if frame[14] != _IP_VERSION_AND_LENGTH or frame[23] != IP_PROTOCOL_UDP:
        return None
    port = int.from_bytes(frame[36:38], "big")
    if port == ROCE_UDP_PORT:
        return BTH_OFFSET
    if port != INT_UDP_PORT:
        return None
    offset = BTH_OFFSET + INT_SHIM_BYTES + frame[BTH_OFFSET] * INT_RECORD_BYTES
    return offset if len(frame) >= offset + BTH_BYTES else None


def _kind(frame: bytes, at: int) -> Kind | None:
    dscp, opcode = frame[15] >> 2, frame[at]
    if opcode in SEND_OPCODES:
        return {DSCP_TRIMMED: Kind.TRIMMED, DSCP_RETURNED: Kind.RETURNED}.get(dscp, Kind.DATA)
    if opcode != ACKNOWLEDGE or len(frame) <= at + BTH_BYTES:
        return None
    syndrome = frame[at + BTH_BYTES] & _SYNDROME_KINDS
    return Kind.ACK if syndrome == Syndrome.ACK & _SYNDROME_KINDS else Kind.NAK
