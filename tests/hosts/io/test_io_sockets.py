# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of packet sockets, filters, time stamps and the suppression of kernel answers, in network namespaces."""

import os
import select
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from sfc_testbed.hosts.io import packet_socket
from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.hosts.io.packet_socket import PacketSocket
from sfc_testbed.hosts.io.socket_filter import HOST_FRAMES, NIC_FRAMES, Program, silence_kernel
from sfc_testbed.wire.addresses import parse_ip, parse_mac
from sfc_testbed.wire.ethernet import pack_header
from sfc_testbed.wire.ipv4 import pack_header as pack_ipv4
from sfc_testbed.wire.pfc import pack_frame as pack_pfc
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import Opcode, pack_psn_word
from sfc_testbed.wire.udp import pack_header as pack_udp
from tests.hosts.namespaces import Station, Stations, bts_frame, raw_socket
from tests.wire.test_bts import EXAMPLE

pytestmark = pytest.mark.root


def roce_frame(source: Station, destination: Station, payload: bytes = b"abcd") -> bytes:
    """Return a data packet for a queue pair that does not exist."""
    framer = RoceFramer(
        destination_mac=parse_mac(destination.mac),
        source_mac=parse_mac(source.mac),
        source_ip=parse_ip(source.ip),
        destination_ip=parse_ip(destination.ip),
        source_qpn=1,
        destination_qpn=1,
        tos=26 << 2,
    )
    return framer.frame(Opcode.SEND_ONLY, pack_psn_word(0), payload)


def foreign_frame(source: Station, destination: Station) -> bytes:
    """Return a UDP frame for a port that the testbed does not use."""
    macs = pack_header(parse_mac(destination.mac), parse_mac(source.mac), 0x0800)
    ip = pack_ipv4(parse_ip(source.ip), parse_ip(destination.ip), 17, 12, 0)
    return macs + ip + pack_udp(1000, 9, 4) + bytes(4)


@contextmanager
def opened(station: Station, frame_filter: Program = NIC_FRAMES) -> Iterator[PacketSocket]:
    """Yield a packet socket on a station's interface."""
    with network_namespace(station.pid):
        sock = PacketSocket(station.interface, frame_filter)
    with closing(sock):
        yield sock


def wait_for(sock: PacketSocket, count: int) -> list[tuple[int, bytes]]:
    """Receive at least `count` frames; fail after ten seconds without a frame."""
    frames: list[tuple[int, bytes]] = []
    while len(frames) < count:
        ready, _, _ = select.select([sock], [], [], 10)
        assert ready, f"only {len(frames)} frames arrived"
        arrived, times_ns = sock.receive()
        frames += zip(times_ns, arrived, strict=True)
    return frames


def test_a_thread_returns_to_its_namespace_after_an_exception(stations: Stations) -> None:
    namespace = Path("/proc/thread-self/ns/net")
    before = os.readlink(namespace)  # noqa: PTH115 (the target of the link is not a path)
    with pytest.raises(RuntimeError), network_namespace(stations[0].pid):
        assert os.readlink(namespace) != before  # noqa: PTH115
        raise RuntimeError
    assert os.readlink(namespace) == before  # noqa: PTH115


def test_only_frames_of_other_hosts_for_the_nic_pass_the_filter(stations: Stations) -> None:
    left, right = stations
    nic_frames = [roce_frame(left, right), bts_frame(left, right, EXAMPLE), pack_pfc(parse_mac(left.mac), {3: 7})]
    with opened(right) as receiver, opened(left) as sender:
        for frame in (foreign_frame(left, right), nic_frames[0], foreign_frame(left, right), *nic_frames[1:]):
            assert sender.send(frame)
        assert receiver.send(roce_frame(right, left))
        assert [frame for _, frame in wait_for(receiver, 3)] == nic_frames
        assert receiver.receive() == ([], [])
        assert len(wait_for(sender, 1)) == 1
        assert (receiver.kernel_drops(), sender.send_failures) == (0, 0)


@pytest.mark.parametrize("frame_filter", [NIC_FRAMES, HOST_FRAMES])
def test_frames_with_a_vlan_tag_are_no_frames_for_the_nic(stations: Stations, frame_filter: Program) -> None:
    """The kernel takes the tag off a frame before the filter sees it; the next frame must not be taken for it."""
    left, right = stations
    frame, last = roce_frame(left, right), roce_frame(left, right, b"last")
    tags = ("8100a064", "8100a000", "88a8000a", "88a8000a8100000b")
    with opened(right, frame_filter) as receiver, opened(left) as sender:
        for tag in tags:
            assert sender.send(frame[:12] + bytes.fromhex(tag) + frame[12:])
        assert sender.send(last)
        assert [arrived for _, arrived in wait_for(receiver, 1)] == [last]


def test_frames_dropped_by_a_full_socket_are_counted(stations: Stations) -> None:
    left, right = stations
    with opened(right) as receiver, raw_socket(left) as sender:
        receiver._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        for _ in range(200):
            sender.send(roce_frame(left, right, bytes(1000)))
        arrived = len(wait_for(receiver, 1))
        dropped = receiver.kernel_drops()
        assert dropped > 0
        assert arrived + dropped == 200
        assert receiver.kernel_drops() == dropped


def test_a_missing_interface_is_an_error(stations: Stations) -> None:
    with network_namespace(stations[0].pid), pytest.raises(OSError, match="No such device"):
        PacketSocket("nothing0")


def icmp_until_ping(stations: Stations) -> list[int]:
    """Return the ICMP types that the right host sends after a RoCEv2 packet, a BTS and a final ping."""
    left, right = stations
    icmp_types: list[int] = []
    with raw_socket(left) as wire:
        wire.send(roce_frame(left, right))
        wire.send(bts_frame(left, right, EXAMPLE))
        assert "1 received" in left.run("ping", "-c", "1", "-W", "5", right.ip)
        while 0 not in icmp_types:
            frame, (_, _, direction, _, _) = wire.recvfrom(2048)
            if direction != socket.PACKET_OUTGOING and frame[12:14] == b"\x08\x00" and frame[23] == 1:
                icmp_types.append(frame[34])
    return icmp_types


def test_silence_kernel_suppresses_port_unreachable_answers(stations: Stations) -> None:
    """Check for port unreachable (type 3) without the bound sockets and only echo reply (type 0) with them."""
    stations[1].run("sysctl", "-qw", "net.ipv4.icmp_ratelimit=0")
    assert icmp_until_ping(stations) == [3, 3, 0]
    with network_namespace(stations[1].pid):
        silencers = silence_kernel()
    try:
        assert icmp_until_ping(stations) == [0]
    finally:
        for sock in silencers:
            sock.close()


def test_two_agents_cannot_silence_the_same_host(stations: Stations) -> None:
    with network_namespace(stations[0].pid):
        first = silence_kernel()
        with pytest.raises(OSError, match="in use"):
            silence_kernel()
    for sock in first:
        sock.close()


def test_a_frame_that_is_too_long_for_the_buffer_is_counted_not_truncated(
    stations: Stations, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = stations
    long, short = roce_frame(a, b, bytes(400)), roce_frame(a, b)
    monkeypatch.setattr(packet_socket, "LONGEST_FRAME_BYTES", len(long) - 1)
    with opened(b) as receiver, raw_socket(a) as sender:
        sender.send(long)
        sender.send(short)
        assert [frame for _, frame in wait_for(receiver, 1)] == [short]
        assert receiver.kernel_drops() == 1
