# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Runs a switch as a child process: starts it, sends it commands and ends it. The switch never outlives its parent.

Must not know Mininet or the meaning of programs and commands.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from os_helpers.child import Child, ChildError, how_ended
from softswitch.control import CommandError, ControlClient
from softswitch.sockets import DIGESTS, new_socket_path

_PACKAGES = Path(__file__).resolve().parent.parent
_START = (
    "import sys; sys.path = [sys.argv.pop(1), *filter(None, sys.path)]; "
    "from softswitch.bmv2_command import main; main()"
)
COMMAND = (sys.executable, "-c", _START, str(_PACKAGES))
"""The words that run simple_switch in this Python.

The folder of this package is not on the path, because its mininet.py would hide Mininet. Neither is the current folder,
which may hold untrusted files while root runs this.
"""
_LONGEST_SOCKET_BYTES = 107
"""The longest path that fits in sockaddr_un."""
_START_S = 300.0
"""Time limit for the start; the C compiler may have to build the program first."""


class SwitchError(Exception):
    """A switch does not start, does not answer or refuses a command; the message names the switch and the reason."""


class SwitchProcess:
    """A running switch.

    `arguments` are options of `simple_switch`. `inside` is a command prefix such as `mnexec` that replaces
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
        options = ["--end-with", str(os.getpid()), "--control", str(self.control)]
        if thrift_port is not None:
            options += ["--thrift-port", str(thrift_port), "--notifications-addr", f"ipc://{self._digests}"]
        words = [*inside, *COMMAND, *options, *arguments]
        try:
            self._process = Child(name, words, log=log, stdin=subprocess.DEVNULL)
        except ChildError as error:
            raise SwitchError(str(error)) from error
        try:
            self._wait_until_ready("ready" if thrift_port is None else f"ready {thrift_port}")
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
        self._process.stop()
        if self._client is not None:
            self._client.close()
        for path in (self.control, self._digests):
            path.unlink(missing_ok=True)

    def _wait_until_ready(self, line: str) -> None:
        try:
            self._process.wait_for_line(line, _START_S)
        except ChildError:
            raise SwitchError(f"{self.name}: {self._last_words() or 'it was not ready in time'}") from None

    def _last_words(self) -> str:
        """Return all error output of the switch, or how it ended if there is none."""
        ended = f"the switch {how_ended(self._process.status or 0)}" if self._process.has_ended else ""
        return self._process.errors() or ended
