# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The command line and process of a `simple_switch`, and the connection to its Thrift server.

Everything that the process creates is private to the run. Thrift listens in the run's network namespace, the
notification socket is in the run's state folder, and the log is in the run's folder.
"""

from __future__ import annotations

import os
import select
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from testbed.errors import RunError
from testbed.system.child import RunChild
from testbed.targets.bmv2.thrift import ThriftConnection
from wire.constants import CLASS_COUNT

READY_SECONDS = 60.0
_RETRY_SECONDS = 0.02
_LOG_LEVEL = "warn"

# BMv2 reads the state of its ports from sysfs, so its network namespace's is mounted. All output goes to the log.
_START = 'mount -t sysfs sysfs /sys && exec "$@" >&2'


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

    @property
    def notifications(self) -> Path:
        """The socket for BMv2's notifications, which the testbed does not read."""
        return self.state / f"{self.name}-notifications.ipc"

    def arguments(self, *, with_interfaces: bool = True) -> list[str]:
        """Return the arguments of `simple_switch`."""
        words = ["--device-id", str(self.device_id), "--thrift-port", str(self.thrift_port)]
        words += ["--notifications-addr", f"ipc://{self.notifications}"]
        words += ["--log-file", str(self.log), "--log-level", _LOG_LEVEL, "--log-flush"]
        if with_interfaces:
            for port, interface in sorted(self.interfaces.items()):
                words += ["-i", f"{port}@{interface}"]
        return [*words, str(self.program), "--", "--priority-queues", str(CLASS_COUNT)]


class SwitchHost(Protocol):
    """A running `simple_switch`, as a local process or in a container."""

    def connect(self) -> ThriftConnection:
        """Wait for the Thrift server and return a connection to it."""

    @property
    def has_ended(self) -> bool: ...

    def last_words(self) -> str:
        """Return the last line of output, for messages."""

    def obituary(self) -> str:
        """Return how the switch ended and its last line of output, as one line."""

    def trouble(self) -> str | None:
        """Return why the switch no longer works, as one line, or None."""

    def why_silent(self, error: OSError) -> str:
        """Return why the switch does not answer, as one line."""

    def stop(self) -> None: ...


class LocalSwitch:
    """A `simple_switch` process in the current network namespace that ends with its parent."""

    def __init__(self, executable: str, spec: SwitchSpec, run_id: str) -> None:
        self._spec = spec
        spec.notifications.unlink(missing_ok=True)  # left behind by a switch that was killed
        words = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "sh", "-c", _START, "sh", executable]
        log = spec.log.with_suffix(".log")
        self._child = RunChild(spec.name, [*words, *spec.arguments()], run_id, log)

    def connect(self) -> ThriftConnection:
        deadline = time.monotonic() + READY_SECONDS
        end = os.pidfd_open(self._child.pid)
        poll = select.poll()
        poll.register(end, select.POLLIN)
        try:
            while not self.has_ended:
                try:
                    connection = ThriftConnection.to_ready_switch(self._spec.thrift_port)
                    self._spec.notifications.chmod(0o600)  # BMv2 creates it with the umask's permissions
                    return connection
                except ConnectionError:
                    if time.monotonic() > deadline:
                        raise RunError(f"{self._spec.name} has no Thrift server after {READY_SECONDS:g} s") from None
                poll.poll(_RETRY_SECONDS * 1000)  # returns early when the process ends
        finally:
            os.close(end)
        raise RunError(f"before it was ready {self._child.obituary()}")

    @property
    def has_ended(self) -> bool:
        return self._child.has_ended

    def last_words(self) -> str:
        return self._child.last_words()

    def obituary(self) -> str:
        return self._child.obituary()

    def trouble(self) -> str | None:
        return self._child.trouble()

    def why_silent(self, error: OSError) -> str:
        return self._child.why_silent(error)

    def stop(self) -> None:
        self._child.stop()
