# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The trimmed frame that a switch sends in place of a data frame: switch-bmv2/include/control/queue/trimming.p4."""

from sfc_testbed.wire.constants import DSCP_RETURNED, DSCP_TRIMMED, TRIMMED_FRAME_BYTES, TRIMMED_IPV4_BYTES
from sfc_testbed.wire.ipv4 import HEADER_BYTES, pack_header, unpack_header
from sfc_testbed.wire.roce.packets import IP_OFFSET, UDP_OFFSET

_UDP_BYTES = TRIMMED_IPV4_BYTES - HEADER_BYTES


def cut(frame: bytes, dscp: int = DSCP_TRIMMED) -> bytes:
    ip = unpack_header(frame, IP_OFFSET)
    assert ip is not None
    return _headers(frame, frame[:IP_OFFSET], ip.source, ip.destination, dscp)


def sent_back(frame: bytes) -> bytes:
    """Return the trimmed frame on its way back to the sender."""
    ip = unpack_header(frame, IP_OFFSET)
    assert ip is not None
    macs = frame[6:12] + frame[:6]
    return _headers(frame, macs + frame[12:IP_OFFSET], ip.destination, ip.source, DSCP_RETURNED)


def _headers(frame: bytes, ethernet: bytes, source_ip: int, destination_ip: int, dscp: int) -> bytes:
    protocol = frame[IP_OFFSET + 9]
    header = pack_header(source_ip, destination_ip, protocol, _UDP_BYTES, dscp << 2)
    udp = frame[UDP_OFFSET : UDP_OFFSET + 4] + _UDP_BYTES.to_bytes(2, "big") + b"\0\0"
    return ethernet + header + udp + frame[UDP_OFFSET + 8 : TRIMMED_FRAME_BYTES]
