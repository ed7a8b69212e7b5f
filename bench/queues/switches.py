# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A Mininet switch that starts a `simple_switch`, BMv2's or softswitch's, and sets its tables over Thrift.

Both are started with the same options and the same table entries.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from mininet.node import Switch

from bench.queues.targets import StartError
from os_helpers.child import Child
from sfc_testbed.testbed.program.declared import Program
from sfc_testbed.testbed.targets.bmv2.control import Bmv2Control
from sfc_testbed.testbed.targets.bmv2.thrift import ThriftConnection

_READY_S = 100.0
_RETRY_S = 0.02
_FIRST_THRIFT_PORT = 9090
_START = ("chrt", "--rr", "1", "setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "sh", "-c")
"""Real-time priority, so that other work on the machine does not delay the switch, and an end with the script."""
_MOUNT = 'mount -t sysfs sysfs /sys && exec "$@"'
"""BMv2 reads the state of its ports from the sysfs of its network namespace."""
_NOTIFICATIONS = "--notifications-addr"
"""An option that a BMv2 without nanomsg refuses. Without it, a BMv2 with nanomsg leaves a socket in /tmp."""


class SimpleSwitch(Switch):  # type: ignore[misc]
    """A switch process with the number `number`, whose files are in `folder`."""

    def __init__(
        self,
        name: str,
        *,
        number: int,
        executable: Sequence[str],
        program: Path,
        commands: Sequence[str],
        folder: Path,
        **params: Any,
    ) -> None:
        self.number = number
        self.executable = executable
        self.program = program
        self.first_commands = commands
        self.folder = folder
        self._process: Child | None = None
        self._connection: ThriftConnection | None = None
        super().__init__(name, **params)

    @property
    def thrift_port(self) -> int:
        return _FIRST_THRIFT_PORT + self.number

    def start(self, controllers: Any) -> None:
        """Start the process and set its tables. Raise StartError if it does not start, CommandError for an entry."""
        options = ["--device-id", str(self.number), "--thrift-port", str(self.thrift_port)]
        if _has_option(tuple(self.executable), _NOTIFICATIONS):
            options += [_NOTIFICATIONS, f"ipc://{self.folder / self.name}.ipc"]
        for port, interface in sorted(self.intfs.items()):
            if interface.name != "lo":
                options += ["-i", f"{port}@{interface.name}"]
        words = [*_START, _MOUNT, "sh", *self.executable, *options, str(self.program)]
        self._process = Child(self.name, words, log=self.folder / f"{self.name}.log", merges_stderr=True)
        self._connection = self._connected(self._process)
        control = Bmv2Control(self._connection, Program.read(self.program))
        for line in self.first_commands:
            control.command(line)

    def set_queue(self, port: int, *, packets_per_s: int, depth: int) -> None:
        """Set the rate and the depth of the queue of a port, as BMv2 counts them."""
        assert self._connection is not None
        self._connection.call("simple_switch", "set_egress_queue_rate", port, packets_per_s)
        self._connection.call("simple_switch", "set_egress_queue_depth", port, depth)

    def terminate(self) -> None:
        """End the process."""
        if self._connection is not None:
            self._connection.close()
        if self._process is not None:
            self._process.stop()
        super().terminate()

    def _connected(self, process: Child) -> ThriftConnection:
        deadline_s = time.monotonic() + _READY_S
        while not process.has_ended and time.monotonic() < deadline_s:
            try:
                return ThriftConnection.to_ready_switch(self.thrift_port)
            except ConnectionError:
                time.sleep(_RETRY_S)
        process.lines()  # so that the log has the last output
        raise StartError(f"{self.name} does not start: {process.last_words()}")


@cache
def _has_option(executable: tuple[str, ...], option: str) -> bool:
    """Whether the help of a program lists an option."""
    return option in subprocess.run([*executable, "--help"], capture_output=True, text=True, check=False).stdout
