# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs `simple_switch_grpc` with its ports connected to sockets of the test."""

import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from softswitch.child import EXECUTABLE as SIMPLE_SWITCH
from tests.softswitch.p4runtime.controller import DEVICE_ID, PATIENCE_S

EXECUTABLE = SIMPLE_SWITCH.with_name("simple_switch_grpc")
CPU_PORT = 9
PORTS = (1, 2, 3)


class Served:
    """A running command with the address of its gRPC server and a socket for each port."""

    def __init__(self, process: subprocess.Popen[str], ports: dict[int, socket.socket], errors: IO[str]) -> None:
        self.process = process
        self.ports = ports
        self._errors = errors
        self.address = ""
        self.lines: list[str] = []

    def wait_until_ready(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line)
            if line.startswith("ready "):
                self.address = line.split()[1]
                return
        raise AssertionError(self.errors())

    def send(self, port: int, frame: bytes) -> None:
        self.ports[port].send(frame)

    def receive(self, port: int) -> bytes:
        return self.ports[port].recv(1 << 16)

    def nothing_at(self, port: int) -> bool:
        """Whether no frame arrives at a port within a moment."""
        self.ports[port].settimeout(0.2)
        try:
            self.ports[port].recv(1 << 16)
        except TimeoutError:
            return True
        finally:
            self.ports[port].settimeout(PATIENCE_S)
        return False

    def stop(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE_S), self.errors()

    def errors(self) -> str:
        """Return what the command has written to stderr."""
        self._errors.seek(0)
        return self._errors.read()


@contextmanager
def served(
    general: Sequence[str | Path] = ("--no-p4",), target: Sequence[str | Path] = (), address: str = "127.0.0.1:0"
) -> Iterator[Served]:
    """Start the command and wait until it listens; kill it at the end if it still runs."""
    pairs = {port: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for port in PORTS}
    words: list[str | Path] = [sys.executable, EXECUTABLE, "--device-id", str(DEVICE_ID)]
    for port, (outer, inner) in pairs.items():
        words += ["-i", f"{port}@fd:{inner.fileno()}"]
        outer.settimeout(PATIENCE_S)
    words += [*general, "--", "--grpc-server-addr", address, "--cpu-port", str(CPU_PORT), *target]
    with tempfile.TemporaryFile("w+") as errors:  # a pipe that nobody reads could block the command
        process = subprocess.Popen(
            words,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            pass_fds=[inner.fileno() for _, inner in pairs.values()],
        )
        running = Served(process, {port: outer for port, (outer, _) in pairs.items()}, errors)
        try:
            for _, inner in pairs.values():
                inner.close()
            running.wait_until_ready()
            yield running
        finally:
            for outer in running.ports.values():
                outer.close()
            with process:  # closes its pipes and waits
                process.kill()
