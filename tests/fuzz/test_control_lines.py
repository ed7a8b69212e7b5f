# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Commands, garbage, long lines and partial lines to a switch's control socket, with frames between them.

Every batch has its own process, built for ASan and UBSan. Every complete line gets one answer, which ends in OK or
ERROR and is valid text, a second client is served, and the process ends without a leak or output on stderr.
"""

import socket
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.testbed.targets.common.commands import PROGRAM
from softswitch.build import build_executable
from softswitch.control import ControlClient
from softswitch_tests.process.running import running
from tests.fuzz.budget import batches
from tests.fuzz.control_words import control_line
from tests.fuzz.frames import Between, FrameMaker, damaged

_STEPS = 60
_PORTS = (1, 2)
_PATIENCE_S = 60.0
_LONGEST_LINE = 1 << 20
_BETWEEN = Between(0x0200_0000_0001, 0x0200_0000_0002, 0x0A00_0001, 0x0A00_0002)


def _steps(random: Random) -> Iterator[tuple[int, bytes]]:
    """Yield (port, frame), or (0, bytes) for the control socket."""
    maker = FrameMaker(random, _BETWEEN)
    for _ in range(_STEPS):
        kind = random.random()
        if kind < 0.1:
            yield random.choice(_PORTS), damaged(maker.frame(), random)
        elif kind < 0.2:
            yield 0, random.randbytes(random.choice((1, 5, 100)))
        elif kind < 0.3:
            line = _line(random)
            yield 0, line[: random.randrange(len(line) + 1)]
        elif kind < 0.31:
            yield 0, b"x" * random.choice((4_096, 70_000, _LONGEST_LINE + 2)) + b"\n"
        else:
            yield 0, b"".join(_line(random) for _ in range(random.choice((1, 1, 3))))


def _line(random: Random) -> bytes:
    return control_line(random).encode(errors="replace") + random.choice((b"\n", b"\n", b"\r\n", b"\0\n"))


class _Session:
    """A client that waits for the answers to its lines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connect()

    def _connect(self) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_PATIENCE_S)
        self._socket.connect(str(self._path))
        self._file = self._socket.makefile("rb")
        self._begun = b""
        self.is_open = True

    def write(self, content: bytes) -> None:
        """Send bytes, if necessary over a new connection, and check the answers to all lines that are now complete."""
        if not self.is_open:
            self.close()
            self._connect()
        *lines, self._begun = (self._begun + content).split(b"\n")
        try:
            self._socket.sendall(content)
        except OSError:
            self.is_open = False
        for line in lines:
            self._take_answer(line)
        self.is_open &= len(self._begun) <= _LONGEST_LINE

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def _take_answer(self, asked: bytes) -> None:
        while self.is_open:
            try:
                line = self._file.readline()
            except ConnectionResetError:
                line = b""
            if not line:
                self.is_open = False
                assert len(asked) >= _LONGEST_LINE, f"no answer to {asked[:200]!r}"
            if _is_text(asked):
                assert _is_text(line), (asked[:200], line[:600])
            if line == b"OK\n" or line.startswith(b"ERROR "):
                return


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.long
@given(number=st.integers(0, 2**63 - 1))
@batches(10)
def test_any_control_lines_are_answered(number: int) -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        running("--control", f"{folder}/control", "--die-with-parent", ports=_PORTS, program=_program()) as switch,
    ):
        control = Path(folder) / "control"
        with closing(_Session(control)) as session:
            for port, content in _steps(Random(number)):
                if port:
                    _send(switch.ports[port], content)
                else:
                    session.write(content)
        with ControlClient(control, timeout_s=_PATIENCE_S) as client:
            client.command("get_time_elapsed")
        assert switch.stop() == (0, "")


@cache
def _program() -> Path:
    return build_executable(PROGRAM, sanitize=True)


def _send(port: socket.socket, frame: bytes) -> None:
    """Send a frame, which is lost if the switch has no room for it, and discard the frames that leave the port."""
    port.setblocking(False)
    if frame:
        with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
            port.send(frame)
    with suppress(BlockingIOError, ConnectionResetError):
        while port.recv(65_536):
            pass
