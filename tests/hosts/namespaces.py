# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Two network namespaces with a veth pair between them, for tests."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.wire import bts, tcp_signal
from sfc_testbed.wire.addresses import parse_ip, parse_mac
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.constants import IP_PROTOCOL_TCP

MACS = ("02:00:00:00:00:01", "02:00:00:00:00:02")
IPS = ("10.0.0.1", "10.0.0.2")


@dataclass(frozen=True)
class Station:
    """An end of the veth pair: the process that holds its namespace, and its interface."""

    pid: int
    interface: str
    mac: str
    ip: str
    peer_mac: str

    def run(self, *command: str) -> str:
        """Run a command in the namespace and return its output."""
        inside = ["nsenter", f"--net=/proc/{self.pid}/ns/net", *command]
        return subprocess.run(inside, capture_output=True, text=True, check=True, timeout=30).stdout


Stations = tuple[Station, Station]
"""The two ends."""


def skip_unless_possible() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
    probe = "ip link add probe0 type veth peer name probe1"
    try:
        result = subprocess.run(["unshare", "--net", "sh", "-c", probe], capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        pytest.skip(f"no {error.filename} on the PATH")
    if result.returncode != 0:
        pytest.skip(f"cannot make a veth pair in a namespace: {result.stderr.strip()}")


@contextmanager
def _holder() -> Iterator[int]:
    """Yield the pid of a process that holds a new namespace until its stdin is closed."""
    process = subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo ready; read line"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        yield process.pid
    finally:
        process.communicate()


@contextmanager
def two_stations() -> Iterator[Stations]:
    """Yield two connected namespaces with the addresses 10.0.0.1 and 10.0.0.2 and without IPv6."""
    skip_unless_possible()
    with _holder() as first, _holder() as second:
        names = ("left0", "right0")
        with network_namespace(first):
            _ip(
                f"link add {names[0]} address {MACS[0]} type veth peer name {names[1]} address {MACS[1]} netns {second}"
            )
        pair = tuple(
            Station(pid, name, mac, ip, peer)
            for pid, name, mac, ip, peer in zip((first, second), names, MACS, IPS, MACS[::-1], strict=True)
        )
        for station in pair:
            with network_namespace(station.pid):
                subprocess.run(["sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"], check=False)
                _ip(f"address add {station.ip}/24 dev {station.interface}")
                _ip("link set lo up")
                _ip(f"link set {station.interface} up")
        for station in pair:
            _wait_for_carrier(station)
        yield pair[0], pair[1]


def _wait_for_carrier(station: Station) -> None:
    """Wait until the interface is up; before that the kernel silently drops its frames."""
    deadline_s = time.monotonic() + 10
    while " state UP " not in station.run("ip", "-o", "link", "show", station.interface):
        assert time.monotonic() < deadline_s, f"{station.interface} has no carrier"


def _ip(arguments: str) -> None:
    subprocess.run(["ip", *arguments.split()], check=True, capture_output=True)


@contextmanager
def raw_socket(station: Station) -> Iterator[socket.socket]:
    """Yield an unfiltered packet socket on a station's interface, to inject and observe frames."""
    with network_namespace(station.pid):
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
    with sock:
        sock.bind((station.interface, 0x0003))
        sock.settimeout(10)
        yield sock


def bts_frame(source: Station, destination: Station, signal: BackToSender) -> bytes:
    """Return the frame of a BTS to `destination` about a flow to `source`. For protocol 6 it is a TCP signal."""
    pack_frame = tcp_signal.pack_frame if signal.protocol == IP_PROTOCOL_TCP else bts.pack_frame
    return pack_frame(
        signal,
        destination_mac=parse_mac(destination.mac),
        source_mac=parse_mac(source.mac),
        congested_ip=parse_ip(source.ip),
        paused_ip=parse_ip(destination.ip),
    )


def await_port(wire: socket.socket, port: int) -> None:
    """Wait for a frame to a UDP or TCP port."""
    while wire.recv(2048)[36:38] != port.to_bytes(2, "big"):
        pass
