# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Hosts of a live run as Docker containers (`--hosts docker:IMAGE`): made, watched and removed. Knows no Mininet.

A container has a network namespace of its own, in which Docker puts nothing: the run wires it like that of any host.
Its first process is the shell of the image, which is what Mininet's node of that host speaks with, so that a container
lives as long as its shell does. It carries the run's id in its environment and as a label: `runner.py clean` finds it.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import termios
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from testbed.errors import RunError
from testbed.system.child import how_ended
from testbed.system.containers import labels_of
from testbed.system.run_ids import RUN_VARIABLE

MEMORY_BYTES = 512 * 1024 * 1024
PROCESSES = 512
CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "NET_RAW", "SETGID", "SETUID")
"""What servers and ping ask for; nothing that changes the network, the machine or who may do what."""
PROMPT = chr(127)
"""By which Mininet knows that a shell has done what it was told."""

_ENGINE_SECONDS = 60
_AT_ONCE = 8
_BEGUN_SECONDS = 30.0
_NOTED_SECONDS = 5.0
"""Within which the engine knows of the end of a process that the kernel has told us of."""
_POLL_SECONDS = 0.05
_SIGNALLED = 128
_STATE = "State"

_SHELL = 'command -v bash > /dev/null && exec bash -c "$1" bash; exec sh -c "$1" sh'
# Executes line after line and marks the end of each. Interactive shells would do so with a prompt, but BusyBox's either
# shows what is typed or takes the end of a program in the background for that of its input. `command` and the function
# keep a wrong line from ending the shell, the short loop a stray `break`, the trap Ctrl-C.
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


class HostContainer:
    """One container; it also stands where Mininet expects the process of a node's shell."""

    def __init__(self, host: str, image: str, container: Any, terminal: socket.socket) -> None:
        """Starts it. RunError or what the engine raises if that fails; it is then its caller's to remove."""
        self.returncode: int | None = None
        self.terminal = terminal
        self._name = f"the container of {host} ({image})"
        self._container = container
        self._is_removed = False
        container.start()
        container.reload()
        self.image_id = str(container.attrs["Image"])
        self.pid = int(container.attrs[_STATE]["Pid"])
        if not self.pid:
            raise RunError(f"its container {how_ended(_status_of(container.attrs[_STATE]))} at once")
        self._end = os.pidfd_open(self.pid)

    @property
    def engines_name(self) -> str:
        """By which `docker exec` knows it."""
        return str(self._container.name)

    def poll(self) -> int | None:
        """None while it lives, else its exit status, negative for a signal."""
        if self.returncode is None and _has_ended(self._end):
            self.returncode = _status_of(self._last_state())
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Until it has ended; as Mininet waits for a shell, but never without an end."""
        deadline = time.monotonic() + (_NOTED_SECONDS if timeout is None else timeout)
        while (status := self.poll()) is None and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        return -signal.SIGKILL if status is None else status

    def kill(self) -> None:
        """Ends it and with it all that runs in it."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._end, signal.SIGKILL)

    def obituary(self) -> str:
        """How it ended and what to do about it, as one line."""
        state = self._last_state()
        if not state:
            return f"{self._name} is gone, and Docker's engine does not know it: see the log of dockerd"
        if state.get("Running"):
            return f"{self._name} lives, but its terminal has gone: see the log of dockerd"
        ended = f"{self._name} {how_ended(_status_of(state))}"
        if state.get("OOMKilled"):
            return f"{ended}: its programs needed more than {MEMORY_BYTES // 2**20} MiB of memory; start fewer in it"
        return f"{ended}: its first process, the shell of the host, must not be ended"

    def remove(self) -> None:
        """Ends and removes it; a second time there is nothing to do."""
        if self._is_removed:
            return
        self._is_removed = True
        try:
            _remove(self._container)
        finally:
            self.kill()
            self.returncode = -signal.SIGKILL if self.returncode is None else self.returncode
            os.close(self._end)
            self.terminal.close()

    def _last_state(self) -> Mapping[str, Any]:
        """What the engine knows of it, soon after its end; nothing where it answers no more or has removed it."""
        from docker.errors import DockerException

        deadline = time.monotonic() + _NOTED_SECONDS
        with suppress(DockerException, OSError):
            while not self._is_removed:
                self._container.reload()
                state: Mapping[str, Any] = self._container.attrs[_STATE]
                if not (state.get("Running") and _has_ended(self._end)) or time.monotonic() > deadline:
                    return state
                time.sleep(_POLL_SECONDS)
        return {}


class HostContainers:
    """The containers of one run, all of one image."""

    def __init__(self, image: str, run_id: str) -> None:
        import docker  # slow to load, and rarely wanted

        self.image = image
        self._run_id = run_id
        try:
            self._client = docker.from_env(timeout=_ENGINE_SECONDS)
        except docker.errors.DockerException as error:
            raise RunError(f"Docker does not answer any more: {_reason(error)}") from error
        self._made: list[HostContainer] = []

    def start(self, host: str) -> HostContainer:
        """A container for a host, its shell about to prompt. RunError if the engine or the image does not do it."""
        from docker.errors import DockerException

        try:
            made = self._started(host, self._client.containers.create(self.image, **self._options(host)))
        except (DockerException, OSError, RunError) as error:
            raise RunError(f"cannot start {host} from {self.image}: {_reason(error)}") from error
        self._made.append(made)
        return made

    def described(self) -> str:
        """Which image it was, when its name means another one some day."""
        ids = {made.image_id for made in self._made}
        return json.dumps({"image": self.image, "id": next(iter(ids), None)}, indent=1)

    def remove_all(self) -> None:
        """Several at once: the engine takes its time for each."""
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(HostContainer.remove, self._made))

    def close(self) -> None:
        """Removes what is left, and lets go of the engine."""
        self.remove_all()
        self._client.close()

    def _started(self, host: str, container: Any) -> HostContainer:
        with ExitStack() as undo:
            undo.callback(_remove, container)
            terminal = _terminal_of(self._client, container.id)
            undo.callback(terminal.close)
            made = HostContainer(host, self.image, container, terminal)
            undo.pop_all()
            undo.callback(made.remove)
            _wait_until_here(made.pid, self._run_id)
            _stop_echo(made.pid)
            undo.pop_all()
        return made

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
    """Those of a run whose plan says `hosts`; None where hosts are Mininet's own. None of them stays."""
    if hosts is None:
        yield None
        return
    containers = HostContainers(hosts.partition(":")[2], run_id)
    try:
        yield containers
    finally:
        containers.close()


def _remove(container: Any) -> None:
    """`clean` may have been there, or the engine is gone."""
    from docker.errors import DockerException

    with suppress(DockerException, OSError):
        container.remove(force=True, v=True)  # with the volumes that the image wants, which nobody knows by name


def _terminal_of(client: Any, container: str) -> socket.socket:
    """What a container that has not started yet will say and read: nothing of it is missed."""
    stream = client.api.attach_socket(container, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
    try:
        terminal = socket.socket(fileno=os.dup(stream.fileno()))
    finally:
        getattr(stream, "_response", stream).close()  # the SDK keeps it there, and would leave it to the garbage
    terminal.settimeout(None)
    return terminal


def _wait_until_here(pid: int, run_id: str) -> None:
    """Until its first process is the shell; where it never is, the engine's pids mean other processes than here."""
    wanted = f"{RUN_VARIABLE}={run_id}".encode()
    deadline = time.monotonic() + _BEGUN_SECONDS
    while wanted not in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
        if time.monotonic() > deadline:
            raise RunError("Docker's engine does not share this system's processes; the runner must live beside it")
        time.sleep(_POLL_SECONDS)  # between two looks: the engine says that it has started what it is about to


def _stop_echo(pid: int) -> None:
    """On the terminal of a process of a container; whether the image has `stty` does not matter."""
    terminal = os.open(f"/proc/{pid}/fd/0", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        settings = termios.tcgetattr(terminal)
        settings[3] &= ~termios.ECHO
        termios.tcsetattr(terminal, termios.TCSANOW, settings)
    finally:
        os.close(terminal)


def _has_ended(process: int) -> bool:
    """Of a descriptor of a process."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    return bool(poll.poll(0))


def _status_of(state: Mapping[str, Any]) -> int:
    """As `subprocess` tells it; SIGKILL where nobody knows any more."""
    status = int(state.get("ExitCode", _SIGNALLED + signal.SIGKILL))
    return _SIGNALLED - status if status - _SIGNALLED in signal.valid_signals() else status


def _reason(error: BaseException) -> str:
    """In one line; the engine's own words for a missing program are long."""
    said = str(getattr(error, "explanation", None) or error)
    if '"sh"' in said and "executable file not found" in said:
        return "the image has no sh, which a host's shell is"
    return " ".join(said.split())
