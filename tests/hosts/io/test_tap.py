# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of ordinary programs in two namespaces whose traffic passes TAP devices and our NICs."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sfc_testbed.hosts.io.namespaces import network_namespace
from sfc_testbed.hosts.io.tap import TapDevice
from sfc_testbed.hosts.protocol import HostStatistics, Signal, Start, Stop, Stopped
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.constants import BtsCause
from tests.hosts.namespaces import Station, Stations, await_port, bts_frame, raw_socket, two_stations
from tests.hosts.test_agent import agent, config_of

pytestmark = pytest.mark.root

SERVE = """
import hashlib, socket
with socket.create_server(("10.0.0.2", 5201)) as server:
    print("listening", flush=True)
    connection, _ = server.accept()
    digest = hashlib.sha256()
    while chunk := connection.recv(65536):
        digest.update(chunk)
    connection.sendall(digest.digest())
"""
SEND = """
import hashlib, socket
data = bytes(range(256)) * 2000
with socket.create_connection(("10.0.0.2", 5201), source_address=("10.0.0.1", PORT)) as connection:
    connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)
    print(connection.recv(32) == hashlib.sha256(data).digest())
"""
ECHO = """
import socket
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
    server.bind(("10.0.0.2", 5202))
    print("listening", flush=True)
    data, peer = server.recvfrom(65536)
    server.sendto(data, peer)
"""
ASK = """
import os, socket
data = os.urandom(4000)
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
    client.settimeout(20)
    client.sendto(data, ("10.0.0.2", 5202))
    print(client.recv(65536) == data)
"""


@pytest.fixture(scope="module")
def stations() -> Iterator[Stations]:
    """Yield two hosts on one wire that know each other's MAC address, as the hosts of a topology do."""
    if not Path("/dev/net/tun").exists():
        pytest.skip("no /dev/net/tun")
    with two_stations() as pair:
        for station, peer in (pair, pair[::-1]):
            command = f"ip neighbour replace {peer.ip} lladdr {peer.mac} nud permanent dev {station.interface}"
            station.run(*command.split())
        try:
            with network_namespace(pair[0].pid):
                TapDevice("probe-tap0").close()
        except OSError as error:
            pytest.skip(f"cannot make a TAP device: {error}")
        yield pair


@contextmanager
def program(station: Station, code: str) -> Iterator["subprocess.Popen[str]"]:
    """Run a Python program in a station's namespace and kill it at the end."""
    inside = ["nsenter", f"--net=/proc/{station.pid}/ns/net", sys.executable, "-c", code]
    with subprocess.Popen(inside, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def listening(process: "subprocess.Popen[str]") -> bool:
    assert process.stdout is not None
    return process.stdout.readline() == "listening\n"


def converse(stations: Stations, serve: str, ask: str) -> str:
    with program(stations[1], serve) as server:
        assert listening(server)
        return stations[0].run(sys.executable, "-c", ask).strip()


def test_ping_tcp_and_udp_pass_the_nics_unchanged_and_are_counted(stations: Stations, tmp_path: Path) -> None:
    config = config_of(stations, time.monotonic_ns()).model_copy(update={"programs": True})
    with agent(config, tmp_path) as running:
        assert " 0% packet loss" in stations[0].run("ping", "-c", "3", "-i", "0.2", "-W", "10", stations[1].ip)
        assert converse(stations, SERVE, SEND.replace("PORT", "40001")) == "True"
        assert converse(stations, ECHO, ASK) == "True"
        running.tell(Stop())
        running.until(Stopped)
    left, right = (host.nic for host in running.of(HostStatistics))
    assert left.programs_sent == right.programs_received > 300
    assert right.programs_sent == left.programs_received
    assert left.frames_sent == right.frames_received
    assert (left.programs_dropped, left.malformed, right.malformed) == (0, 0, 0)


def test_the_interface_gets_its_settings_back(stations: Stations, tmp_path: Path) -> None:
    """While an agent serves programs, the address is on the TAP device."""
    objects = (["-4", "address"], ["-4", "neighbour"], ["-4", "route"])
    before = [stations[0].run("ip", *words, "show", "dev", "left0").split() for words in objects]
    config = config_of(stations, time.monotonic_ns()).model_copy(update={"programs": True})
    with agent(config, tmp_path):
        assert stations[0].ip in stations[0].run("ip", "address", "show", "dev", "h1-tap0")
        assert stations[0].ip not in stations[0].run("ip", "address", "show", "dev", "left0")
    assert [stations[0].run("ip", *words, "show", "dev", "left0").split() for words in objects] == before
    assert "tap0" not in stations[0].run("ip", "link")
    assert "1 received" in stations[0].run("ping", "-c", "1", "-W", "10", stations[1].ip)


def test_a_bts_pauses_a_tcp_connection(stations: Stations, tmp_path: Path) -> None:
    """The BTS is obeyed because the host has the named 5-tuple, and the connection survives."""
    config = config_of(stations, time.monotonic_ns()).model_copy(update={"programs": True})
    signal = BackToSender(BtsCause.QUEUE, False, 100, 6, 0, 40_000, 5201, 0, 0, 1, 9, 0)
    left, right = stations
    with agent(config, tmp_path) as running, raw_socket(right) as wire:
        running.tell(Start(time.monotonic_ns()))
        with program(right, SERVE) as server:
            assert listening(server)
            with program(left, SEND.replace("PORT", "40000")) as sender:
                await_port(wire, 5201)
                wire.send(bts_frame(right, left, signal))
                assert sender.communicate(timeout=60)[0].strip() == "True"
        running.until(Signal)
    (row,) = running.of(Signal)
    assert (row.obeyed, row.flow_id, row.host, row.pause_us) == (True, None, "h1", 100.0)
