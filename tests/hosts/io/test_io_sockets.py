# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packet sockets, filters, time stamps and the silent kernel, in namespaces of the test's own."""

import os
import select
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hosts.io import packet_socket
from hosts.io.kernel_silence import silence_kernel
from hosts.io.namespaces import network_namespace
from hosts.io.packet_socket import PacketSocket
from tests.hosts.namespaces import Station, raw_socket, two_stations
from tests.wire.test_bts import EXAMPLE
from wire.addresses import parse_ip, parse_mac
from wire.bts import pack_frame as pack_bts
from wire.ethernet import pack_header
from wire.ipv4 import pack_header as pack_ipv4
from wire.pfc import pack_frame as pack_pfc
from wire.roce.framer import RoceFramer
from wire.roce.packets import Opcode, pack_psn_word
from wire.udp import pack_header as pack_udp

pytestmark = pytest.mark.root


@pytest.fixture(scope="module")
def stations() -> Iterator[tuple[Station, Station]]:
    """Two hosts on one wire."""
    with two_stations() as pair:
        yield pair


def roce_frame(source: Station, destination: Station, payload: bytes = b"abcd") -> bytes:
    """A data packet for a queue pair nobody has."""
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


def bts_frame(source: Station, destination: Station) -> bytes:
    """A BTS."""
    return pack_bts(
        EXAMPLE,
        destination_mac=parse_mac(destination.mac),
        source_mac=parse_mac(source.mac),
        congested_ip=parse_ip(source.ip),
        paused_ip=parse_ip(destination.ip),
    )


def foreign_frame(source: Station, destination: Station) -> bytes:
    """UDP to another port."""
    macs = pack_header(parse_mac(destination.mac), parse_mac(source.mac), 0x0800)
    ip = pack_ipv4(parse_ip(source.ip), parse_ip(destination.ip), 17, 12, 0)
    return macs + ip + pack_udp(1000, 9, 4) + bytes(4)


def wait_for(sock: PacketSocket, count: int) -> list[tuple[int, bytes]]:
    """Frames until there are so many; fails after ten seconds without one."""
    frames: list[tuple[int, bytes]] = []
    while len(frames) < count:
        ready, _, _ = select.select([sock], [], [], 10)
        assert ready, f"only {len(frames)} frames arrived"
        arrived, times_ns = sock.receive()
        frames += zip(times_ns, arrived, strict=True)
    return frames


def test_entering_a_namespace_ends_where_it_began(stations: tuple[Station, Station]) -> None:
    """Whatever happens inside."""
    own = Path("/proc/thread-self/ns/net")
    before = os.readlink(own)  # noqa: PTH115 (the link names no file)
    with pytest.raises(RuntimeError), network_namespace(stations[0].pid):
        assert os.readlink(own) != before  # noqa: PTH115
        raise RuntimeError
    assert os.readlink(own) == before  # noqa: PTH115


def test_only_our_frames_pass_the_filter(stations: tuple[Station, Station]) -> None:
    """RoCEv2, BTS and PFC; not other UDP, and not what this host sends itself."""
    left, right = stations
    ours = [roce_frame(left, right), bts_frame(left, right), pack_pfc(parse_mac(left.mac), {3: 7})]
    with network_namespace(right.pid):
        receiver = PacketSocket(right.interface)
    with network_namespace(left.pid):
        sender = PacketSocket(left.interface)
    for frame in (foreign_frame(left, right), ours[0], foreign_frame(left, right), *ours[1:]):
        assert sender.send(frame)
    assert receiver.send(roce_frame(right, left))
    assert [frame for _, frame in wait_for(receiver, 3)] == ours
    assert receiver.receive() == ([], [])
    assert len(wait_for(sender, 1)) == 1
    assert (receiver.kernel_drops(), sender.send_failures) == (0, 0)
    sender.close()
    receiver.close()


def test_arrival_times_are_on_the_monotonic_clock_and_in_order(stations: tuple[Station, Station]) -> None:
    """Between the moments before sending and after receiving."""
    left, right = stations
    with network_namespace(right.pid):
        receiver = PacketSocket(right.interface)
    slack_ns = 1_000_000
    with raw_socket(left) as sender:
        before_ns = time.monotonic_ns()
        for _ in range(20):
            sender.send(roce_frame(left, right))
        times = [arrival_ns for arrival_ns, _ in wait_for(receiver, 20)]
    assert before_ns - slack_ns <= times[0]
    assert times[-1] <= time.monotonic_ns() + slack_ns
    assert times == sorted(times)
    receiver.close()


def test_frames_that_find_no_room_are_counted(stations: tuple[Station, Station]) -> None:
    """What the kernel drops for a full socket is loss that has a name."""
    left, right = stations
    with network_namespace(right.pid):
        receiver = PacketSocket(right.interface)
    receiver._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    with raw_socket(left) as sender:
        for _ in range(200):
            sender.send(roce_frame(left, right, bytes(1000)))
    arrived = len(wait_for(receiver, 1))
    dropped = receiver.kernel_drops()
    assert dropped > 0
    assert arrived + dropped == 200
    assert receiver.kernel_drops() == dropped
    receiver.close()


def test_an_interface_that_is_not_there_is_an_error(stations: tuple[Station, Station]) -> None:
    """Named by the kernel."""
    with network_namespace(stations[0].pid), pytest.raises(OSError, match="No such device"):
        PacketSocket("nothing0")


def icmp_until_ping(stations: tuple[Station, Station]) -> list[int]:
    """ICMP types that leave the right host after a RoCEv2 and a BTS packet; a ping afterwards tells when to stop."""
    left, right = stations
    seen: list[int] = []
    with raw_socket(left) as wire:
        wire.send(roce_frame(left, right))
        wire.send(bts_frame(left, right))
        assert "1 received" in left.run("ping", "-c", "1", "-W", "5", right.ip)
        while 0 not in seen:
            frame, (_, _, direction, _, _) = wire.recvfrom(2048)
            if direction != socket.PACKET_OUTGOING and frame[12:14] == b"\x08\x00" and frame[23] == 1:
                seen.append(frame[34])
    return seen


def test_the_kernel_answers_our_packets_unless_it_is_silenced(stations: tuple[Station, Station]) -> None:
    """Without the bound sockets: port unreachable (type 3). With them: only the echo reply (type 0)."""
    stations[1].run("sysctl", "-qw", "net.ipv4.icmp_ratelimit=0")
    assert icmp_until_ping(stations) == [3, 3, 0]
    with network_namespace(stations[1].pid):
        silencers = silence_kernel()
    try:
        assert icmp_until_ping(stations) == [0]
    finally:
        for sock in silencers:
            sock.close()


def test_a_port_in_use_is_an_error_and_leaves_nothing_open(stations: tuple[Station, Station]) -> None:
    """Two agents must not serve one host."""
    with network_namespace(stations[0].pid):
        first = silence_kernel()
        with pytest.raises(OSError, match="in use"):
            silence_kernel()
    for sock in first:
        sock.close()


def test_a_frame_for_which_there_is_no_room_is_counted(
    stations: tuple[Station, Station], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not taken for a shorter one."""
    a, b = stations
    with network_namespace(b.pid):
        receiver = PacketSocket(b.interface)
    long, short = roce_frame(a, b, bytes(400)), roce_frame(a, b)
    monkeypatch.setattr(packet_socket, "LONGEST_FRAME_BYTES", len(long) - 1)
    with raw_socket(a) as sender:
        sender.send(long)
        sender.send(short)
    assert [frame for _, frame in wait_for(receiver, 1)] == [short]
    assert receiver.kernel_drops() == 1
    receiver.close()


def test_a_frame_above_the_mtu_is_refused_by_name(stations: tuple[Station, Station]) -> None:
    """The interface and the size: what a reader of an agent's log needs."""
    a, b = stations
    with network_namespace(a.pid):
        sender = PacketSocket(a.interface)
    frame = roce_frame(a, b, bytes(4000))
    with pytest.raises(OSError, match=f"{a.interface} cannot carry a frame of {len(frame)} B: its MTU is too small"):
        sender.send(frame)
    sender.close()
