# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs a switch as a child process: starts it, sends it commands and ends it. The switch never outlives its parent.

Must not know Mininet or the meaning of programs and commands.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from softswitch.control import CommandError, ControlClient
from softswitch.sockets import DIGESTS, new_socket_path

EXECUTABLE = Path(__file__).resolve().parent / "simple_switch"
_LONGEST_SOCKET_BYTES = 107
"""The longest path that fits in sockaddr_un."""
_START_S = 300.0
"""Time limit for the start; the C compiler may have to build the program first."""
_SERVER_S = 30.0
"""Time limit for the Thrift server to listen after the switch is ready."""
_STOP_S = 10.0


class SwitchError(Exception):
    """A switch does not start, does not answer or refuses a command; the message names the switch and the reason."""


class SwitchProcess:
    """A running switch.

    `arguments` are options of `softswitch/simple_switch`. `inside` is a command prefix such as `mnexec` that replaces
    itself with the switch. Errors of the switch go to the file `log`; without one they appear only in the text of
    SwitchError, which the constructor raises when the switch does not start.
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[str],
        *,
        thrift_port: int | None = None,
        inside: Sequence[str] = (),
        log: Path | None = None,
    ) -> None:
        self.name = name
        self.control = new_socket_path(name)
        if len(os.fsencode(self.control)) > _LONGEST_SOCKET_BYTES:
            raise SwitchError(f"{name}: {self.control} is too long for a socket; set TMPDIR to a shorter folder")
        self._digests = self.control.with_suffix(DIGESTS)
        self._client: ControlClient | None = None
        self._errors: IO[bytes] = log.open("w+b") if log else os.fdopen(os.memfd_create("errors"), "w+b")
        options = ["--end-with", str(os.getpid()), "--control", str(self.control)]
        if thrift_port is not None:
            options += ["--thrift-port", str(thrift_port), "--notifications-addr", f"ipc://{self._digests}"]
        self._process = subprocess.Popen(
            [*inside, sys.executable, str(EXECUTABLE), *options, *arguments],
            bufsize=0,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C must reach only the script that started the network
        )
        try:
            self._wait_for_line("ready", _START_S)
            if thrift_port is not None:
                self._wait_for_line(f"ready {thrift_port}", _SERVER_S)
            self._client = ControlClient(self.control)
        except BaseException:
            self.close()
            raise

    @property
    def pid(self) -> int:
        return self._process.pid

    def command(self, line: str) -> str:
        """Run a control command and return its output. Raises SwitchError."""
        assert self._client is not None
        try:
            return self._client.command(line)
        except CommandError as error:
            raise SwitchError(f"{self.name}: {error}") from None
        except OSError as error:
            raise SwitchError(f"{self.name}: {self._last_words() or f'it does not answer ({error})'}") from error

    def close(self) -> None:
        """End the switch, by force if it ignores SIGTERM, and remove its sockets. May be called again."""
        if self._process.poll() is None:
            self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._client is not None:
            self._client.close()
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._errors.close()
        for path in (self.control, self._digests):
            path.unlink(missing_ok=True)

    def _wait_for_line(self, wanted: str, seconds: float) -> None:
        output = self._process.stdout
        assert output is not None
        deadline_s = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            while selector.select(max(0.0, deadline_s - time.monotonic())):
                line = output.readline().decode(errors="replace")
                if line == f"{wanted}\n":
                    return
                if not line:
                    with suppress(subprocess.TimeoutExpired):
                        self._process.wait(_STOP_S)
                    break
        raise SwitchError(f"{self.name}: {self._last_words() or 'it was not ready in time'}")

    def _last_words(self) -> str:
        """Return all error output of the switch, or its exit status if there is none."""
        self._errors.seek(0)
        words = self._errors.read().decode(errors="replace").strip()
        status = self._process.poll()
        return words or ("" if status is None else f"the switch ended with status {status}")
