# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs a switch's process under test, with its ports connected to sockets of the test.

Owns the processes that it starts; must not know what the tests check.
"""

import json
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from softswitch_tests.programs import steered

FRAME_LIMIT = 65_536
PATIENCE_S = 20.0


class NotReady(Exception):
    """The process ended with status 2 instead of printing `ready`; the message is its stderr."""


class Running:
    """A process that has printed `ready`, with a socket of the test for each port."""

    def __init__(self, process: subprocess.Popen[str], ports: dict[int, socket.socket]) -> None:
        self.process = process
        self.ports = ports

    def send(self, port: int, frame: bytes) -> None:
        self.ports[port].send(frame)

    def receive(self, port: int) -> bytes:
        return self.ports[port].recv(FRAME_LIMIT)

    def stop(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGTERM)
        _, errors = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, errors


@contextmanager
def running(
    *arguments: str | Path, ports: tuple[int, ...] = (1, 2), sanitize: bool = False, program: Path | None = None
) -> Iterator[Running]:
    """Start a switch with socket ports (the steered program by default), and kill it at the end if it still runs."""
    pairs = {port: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for port in ports}
    command: list[str | Path] = [program or steered.executable(sanitize=sanitize)]
    for port, (_, inner) in pairs.items():
        command += ["-i", f"{port}@fd:{inner.fileno()}"]
    process = subprocess.Popen(
        [*command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[inner.fileno() for _, inner in pairs.values()],
    )
    try:
        for outer, inner in pairs.values():
            inner.close()
            outer.settimeout(PATIENCE_S)
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            _, errors = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 2
            raise NotReady(errors)
        yield Running(process, {port: outer for port, (outer, _) in pairs.items()})
    finally:
        for outer, _ in pairs.values():
            outer.close()
        with process:  # closes its pipes and waits
            process.kill()


def until(holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> bool:
    """Wait until a condition holds; return whether it does within the time."""
    deadline_s = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > deadline_s:
            return False
        time.sleep(0.02)
    return True


def refusal(*arguments: str | Path) -> str:
    """Run a process that must not start, with exit status 2 and no output; return its stderr."""
    process = subprocess.run(
        [steered.executable(), *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert (process.returncode, process.stdout) == (2, "")
    return process.stderr


def statistics(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(path.read_text())
    return values
