# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that frames pass a switch between real interfaces as they were on the wire."""

import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path

import pytest
from scapy.utils import RawPcapReader, checksum

from softswitch_tests.marks import needs_namespaces
from softswitch_tests.process.live import LiveSwitch, Namespace, live_switch, namespace
from softswitch_tests.programs.steered import DROP_PORT, Flag, Op, steer

pytestmark = needs_namespaces()
SOURCE = bytes(6)
UDP_SEGMENT = 103
MOST_BYTES = 1518
"""The longest frame at an MTU of 1500 B, with a tag."""


def frame_to(port: int, rest: bytes) -> bytes:
    """Return a frame that the steered program sends to a port; `rest` begins with its EtherType."""
    return struct.pack("!H", port) + bytes(4) + SOURCE + rest


def filled(port: int, headers: str, size: int = 60) -> bytes:
    frame = frame_to(port, bytes.fromhex(headers))
    return frame + bytes(i % 251 for i in range(size - len(frame)))


def captured(path: Path) -> list[bytes]:
    with RawPcapReader(str(path)) as file:
        return [bytes(frame) for frame, _ in file]


TAGGED = {
    "802.1Q": filled(2, "8100a064 0800"),
    "802.1ad": filled(2, "88a8000a 0800"),
    "802.1Q in 802.1ad": filled(2, "88a8e00a 81002014 86dd"),
    "two of 802.1Q": filled(2, "8100000a 81000014 0806"),
    "three tags": filled(2, "88a8000a 8100000b 8100000c 0800"),
    "priority tag": filled(2, "8100a000 0800"),
    "drop eligible": filled(2, "81001001 0800"),
    "VID 0 and priority 0": filled(2, "81000000 0800"),
    "VID 4095": filled(2, "8100ffff 0800"),
    "tag before an LLC length": filled(2, "8100a064 0026"),
    "shortest that the kernel accepts": filled(2, "8100a064 0800", 20),
    "longest": filled(2, "8100a064 0800", MOST_BYTES),
    "no tag": filled(2, "0800"),
    "longest without a tag": filled(2, "0800", MOST_BYTES - 4),
}


def test_tags_of_frames_are_kept(tmp_path: Path) -> None:
    """The kernel takes the outer tag off a frame; the program, the captures and the receiver see it all the same."""
    with live_switch(tmp_path, "--pcap", tmp_path) as switch:
        source, sink = switch.wires(1, 2)
        received = {}
        for name, frame in TAGGED.items():
            source.send(frame)
            received[name] = sink.receive_from(SOURCE)
        statistics = switch.statistics()
        switch.process.send_signal(signal.SIGTERM)
        assert switch.process.wait() == 0
    assert received == TAGGED
    sent = list(TAGGED.values())
    assert [frame for frame in captured(tmp_path / "port1_in.pcap") if frame[6:12] == SOURCE] == sent
    assert captured(tmp_path / "port2_out.pcap") == sent
    assert statistics["tx_bytes"] == sum(map(len, sent))


def test_burst_keeps_the_tags_apart(tmp_path: Path) -> None:
    """Frames that the switch reads with one system call have different tags, or none."""
    sent = [filled(2, f"8100{i:04x} 0800" if i % 3 else "0800", 60 + i) for i in range(200)]
    with live_switch(tmp_path) as switch:
        source, sink = switch.wires(1, 2)
        switch.process.send_signal(signal.SIGSTOP)
        for frame in sent:
            source.send(frame)
        switch.process.send_signal(signal.SIGCONT)
        assert [sink.receive_from(SOURCE) for _ in sent] == sent


@pytest.mark.parametrize("size", [14, 15, 20, 59, 60, 61])
def test_short_frames_are_not_padded(tmp_path: Path, size: int) -> None:
    with live_switch(tmp_path) as switch:
        source, sink = switch.wires(1, 2)
        frame = filled(2, "88b6", size)
        source.send(frame)
        assert sink.receive_from(SOURCE) == frame


def test_padding_of_a_short_packet_is_kept(tmp_path: Path) -> None:
    """An IP packet of 28 B in a frame of 60 B: the bytes behind it stay, and count."""
    packet = bytes.fromhex("4500001c 00000000 4011 0000 0a000001 0a000002 0035 0036 0008 0000")
    with live_switch(tmp_path) as switch:
        source, sink = switch.wires(1, 2)
        frame = frame_to(2, bytes.fromhex("0800") + packet) + b"\xaa" * 18
        source.send(frame)
        assert sink.receive_from(SOURCE) == frame
        assert switch.statistics()["tx_bytes"] == 60


@contextmanager
def two_hosts(tmp_path: Path, *options: str | Path) -> Iterator[tuple[Namespace, Namespace, LiveSwitch]]:
    """Two kernels with their offloads on, at ports 1 and 2 of a switch; the steered program reads their addresses."""
    with namespace() as one, namespace() as two, live_switch(tmp_path, *options, far={1: one, 2: two}.get) as switch:
        for number, host in ((1, one), (2, two)):
            end = f"far{number}"
            other = 3 - number
            host.ip(f"link set {end} address {mac(number)}")
            host.ip(f"address add 10.0.0.{number}/24 dev {end}")
            host.ip(f"address add fd00::{number}/64 dev {end} nodad")
            host.ip(f"neigh replace 10.0.0.{other} lladdr {mac(other)} dev {end} nud permanent")
            host.ip(f"neigh replace fd00::{other} lladdr {mac(other)} dev {end} nud permanent")
        yield one, two, switch


def mac(port: int) -> str:
    return f"00:{port:02x}:00:00:00:00"


@pytest.mark.parametrize("address", ["10.0.0.2", "fd00::2"])
def test_tcp_of_kernels_passes_with_their_offloads_on(tmp_path: Path, address: str) -> None:
    """The sender hands over frames of up to 64 KB without checksums. The switch sends what a card would have sent."""
    data = bytes(i * 7 % 256 for i in range(1 << 20))
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with two_hosts(tmp_path, "--pcap", tmp_path) as (one, two, switch):
        server = two.call(lambda: socket.create_server((address, 5001), family=family))
        client = one.call(lambda: socket.socket(family))
        with server, client:
            for end in (server, client):
                end.settimeout(20)
            client.connect((address, 5001))
            peer, _ = server.accept()
            with peer:
                peer.settimeout(20)
                assert transferred(client, peer, data) == data
                assert transferred(peer, client, data) == data
        drops = switch.statistics()["drops"]
        switch.process.send_signal(signal.SIGTERM)
        assert switch.process.wait() == 0
    assert (drops["bad_length"], drops["transmit"]) == (0, 0)
    assert max(map(len, captured(tmp_path / "port1_in.pcap"))) == 1514


def transferred(sender: socket.socket, receiver: socket.socket, data: bytes) -> bytes:
    received = b""
    sender.setblocking(False)
    left = memoryview(data)
    while len(received) < len(data):
        if left:
            with suppress(BlockingIOError):
                left = left[sender.send(left) :]
            receiver.setblocking(False)
        else:
            receiver.settimeout(20)
        with suppress(BlockingIOError):
            received += receiver.recv(1 << 20)
    return received


def udp_checksum_is_right(frame: bytes) -> bool:
    """Whether the checksum of an IPv4 or IPv6 UDP frame without tags is right."""
    if frame[12:14] == b"\x08\x00":
        datagram = frame[34 : 14 + int.from_bytes(frame[16:18], "big")]
        pseudo = frame[26:34] + struct.pack("!HH", 17, len(datagram))
    else:
        datagram = frame[54:]
        pseudo = frame[22:54] + struct.pack("!II", len(datagram), 17)
    return bool(checksum(pseudo + datagram) == 0)


@pytest.mark.parametrize("address", ["10.0.0.2", "fd00::2"])
def test_checksum_that_a_kernel_left_out_is_computed(tmp_path: Path, address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    payloads = [bytes(i % 255 for i in range(size)) for size in (1, 18, 1001, 1452)]
    with two_hosts(tmp_path) as (one, _, switch), one.call(lambda: socket.socket(family, socket.SOCK_DGRAM)) as sender:
        [sink] = switch.wires(2)
        for payload in payloads:
            sender.sendto(payload, (address, 7000))
        frames = list(islice(filter(is_to_port_7000, iter(sink.receive, b"")), len(payloads)))
    assert [frame[-len(payload) :] for frame, payload in zip(frames, payloads, strict=True)] == payloads
    assert [udp_checksum_is_right(frame) for frame in frames] == [True] * len(payloads)


def is_to_port_7000(frame: bytes) -> bool:
    transport = 34 if frame[12:14] == b"\x08\x00" else 54
    return frame[transport + 2 : transport + 4] == (7000).to_bytes(2, "big")


@pytest.mark.parametrize("address", ["10.0.0.2", "fd00::2"])
def test_datagrams_that_a_kernel_has_merged_are_cut(tmp_path: Path, address: str) -> None:
    """With UDP_SEGMENT, a program sends many datagrams with one call."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    data = bytes(i % 253 for i in range(10_500))
    with (
        two_hosts(tmp_path) as (one, two, _),
        two.call(lambda: socket.socket(family, socket.SOCK_DGRAM)) as receiver,
        one.call(lambda: socket.socket(family, socket.SOCK_DGRAM)) as sender,
    ):
        receiver.bind((address, 7000))
        receiver.settimeout(20)
        sender.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, 1000)
        sender.sendto(data, (address, 7000))
        datagrams = [receiver.recv(65_535) for _ in range(11)]
    assert list(map(len, datagrams)) == [1000] * 10 + [500]
    assert b"".join(datagrams) == data


def test_frame_longer_than_an_mtu_is_lost_alone(tmp_path: Path) -> None:
    """The frames before and behind it leave, and one line names the port, the sizes and the remedy."""
    with live_switch(tmp_path) as switch:
        for end in ("port1", "far1"):
            switch.near.ip(f"link set {end} mtu 9000")
        source, sink = switch.wires(1, 2)
        switch.process.send_signal(signal.SIGSTOP)
        for size in (100, 1600, 101, 9014, 9014, 102):
            source.send(filled(2, "88b6", size))
        switch.process.send_signal(signal.SIGCONT)
        assert [len(sink.receive_from(SOURCE)) for _ in range(3)] == [100, 101, 102]
        drops = switch.statistics()["drops"]
        assert (drops["transmit"], drops["bad_length"]) == (3, 0)
        line = "port 2 (port2): cannot send a frame of 1600 B: the MTU of 1500 B is too small (transmit)"
        remedy = "; ip link set port2 mtu N"
        switch.wait_for(lambda: line + remedy in switch.notices())  # lines about the other MTU may come before
        assert [each for each in switch.notices() if each.startswith("port 2")] == [line + remedy]


def test_longest_frames_of_all_pass(tmp_path: Path) -> None:
    with live_switch(tmp_path) as switch:
        for end in ("port1", "far1", "port2", "far2"):
            switch.near.ip(f"link set {end} mtu 65521")
        source, sink = switch.wires(1, 2)
        for size in (65_535, 9_014, 1_515):
            frame = filled(2, "88b6", size)
            source.send(frame)
            assert sink.receive_from(SOURCE) == frame
        source.send(filled(DROP_PORT, "8100a064 0800", 65_535 + 4))
        switch.wait_for(lambda: switch.statistics()["drops"]["bad_length"] == 1)
        line = "port 1 (port1): cannot receive a frame of 65539 B, at most 65535 B (bad_length)"
        switch.wait_for(lambda: line in switch.notices())


def test_flooded_port_does_not_hold_up_another(tmp_path: Path) -> None:
    """While 20,000 frames wait at port 1, one arrives at port 3. It leaves after the frames of a turn of port 1."""
    flood, one_turn = 20_000, 256
    with live_switch(tmp_path, ports=(1, 2, 3, 4)) as switch:
        flooded, source, sink = switch.wires(1, 3, 4)
        switch.process.send_signal(signal.SIGSTOP)
        for _ in range(flood):
            flooded.send(filled(2, "88b6"))
        source.send(filled(4, "88b6"))
        switch.process.send_signal(signal.SIGCONT)
        sink.receive_from(SOURCE)
        before = switch.statistics()["ports"]["2"]["tx_packets"]
        switch.wait_for(lambda: switch.statistics()["ports"]["2"]["tx_packets"] == flood)
    assert before <= 20 * one_turn


def test_copies_that_copy_themselves_do_not_hold_up_commands(tmp_path: Path) -> None:
    """200 frames wait, each of which recirculates 16,384 times; a command and SIGTERM do not wait for them."""
    frames, passes = 200, 1 << 14
    spreading = steer(2, ops=Op.RECIRCULATE | Op.MULTICAST, group=1, flags=Flag.FOR_EVER | Flag.SPREAD)
    with live_switch(tmp_path) as switch:
        for line in ("mc_mgrp_create 1", "mc_node_create 7 2 3 4", "mc_node_associate 1 0"):
            switch.control.command(line)
        [source] = switch.wires(1)
        switch.process.send_signal(signal.SIGSTOP)
        for _ in range(frames):
            source.send(spreading)
        switch.process.send_signal(signal.SIGCONT)
        assert switch.statistics()["recirculated"] < frames * passes
        switch.process.send_signal(signal.SIGTERM)
        assert switch.process.wait() == 0
