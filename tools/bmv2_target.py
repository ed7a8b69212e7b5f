# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Provides BMv2's simple_switch as the switch of a packet test.

Owns the switch's process, its command-line client and the detection of idleness. It must not know statements.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from sfc_testbed.testbed.targets.bmv2.installation import simple_switch_on_path
from tools.nanomsg import PacketSocket, library_name

PATIENCE_S = 30.0
_PROMPT = b"RuntimeCmd: "
_REFUSALS = re.compile(r"^(Error|Invalid|\*\*\*|Unknown|No such|Insufficient|Needs|.*not found)", re.MULTILINE)
_SWITCHES = re.compile(rb"(?:voluntary|nonvoluntary)_ctxt_switches:\s*(\d+)")


def missing() -> str | None:
    """Return the reason why this machine cannot run BMv2, or None."""
    for program, path in (
        ("simple_switch", simple_switch_on_path()),
        ("simple_switch_CLI", shutil.which("simple_switch_CLI")),
    ):
        if path is None:
            return f"needs {program} on the PATH"
    return None if library_name() else "needs the nanomsg library"


class Bmv2Target:
    """A simple_switch that runs one program; every port number exists."""

    def __init__(self, json_path: Path) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="bmv2-")
        address = f"ipc://{self._folder.name}/packets"
        thrift_port = _free_port()
        self._log = (Path(self._folder.name) / "log").open("wb+")
        self._switch = subprocess.Popen(
            [
                simple_switch_on_path() or "",
                *("--packet-in", address),
                *("--thrift-port", str(thrift_port)),
                *("--notifications-addr", f"ipc://{self._folder.name}/notifications"),
                str(json_path),
                *("--", "--priority-queues", "8"),
            ],
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._client: subprocess.Popen[bytes] | None = None
        self._packets: PacketSocket | None = None
        try:
            self._wait_for(thrift_port)
            self._client = subprocess.Popen(
                ["simple_switch_CLI", "--thrift-port", str(thrift_port)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
            )
            self._packets = PacketSocket(address, timeout_s=PATIENCE_S)
            self._answer()
            self._packets.flush()
        except BaseException:
            self.close()
            raise

    def command(self, line: str) -> str:
        """Run a line of simple_switch_CLI. Raise ValueError if it is refused."""
        assert self._client is not None and self._client.stdin is not None
        self._client.stdin.write(line.encode() + b"\n")
        self._client.stdin.flush()
        answer = self._answer()
        if _REFUSALS.search(answer):
            raise ValueError(answer)
        return answer

    def send(self, port: int, frame: bytes) -> list[tuple[int, bytes]]:
        assert self._packets is not None
        self._packets.send(port, frame)
        try:
            frames = self._packets.flush()
            self._rest()
            return frames + self._packets.flush()
        except ConnectionError:
            raise self._ended() from None

    def drops(self) -> list[str]:
        """Return an empty list: BMv2 does not report drops."""
        return []

    def put(self, port: int, frames: list[bytes]) -> list[tuple[int, bytes]]:
        """Send frames without pauses; return the frames that have departed by the time the switch has read them."""
        assert self._packets is not None
        for frame in frames:
            self._packets.send(port, frame)
        return self._packets.flush()

    def close(self) -> None:
        if self._packets is not None:
            self._packets.close()
        for process in (self._client, self._switch):
            if process is not None:
                with process:  # closes its pipes and waits
                    process.kill()
        self._log.close()
        self._folder.cleanup()

    def __enter__(self) -> Bmv2Target:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _answer(self) -> str:
        assert self._client is not None and self._client.stdout is not None
        text = b""
        while not text.endswith(_PROMPT):
            chunk = os.read(self._client.stdout.fileno(), 1 << 16)
            if not chunk:
                raise ConnectionError(f"simple_switch_CLI ended: {text.decode()}")
            text += chunk
        return text.removesuffix(_PROMPT).decode().strip()

    def _wait_for(self, thrift_port: int) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                socket.create_connection(("127.0.0.1", thrift_port), timeout=1).close()
                return
            except OSError:
                if self._switch.poll() is not None or time.monotonic() > deadline:
                    raise self._ended() from None
                time.sleep(0.01)

    def _rest(self) -> None:
        """Wait until no thread of the switch has run between two checks of all threads, so no work is left."""
        before = None
        deadline = time.monotonic() + PATIENCE_S
        while True:
            if self._switch.poll() is not None:
                raise self._ended()
            if time.monotonic() > deadline:
                raise TimeoutError("simple_switch does not come to rest: a packet goes round for ever")
            now = self._threads()
            if now is not None and now == before:
                return
            before = now

    def _ended(self) -> ConnectionError:
        """Return an error with the last output of the process."""
        self._log.seek(0)
        return ConnectionError(f"simple_switch ended: {self._log.read().decode()[-2_000:]}")

    def _threads(self) -> list[tuple[str, list[bytes]]] | None:
        """Return the number of context switches of each thread, or None if a thread is running."""
        threads = []
        for folder in sorted(Path(f"/proc/{self._switch.pid}/task").iterdir()):
            try:
                status = (folder / "status").read_bytes()
            except (FileNotFoundError, ProcessLookupError):  # the thread or the whole process has ended
                return None
            if b"State:\tS" not in status:
                return None
            threads.append((folder.name, _SWITCHES.findall(status)))
        return threads


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
