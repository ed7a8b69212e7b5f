# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Input of a switch's control socket: commands, garbage, long lines and incomplete lines, with frames between them.

Each case runs in a new process built with ASan and UBSan. Requirements: each complete line has one answer, which is
text and ends in OK or ERROR. Other clients are still served. The process ends without leaks and without output on
stderr.
"""

from __future__ import annotations

import resource
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from random import Random

from softswitch.build import build_executable
from softswitch.control import ControlClient
from testbed.targets.common.commands import PROGRAM
from tests.fuzz.target import STEPS, Case, Finding, Target
from tests.fuzz.targets.control_words import control_line
from tests.fuzz.targets.frames import Between, FrameMaker, damaged

_STEPS = 60
_PORTS = (1, 2)
_PATIENCE_S = 60.0
_LONGEST_LINE = 1 << 20
_BETWEEN = Between(0x0200_0000_0001, 0x0200_0000_0002, 0x0A00_0001, 0x0A00_0002)


def _case(number: int) -> Case:
    """Return a session generated from a seed; its writes are bytes, stored as Latin-1 text."""
    random = Random(number)
    maker = FrameMaker(random, _BETWEEN)
    steps: list[list[object]] = []
    for _ in range(_STEPS):
        kind = random.random()
        if kind < 0.1:
            steps.append(["frame", random.choice(_PORTS), damaged(maker.frame(), random).hex()])
        elif kind < 0.2:
            steps.append(["write", random.randbytes(random.choice((1, 5, 100))).decode("latin-1")])
        elif kind < 0.3:
            line = _line(random)
            steps.append(["write", line[: random.randrange(len(line) + 1)]])
        elif kind < 0.31:
            steps.append(["write", "x" * random.choice((4_096, 70_000, _LONGEST_LINE + 2)) + "\n"])
        else:
            steps.append(["write", "".join(_line(random) for _ in range(random.choice((1, 1, 3))))])
    return {STEPS: steps}


def _line(random: Random) -> str:
    return control_line(random).encode(errors="replace").decode("latin-1") + random.choice(("\n", "\n", "\r\n", "\0\n"))


class _Session:
    """A client that checks the answer of each line that it has sent."""

    def __init__(self, path: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_PATIENCE_S)
        self._socket.connect(str(path))
        self._file = self._socket.makefile("rb")
        self._incomplete = b""
        self.is_open = True

    def write(self, content: bytes) -> int:
        """Send bytes, read the answers of all lines that they complete, and return the number of these lines."""
        *lines, self._incomplete = (self._incomplete + content).split(b"\n")
        try:
            self._socket.sendall(content)
        except OSError:
            self.is_open = False
        for line in lines:
            self._take_answer(line)
        self.is_open &= len(self._incomplete) <= _LONGEST_LINE
        return len(lines)

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def _take_answer(self, command: bytes) -> None:
        while self.is_open:
            try:
                line = self._file.readline()
            except ConnectionResetError:
                line = b""
            if not line:
                self.is_open = False
                if len(command) < _LONGEST_LINE:
                    raise Finding("a line without an answer", repr(command[:200]))
            _check_text(command, line)
            if line == b"OK\n" or line.startswith(b"ERROR "):
                return


def _check_text(command: bytes, line: bytes) -> None:
    """Require that the answer is text, unless the command itself is not."""
    try:
        command.decode()
    except UnicodeDecodeError:
        return
    try:
        line.decode()
    except UnicodeDecodeError as error:
        raise Finding("an answer that is not text", repr((command[:200], line[:600]))) from error


def _check(case: Case) -> int:
    lines = 0
    with tempfile.TemporaryDirectory() as folder, _switch(Path(folder) / "control") as (process, ports):
        session = _Session(Path(folder) / "control")
        for kind, *rest in case[STEPS]:
            if kind == "frame":
                _send(ports[rest[0]], bytes.fromhex(rest[1]))
                continue
            if not session.is_open:
                session.close()
                session = _Session(Path(folder) / "control")
            lines += session.write(rest[0].encode("latin-1"))
        session.close()
        with ControlClient(Path(folder) / "control", timeout_s=_PATIENCE_S) as client:
            client.command("get_time_elapsed")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=_PATIENCE_S)
        if process.returncode or errors:
            raise Finding("the process ended with an error", f"{process.returncode} {errors[-4000:]}")
    return lines


def _send(port: socket.socket, frame: bytes) -> None:
    """Send a frame, which is lost if the switch's buffer is full, and discard the switch's output."""
    if frame:
        with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            port.send(frame, socket.MSG_DONTWAIT)
    with suppress(BlockingIOError, ConnectionResetError):
        while port.recv(65_536, socket.MSG_DONTWAIT):
            pass


@contextmanager
def _switch(control: Path) -> Iterator[tuple[subprocess.Popen[str], dict[int, socket.socket]]]:
    pairs = {port: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for port in _PORTS}
    words: list[str | Path] = [build(), "--control", control, "--die-with-parent"]
    for port, (_, inner) in pairs.items():
        words += ["-i", f"{port}@fd:{inner.fileno()}"]
    process = subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
        pass_fds=[inner.fileno() for _, inner in pairs.values()],
        preexec_fn=_unlimited,
    )  # fmt: skip
    try:
        for _, inner in pairs.values():
            inner.close()
        assert process.stdout is not None
        if process.stdout.readline() != "ready\n":
            raise Finding("the process does not start", process.communicate(timeout=_PATIENCE_S)[1])
        yield process, {port: outer for port, (outer, _) in pairs.items()}
    except (ConnectionError, TimeoutError) as error:
        process.kill()
        raise Finding("the process is gone or silent", process.communicate()[1][-4000:]) from error
    finally:
        for outer, _ in pairs.values():
            outer.close()
        with process:
            process.kill()


def _unlimited() -> None:
    """Remove the memory limit, because the sanitizers reserve more than a fuzz process may use."""
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@cache
def build() -> Path:
    """Return the path of the switch built with sanitizers, in softswitch's cache."""
    return build_executable(PROGRAM, sanitize=True)


TARGET = Target("control-lines", "line to a switch", _check, examples=10, batch=_case)
