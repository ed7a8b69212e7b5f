# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command line and process of a `simple_switch`, and the connection to its Thrift server.

Everything that the process creates is private to the run. Thrift listens in the run's network namespace, the
notification socket is in the run's state folder, and the log is in the run's folder.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.child import RunChild
from sfc_testbed.testbed.targets.bmv2.thrift import ThriftConnection
from sfc_testbed.wire.constants import CLASS_COUNT

READY_SECONDS = 60.0
_RETRY_SECONDS = 0.02
_LOG_LEVEL = "warn"

# BMv2 reads the state of its ports from sysfs, so its network namespace's is mounted. It has real-time priority, as
# softswitch has, unless a container's control group has no part of it. All output goes to the log.
_START = 'mount -t sysfs sysfs /sys && { chrt --rr 1 sh -c : && set -- chrt --rr 1 "$@"; exec "$@"; } >&2'


@dataclass(frozen=True)
class SwitchSpec:
    """Parameters of a switch process. Paths are as the process sees them."""

    name: str
    device_id: int
    thrift_port: int
    program: Path
    interfaces: Mapping[int, str]
    """Port number -> interface."""
    state: Path
    log: Path
    """Path of the log without `.txt`, which BMv2 appends."""
    closed_ports: frozenset[int] = frozenset()
    """The ports from which the switch does not receive, because their interfaces go down."""

    @property
    def open_ports(self) -> Mapping[int, str]:
        """The interfaces that the switch opens, by port number, in ascending order."""
        return {port: self.interfaces[port] for port in sorted(self.interfaces.keys() - self.closed_ports)}

    @property
    def output(self) -> Path:
        """The file with the output of the process."""
        return self.log.with_suffix(".log")

    @property
    def notifications(self) -> Path:
        """The socket for BMv2's notifications, which the testbed does not read."""
        return self.state / f"{self.name}-notifications.ipc"

    def arguments(self) -> list[str]:
        """Return the arguments of `simple_switch`."""
        words = ["--device-id", str(self.device_id), "--thrift-port", str(self.thrift_port)]
        words += ["--notifications-addr", f"ipc://{self.notifications}"]
        words += ["--log-file", str(self.log), "--log-level", _LOG_LEVEL, "--log-flush"]
        for port, interface in self.open_ports.items():
            words += ["-i", f"{port}@{interface}"]
        return [*words, str(self.program), "--", "--priority-queues", str(CLASS_COUNT)]

    def command(self, executable: str) -> list[str]:
        """Return the command that becomes `simple_switch`. It mounts a sysfs, so it needs its own mount namespace."""
        return ["sh", "-c", _START, "sh", executable, *self.arguments()]

    def connect(self, has_ended: Callable[[], bool], obituary: Callable[[], str]) -> ThriftConnection:
        """Wait for the Thrift server and return a connection to it."""
        deadline = time.monotonic() + READY_SECONDS
        while not has_ended():
            try:
                connection = ThriftConnection.to_ready_switch(self.thrift_port)
                self.notifications.chmod(0o600)  # BMv2 creates it with the umask's permissions
                return connection
            except ConnectionError:
                if time.monotonic() > deadline:
                    raise RunError(f"{self.name} has no Thrift server after {READY_SECONDS:g} s") from None
            time.sleep(_RETRY_SECONDS)
        raise RunError(f"before it was ready {obituary()}")


class LocalSwitch(RunChild):
    """A `simple_switch` process in the current network namespace that ends with its parent."""

    def __init__(self, executable: str, spec: SwitchSpec, run_id: str) -> None:
        self._spec = spec
        words = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", *spec.command(executable)]
        super().__init__(spec.name, words, run_id, spec.output)

    def connect(self) -> ThriftConnection:
        return self._spec.connect(lambda: self.has_ended, self.obituary)
