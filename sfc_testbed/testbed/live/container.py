# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Hosts of a live run as Docker containers (`--hosts docker:IMAGE`): starts, watches and removes them, without Mininet.

Each container has its own network namespace. Docker creates no interfaces there; the run adds them as for any host.
The container's first process is a shell of the image, which Mininet's node talks to, so the container lives as long
as its shell. The environment and a label carry the run's ID, by which `sfc-testbed clean` finds the container.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import termios
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

from os_helpers.child import how_ended
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.containers import (
    NOTED_SECONDS,
    StartedContainer,
    labels_of,
    remove_container,
    status_of,
)
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE

MEMORY_BYTES = 512 * 1024 * 1024
PROCESSES = 512
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "NET_RAW", "SETGID", "SETUID")
"""The capabilities that servers and ping need; none changes the network, the machine or anybody's rights."""
PROMPT = chr(127)
"""The character by which Mininet recognizes that a shell has finished a command."""

_ENGINE_SECONDS = 60
_AT_ONCE = 8
_POLL_SECONDS = 0.05

_SHELL = 'command -v bash > /dev/null && exec bash -c "$1" bash; exec sh -c "$1" sh'
# Executes one line after another and marks the end of each. An interactive shell would print a prompt instead, but
# BusyBox's either echoes its input or takes the end of a background program for the end of the input. `command` and
# the function keep a wrong line from ending the shell, the short loop a stray `break`, and the trap Ctrl-C.
_LINES = """
sfc_line() { command eval "$1"; }
trap sfc_interrupted=1 INT
printf '\\177'
while :; do
    if IFS= read -r sfc_line; then
        for sfc_once in .; do sfc_line "$sfc_line"; done
    elif [ -z "$sfc_interrupted" ]; then
        exit
    fi
    sfc_interrupted=
    printf '\\177'
done
"""


class HostContainer(StartedContainer):
    """A container, which also takes the place of the shell process (a `Popen`) in Mininet's node."""

    def __init__(self, host: str, image: str, container: Any, terminal: socket.socket, run_id: str) -> None:
        """Start the container, as `StartedContainer` does."""
        self.returncode: int | None = None
        self.terminal = terminal
        self._name = f"the container of {host} ({image})"
        super().__init__(container, run_id)
        self.image_id = str(container.attrs["Image"])

    @property
    def engines_name(self) -> str:
        """The name of the container for `docker exec`."""
        return str(self._container.name)

    def poll(self) -> int | None:
        """Return None while the container runs, else its exit status, which is negative for a signal."""
        if self.returncode is None and self.has_ended:
            self.returncode = status_of(self.last_state())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until the container has ended, as Mininet waits for a shell, but always with a time limit."""
        deadline = time.monotonic() + (NOTED_SECONDS if timeout is None else timeout)
        while (status := self.poll()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return -signal.SIGKILL if status is None else status

    def obituary(self) -> str:
        """Return how the container ended and what to do about it, as one line."""
        state = self.last_state()
        if not state:
            return f"{self._name} is gone and unknown to Docker's engine: see the log of dockerd"
        if state.get("Running"):
            return f"{self._name} is running, but its terminal is gone: see the log of dockerd"
        ended = f"{self._name} {how_ended(status_of(state))}"
        if state.get("OOMKilled"):
            return (
                f"{ended}: its applications needed more than {MEMORY_BYTES // 2**20} MiB of memory; start fewer of them"
            )
        return f"{ended}: its first process, the shell of the host, must not be ended"

    def remove(self) -> None:
        try:
            super().remove()
        finally:
            self.returncode = -signal.SIGKILL if self.returncode is None else self.returncode
            self.terminal.close()


class HostContainers:
    """The containers of one run, which share one image."""

    def __init__(self, image: str, run_id: str) -> None:
        import docker  # slow to import and rarely needed

        self.image = image
        self._run_id = run_id
        try:
            self._client = docker.from_env(timeout=_ENGINE_SECONDS)
        except docker.errors.DockerException as error:
            raise RunError(f"Docker does not answer: {_reason(error)}") from error
        self._containers: list[HostContainer] = []

    def start(self, host: str) -> HostContainer:
        """Start the container of a host and wait for its shell. Raises RunError if the engine or the image fails."""
        from docker.errors import DockerException

        try:
            container = self._started(host, self._client.containers.create(self.image, **self._options(host)))
        except (DockerException, OSError, RunError) as error:
            raise RunError(f"cannot start {host} from {self.image}: {_reason(error)}") from error
        self._containers.append(container)
        return container

    def described(self) -> str:
        """Return the name and the ID of the image as JSON, since the name may refer to another image later."""
        ids = {container.image_id for container in self._containers}
        return json.dumps({"image": self.image, "id": next(iter(ids), None)}, indent=1)

    def remove_all(self) -> None:
        """Remove all containers, several at a time because the engine is slow."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(HostContainer.remove, self._containers))

    def close(self) -> None:
        """Remove the remaining containers and close the connection to the engine."""
        self.remove_all()
        self._client.close()

    def _started(self, host: str, container: Any) -> HostContainer:
        with ExitStack() as undo:
            undo.callback(remove_container, container)
            terminal = _terminal_of(self._client, container.id)
            undo.callback(terminal.close)
            started = HostContainer(host, self.image, container, terminal, self._run_id)
            undo.pop_all()
            undo.callback(started.remove)
            _stop_echo(started.pid)
            undo.pop_all()
        return started

    def _options(self, host: str) -> dict[str, Any]:
        from docker.types import LogConfig

        return {
            "entrypoint": ["sh", "-c", _SHELL, "sh", _LINES],
            "name": f"sfc-{self._run_id}-{host}",
            "hostname": host,
            "labels": labels_of(self._run_id),
            "environment": {RUN_VARIABLE: self._run_id, "TERM": "dumb"},
            "tty": True,
            "stdin_open": True,
            "network_mode": "none",
            "cap_drop": ["ALL"],
            "cap_add": list(CAPABILITIES),
            "security_opt": ["no-new-privileges"],
            "mem_limit": MEMORY_BYTES,
            "memswap_limit": MEMORY_BYTES,
            "pids_limit": PROCESSES,
            "log_config": LogConfig(type="none"),
        }


@contextmanager
def host_containers(hosts: str | None, run_id: str) -> Iterator[HostContainers | None]:
    """Provide the containers of a run and remove them afterwards; None if `hosts` is None (Mininet's own hosts)."""
    if hosts is None:
        yield None
        return
    containers = HostContainers(hosts.partition(":")[2], run_id)
    try:
        yield containers
    finally:
        containers.close()


def _terminal_of(client: Any, container: str) -> socket.socket:
    """Return the terminal of a container that has not started yet, so that no output is missed."""
    stream = client.api.attach_socket(container, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
    try:
        terminal = socket.socket(fileno=os.dup(stream.fileno()))
    finally:
        getattr(stream, "_response", stream).close()  # the SDK would leave this to the garbage collector
    terminal.settimeout(None)
    return terminal


def _stop_echo(pid: int) -> None:
    """Switch off the echo of a container's terminal; this works without `stty` in the image."""
    terminal = os.open(f"/proc/{pid}/fd/0", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        settings = termios.tcgetattr(terminal)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSANOW, settings)
    finally:
        os.close(terminal)


def _reason(error: BaseException) -> str:
    """Return an error as one line; the engine's message for a missing program is long."""
    text = str(getattr(error, "explanation", None) or error)
    if '"sh"' in text and "executable file not found" in text:
        return "the image has no sh, which is needed as the shell of the host"
    return " ".join(text.split())
