# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The frames that the hosts of these tests send, and the fields of received frames. It must not know the network."""

import struct
from ipaddress import IPv4Address

from scapy.layers.inet import IP, IPOption
from scapy.layers.l2 import Ether
from scapy.packet import Raw

ECT, CE = 2, 3
BURST = 24
FRAME_BYTES = 1000
FLOWS = 32
TCP_BYTES = 60_000
MANY_PACKETS = 10
"""The queue length in packets from which on the programs mark."""

OPTION_HOPS = 31
_EXPERIMENTAL = 253
_TCP = 6
_ETHERNET_BYTES = 14
_IPV4_BYTES = 20


def address(host: int) -> str:
    return f"10.0.{host}.{host}"


def mac(host: int) -> str:
    return f"02:00:00:00:00:{host:02x}"


def numbered(number: int, receiver: str, payload_bytes: int, *, ecn: int = 0, records_hops: bool = False) -> bytes:
    """Return a frame from h1 that carries a number."""
    option = struct.pack(">BBH", OPTION_HOPS, 4, 0) if records_hops else b""
    return _frame(receiver, _EXPERIMENTAL, struct.pack(">I", number).ljust(payload_bytes, b"\0"), ecn, option)


def of_flow(source_port: int, receiver: str) -> bytes:
    return _frame(receiver, _TCP, struct.pack(">HHIIBBHHH", source_port, 80, 0, 0, 5 << 4, 2, 0, 0, 0))


def number_of(frame: bytes) -> int:
    number: int = struct.unpack_from(">I", frame, _payload_at(frame))[0]
    return number


def ecn_of(frame: bytes) -> int:
    return frame[_ETHERNET_BYTES + 1] & 3


def hops_of(frame: bytes) -> list[tuple[int, int]]:
    """Return (switch, queue depth) of each hop record, last hop first, after checking the lengths."""
    at = _ETHERNET_BYTES + _IPV4_BYTES
    number, length, count = struct.unpack_from(">BBH", frame, at)
    assert (number, length) == (OPTION_HOPS, 4 + 8 * count)
    assert _payload_at(frame) == at + length
    assert len(frame) == _ETHERNET_BYTES + struct.unpack_from(">H", frame, _ETHERNET_BYTES + 2)[0]
    return [struct.unpack_from(">II", frame, at + 4 + 8 * index) for index in range(count)]


def flow_of(frame: bytes) -> tuple[int, str]:
    port: int = struct.unpack_from(">H", frame, _payload_at(frame))[0]
    return port, str(IPv4Address(frame[_ETHERNET_BYTES + 16 : _ETHERNET_BYTES + 20]))


def is_ours(frame: bytes) -> bool:
    """Whether the frame was made by this module, and not by the kernel of a host."""
    return frame[_ETHERNET_BYTES + 9] in (_EXPERIMENTAL, _TCP)


def _frame(receiver: str, protocol: int, payload: bytes, ecn: int = 0, option: bytes = b"") -> bytes:
    options = [IPOption(option)] if option else []
    header = IP(src=address(1), dst=receiver, proto=protocol, tos=ecn, id=0, options=options)
    return bytes(Ether(dst=mac(99), src=mac(1), type=0x0800) / header / Raw(payload))


def _payload_at(frame: bytes) -> int:
    return _ETHERNET_BYTES + 4 * (frame[_ETHERNET_BYTES] & 0xF)
