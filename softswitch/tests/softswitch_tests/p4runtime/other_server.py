# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs the `simple_switch_grpc` that the environment variable P4RUNTIME_SERVER names, for example BMv2's.

Its ports are virtual Ethernet links, which need root. The line `ready` is not expected: the server is ready when it
accepts connections.
"""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from softswitch_tests.p4runtime.controller import DEVICE_ID, PATIENCE_S
from softswitch_tests.p4runtime.running import CPU_PORT, PORTS, Served

VARIABLE = "P4RUNTIME_SERVER"
_ETH_P_ALL = 3
_SOL_PACKET, _PACKET_IGNORE_OUTGOING = 263, 23
_POLL_S = 0.02


@contextmanager
def served_by(executable: str) -> Iterator[Served]:
    """Start the executable without a program and wait until it listens; kill it at the end."""
    grpc_port, thrift_port = _free_ports(2)
    words = [executable, "--no-p4", "--device-id", str(DEVICE_ID), "--thrift-port", str(thrift_port)]
    with _links() as (interfaces, ports), tempfile.TemporaryFile("w+") as errors:
        words += [word for port, interface in interfaces.items() for word in ("-i", f"{port}@{interface}")]
        address = f"127.0.0.1:{grpc_port}"
        words += ["--", "--grpc-server-addr", address, "--cpu-port", str(CPU_PORT)]
        with subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=errors, text=True) as process:
            running = Served(process, ports, errors)
            running.address = address
            try:
                _wait_for(running, grpc_port)
                yield running
            finally:
                process.kill()


@contextmanager
def _links() -> Iterator[tuple[dict[int, str], dict[int, socket.socket]]]:
    """Yield the switch's interface and a socket at the far end, for each port."""
    interfaces = {port: f"p{os.getpid()}s{port}" for port in PORTS}
    far_ends = {port: f"p{os.getpid()}f{port}" for port in PORTS}
    sockets: dict[int, socket.socket] = {}
    try:
        for port, interface in interfaces.items():
            _ip("link", "add", interface, "type", "veth", "peer", "name", far_ends[port])
            for name in (interface, far_ends[port]):
                Path("/proc/sys/net/ipv6/conf", name, "disable_ipv6").write_text("1")  # else the kernel sends too
                _ip("link", "set", name, "up")
            sockets[port] = _socket_on(far_ends[port])
        yield interfaces, sockets
    finally:
        for port_socket in sockets.values():
            port_socket.close()
        for interface in interfaces.values():
            subprocess.run(["ip", "link", "delete", interface], check=False, stderr=subprocess.DEVNULL)


def _socket_on(interface: str) -> socket.socket:
    packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ETH_P_ALL))
    packets.setsockopt(_SOL_PACKET, _PACKET_IGNORE_OUTGOING, 1)
    packets.bind((interface, _ETH_P_ALL))
    packets.settimeout(PATIENCE_S)
    return packets


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _wait_for(running: Served, port: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert running.process.poll() is None, running.errors()
            assert time.monotonic() < deadline, "the server does not listen"
            time.sleep(_POLL_S)


def _free_ports(count: int) -> list[int]:
    listeners = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [listener.getsockname()[1] for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports
