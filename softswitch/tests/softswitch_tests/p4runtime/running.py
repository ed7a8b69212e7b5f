# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs `simple_switch_grpc` with its ports connected to sockets of the test."""

import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from softswitch_tests.p4runtime.controller import DEVICE_ID, PATIENCE_S

EXECUTABLE = Path(__file__).resolve().parents[3] / "simple_switch_grpc"
CPU_PORT = 9
PORTS = (1, 2, 3)
_POLL_S = 0.02


class Served:
    """A running command with the address of its gRPC server and a socket for each port."""

    def __init__(self, process: subprocess.Popen[str], ports: dict[int, socket.socket], errors: IO[str]) -> None:
        self.process = process
        self.ports = ports
        self._errors = errors
        self.address = ""
        self.lines: list[str] = []

    def wait_until_ready(self, log: Path | None = None) -> None:
        """Wait for the line on stdout, or in the file that the output goes to, that names the address."""
        assert self.process.stdout is not None
        for line in self.process.stdout if log is None else self._followed(log):
            self.lines.append(line)
            if line.startswith("ready "):
                self.address = line.split()[1]
                return
        raise AssertionError(self.errors())

    def _followed(self, log: Path) -> Iterator[str]:
        """Yield the lines of a file that grows, until the command ends."""
        n_lines = 0
        while self.process.poll() is None:
            lines = log.read_text().splitlines(keepends=True) if log.exists() else []
            yield from (line for line in lines[n_lines:] if line.endswith("\n"))
            n_lines = sum(line.endswith("\n") for line in lines)
            time.sleep(_POLL_S)

    def line_with(self, words: str) -> str:
        """Return the next line on stdout that has these words."""
        assert self.process.stdout is not None
        return next(line.rstrip("\n") for line in self.process.stdout if words in line)

    def send(self, port: int, frame: bytes) -> None:
        self.ports[port].send(frame)

    def receive(self, port: int) -> bytes:
        return self.ports[port].recv(1 << 16)

    def receive_at_any(self) -> int:
        """Receive a frame at any port and return the port."""
        ready, _, _ = select.select(list(self.ports.values()), [], [], PATIENCE_S)
        assert ready, "no frame arrives"
        port = next(port for port, port_socket in self.ports.items() if port_socket is ready[0])
        self.receive(port)
        return port

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
    general: Sequence[str | Path] = ("--no-p4",),
    target: Sequence[str | Path] = (),
    address: str = "127.0.0.1:0",
    *,
    command: Sequence[str | Path] = (sys.executable, EXECUTABLE),
    inside: Sequence[str] = (),
    log: Path | None = None,
) -> Iterator[Served]:
    """Start the command and wait until it listens; kill it at the end if it still runs.

    `inside` is a command prefix that replaces itself with the command, `log` the file to which its output goes.
    """
    pairs = {port: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for port in PORTS}
    words: list[str | Path] = [*inside, *command, "--device-id", str(DEVICE_ID)]
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
            running.wait_until_ready(log)
            yield running
        finally:
            for outer in running.ports.values():
                outer.close()
            with process:  # closes its pipes and waits
                process.kill()
