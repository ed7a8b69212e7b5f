# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Socket filters in classic BPF, and the sockets that silence the kernel on the ports of the NIC.

A program is a list of (code, jump if true, jump if false, k).
"""

import ctypes
import socket
import struct

from sfc_testbed.wire.constants import (
    BTS_UDP_PORT,
    ETHERTYPE_IPV4,
    ETHERTYPE_MAC_CONTROL,
    INT_UDP_PORT,
    IP_PROTOCOL_UDP,
    ROCE_UDP_PORT,
)

_SO_ATTACH_FILTER = 26
_INSTRUCTION = struct.Struct("=HBBI")
_PROGRAM = struct.Struct("@HP")

_LOAD_WORD = 0x20
_LOAD_HALF = 0x28
_LOAD_BYTE = 0x30
_LOAD_HALF_INDEXED = 0x48
_LOAD_IP_HEADER_LENGTH = 0xB1
_JUMP_EQUAL = 0x15
_JUMP_SET = 0x45
_RETURN = 0x06

_HAS_VLAN_TAG = 0xFFFFF000 + 48
"""The place of SKF_AD_VLAN_TAG_PRESENT: the kernel has already taken the tag off the frame."""
_FRAGMENT_BITS = 0x1FFF
_WHOLE_FRAME = 0x40000
_SMALL_BUFFER_BYTES = 4096

Program = list[tuple[int, int, int, int]]

_NO_FRAMES: Program = [(_RETURN, 0, 0, 0)]

NIC_FRAMES: Program = [
    (_LOAD_WORD, 0, 0, _HAS_VLAN_TAG),
    (_JUMP_EQUAL, 0, 13, 0),
    (_LOAD_HALF, 0, 0, 12),
    (_JUMP_EQUAL, 10, 0, ETHERTYPE_MAC_CONTROL),
    (_JUMP_EQUAL, 0, 10, ETHERTYPE_IPV4),
    (_LOAD_BYTE, 0, 0, 23),
    (_JUMP_EQUAL, 0, 8, IP_PROTOCOL_UDP),
    (_LOAD_HALF, 0, 0, 20),
    (_JUMP_SET, 6, 0, _FRAGMENT_BITS),
    (_LOAD_IP_HEADER_LENGTH, 0, 0, 14),
    (_LOAD_HALF_INDEXED, 0, 0, 16),
    (_JUMP_EQUAL, 2, 0, ROCE_UDP_PORT),
    (_JUMP_EQUAL, 1, 0, INT_UDP_PORT),
    (_JUMP_EQUAL, 0, 1, BTS_UDP_PORT),
    (_RETURN, 0, 0, _WHOLE_FRAME),
    (_RETURN, 0, 0, 0),
]
"""A filter for Ethernet sockets that accepts MAC control frames and IPv4 UDP to the RoCEv2, telemetry and BTS ports.

Frames with a VLAN tag are no IPv4 frames, as on the virtual clock.
"""

HOST_FRAMES: Program = [
    (_LOAD_WORD, 0, 0, _HAS_VLAN_TAG),
    (_JUMP_EQUAL, 0, 4, 0),
    (_LOAD_HALF, 0, 0, 12),
    (_JUMP_EQUAL, 1, 0, ETHERTYPE_MAC_CONTROL),
    (_JUMP_EQUAL, 0, 1, ETHERTYPE_IPV4),
    (_RETURN, 0, 0, _WHOLE_FRAME),
    (_RETURN, 0, 0, 0),
]
"""A filter for NICs that also carry the traffic of programs: it accepts MAC control frames and all of IPv4."""


def attach_filter(sock: socket.socket, program: Program) -> None:
    """Make the kernel drop packets that `program` rejects before they are queued to the socket."""
    code = b"".join(_INSTRUCTION.pack(*instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    sock.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, _PROGRAM.pack(len(program), ctypes.addressof(buffer)))


def silence_kernel() -> list[socket.socket]:
    """Return sockets that suppress ICMP "port unreachable" answers to the testbed's UDP packets while they stay open.

    The kernel answers datagrams to a port without a socket. These sockets in the current network namespace drop every
    datagram before it is queued; the NIC gets its own copy of each frame through its packet socket.

    Raises OSError (address in use) if another program in the namespace uses one of the ports.
    """
    sockets: list[socket.socket] = []
    try:
        for port in (ROCE_UDP_PORT, INT_UDP_PORT, BTS_UDP_PORT):
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sockets.append(sock)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER_BYTES)
            attach_filter(sock, _NO_FRAMES)
            sock.bind(("", port))
    except OSError:
        for sock in sockets:
            sock.close()
        raise
    return sockets
