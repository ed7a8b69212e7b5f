# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of IPv4 and UDP headers, compared with scapy, of malformed headers and of rewriting the DSCP."""

from ipaddress import IPv4Address

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP

from sfc_testbed.wire import ipv4, udp

_U32 = st.integers(0, 2**32 - 1)


@given(_U32, _U32, st.integers(0, 1400), st.integers(0, 255))
def test_ipv4_header_has_scapys_bytes(source: int, destination: int, payload: int, tos: int) -> None:
    header = ipv4.pack_header(source, destination, 17, payload, tos)
    expected = IP(
        src=str(IPv4Address(source)),
        dst=str(IPv4Address(destination)),
        proto=17,
        tos=tos,
        id=0,
        flags="DF",
        len=20 + payload,
    )
    assert header == bytes(expected)


def test_a_packet_of_more_than_65535_bytes_is_refused() -> None:
    assert len(ipv4.pack_header(1, 2, 17, 65_515, 0)) == 20
    with pytest.raises(ValueError, match="65536 bytes"):
        ipv4.pack_header(1, 2, 17, 65_516, 0)


def _fields(header: ipv4.Ipv4Header | None) -> tuple[int, ...]:
    assert header is not None
    return header.tos, header.total_length, header.ttl, header.protocol, header.source, header.destination


@given(_U32, _U32, st.integers(0, 255))
def test_ipv4_header_round_trips(source: int, destination: int, tos: int) -> None:
    data = ipv4.pack_header(source, destination, 17, 8, tos) + bytes(8)
    assert _fields(ipv4.unpack_header(data)) == (tos, 28, 64, 17, source, destination)


@given(st.integers(0, 19), st.integers(0, 7))
def test_one_wrong_bit_in_an_ipv4_header_is_noticed(byte: int, bit: int) -> None:
    data = bytearray(ipv4.pack_header(1, 2, 17, 0, 0))
    data[byte] ^= 1 << bit
    assert ipv4.unpack_header(bytes(data)) is None


def test_truncated_ipv4_is_refused() -> None:
    """The header is too short, or its length field is larger than the data."""
    data = ipv4.pack_header(1, 2, 17, 8, 0) + bytes(8)
    assert ipv4.unpack_header(data[:19]) is None
    assert ipv4.unpack_header(data[:27]) is None


def test_udp_header_has_scapys_bytes_and_zero_checksum() -> None:
    assert udp.pack_header(0xC001, 4791, 4) == bytes(UDP(sport=0xC001, dport=4791, len=12, chksum=0))


def test_udp_length_must_fill_the_datagram() -> None:
    data = udp.pack_header(1, 2, 4) + bytes(4)
    header = udp.unpack_header(data, 0, 12)
    assert header is not None
    assert (header.source_port, header.destination_port, header.length) == (1, 2, 12)
    assert udp.unpack_header(data, 0, 11) is None
    assert udp.unpack_header(data, 0, 7) is None
    assert udp.unpack_header(data[:6], 0, 12) is None


@given(_U32, _U32, st.integers(0, 255), st.integers(0, 63), st.binary(max_size=40))
def test_dscp_is_replaced_and_the_checksum_right(src: int, dst: int, tos: int, dscp: int, payload: bytes) -> None:
    """ECN bits, addresses, length and payload stay the same."""
    frame = bytes(14) + ipv4.pack_header(src, dst, 6, len(payload), tos) + payload
    changed = ipv4.with_dscp(frame, dscp, 14)
    header = ipv4.unpack_header(changed, 14)
    assert _fields(header) == (dscp << 2 | tos & 3, 20 + len(payload), 64, 6, src, dst)
    assert changed[34:] == payload
