# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The Docker engine and the containers of runs. Containers are children of the engine and outlive a killed runner."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from os_helpers.child import how_ended
from os_helpers.waiting import readable
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE

_STATE = "State"
_SIGNALLED = 128
NOTED_SECONDS = 5.0
"""Seconds for the engine to record the end of a process that the kernel has already reported."""
_BEGUN_SECONDS = 30.0
_POLL_SECONDS = 0.05
_DEFAULT_ENGINE = "unix:///var/run/docker.sock"


def labels_of(run_id: str) -> dict[str, str]:
    """Return the labels by which the containers of a run are found again."""
    return {RUN_VARIABLE: run_id}


def engine_listens() -> bool:
    """Return whether a Docker engine listens on a Unix socket. A remote engine cannot use this machine's links."""
    scheme, _, path = os.environ.get("DOCKER_HOST", _DEFAULT_ENGINE).partition("://")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return scheme == "unix" and probe.connect_ex(path) == 0


def missing_engine() -> str | None:
    """Return why Docker's engine cannot be used, or None if it can."""
    if not engine_listens():
        return "no Docker engine answers"
    if importlib.util.find_spec("docker") is None:
        return "the Python module docker is not installed; .venv/bin/pip install docker"
    import docker  # loads slowly and is rarely needed
    from docker.errors import DockerException

    try:
        docker.from_env().close()
    except DockerException as error:
        return f"Docker's engine refuses: {error}"
    return None


def missing_image(image: str) -> str | None:
    """Return why no container of this image can be created, or None if one can."""
    missing = missing_engine()
    if missing is not None:
        return missing
    import docker
    from docker.errors import DockerException, ImageNotFound

    client = docker.from_env()
    try:
        client.images.get(image)
    except ImageNotFound:
        return f"Docker has no image {image} (docker pull {image})"
    except DockerException as error:
        return f"Docker's engine refuses: {error}"
    finally:
        client.close()
    return None


class StartedContainer:
    """A container that runs. The kernel reports the end of its first process, because the engine knows of it late."""

    def __init__(self, container: Any, run_id: str) -> None:
        """Start the container, whose environment has the run's ID.

        Raise RunError, OSError or an error of Docker; the caller must then remove the container.
        """
        self._container = container
        self._is_removed = False
        container.start()
        container.reload()
        self.pid = int(container.attrs[_STATE]["Pid"])
        if not self.pid:
            raise RunError(f"the container {how_ended(status_of(container.attrs[_STATE]))} when it started")
        self._end = os.pidfd_open(self.pid)
        try:
            self._wait_until_here(f"{RUN_VARIABLE}={run_id}".encode())
        except BaseException:
            os.close(self._end)  # without a kill: it may be the process of somebody else
            raise

    def fileno(self) -> int:
        """Return the descriptor that becomes readable at the end of the first process."""
        return self._end

    @property
    def has_ended(self) -> bool:
        return self._is_removed or self.ends_within(0)

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end of the first process, at most for this time, and return whether it has ended."""
        return bool(readable([self], seconds))

    def last_state(self) -> Mapping[str, Any]:
        """Return the engine's state of the container soon after its end; an empty mapping if the engine has none."""
        from docker.errors import DockerException

        deadline = time.monotonic() + NOTED_SECONDS
        with suppress(DockerException, OSError):
            while not self._is_removed:
                self._container.reload()
                state: Mapping[str, Any] = self._container.attrs[_STATE]
                if not (state.get("Running") and self.has_ended) or time.monotonic() > deadline:
                    return state
                time.sleep(_POLL_SECONDS)
        return {}

    def _wait_until_here(self, variable: bytes) -> None:
        """Wait until the first process has the variable. If it never has, engine and run see different processes."""
        deadline = time.monotonic() + _BEGUN_SECONDS
        while variable not in Path(f"/proc/{self.pid}/environ").read_bytes().split(b"\0"):
            if self.has_ended:
                raise RunError(f"the container {how_ended(status_of(self.last_state()))} when it started")
            if time.monotonic() > deadline:
                raise RunError(
                    "Docker's engine does not share this system's processes; start the runner where the engine runs"
                )
            time.sleep(_POLL_SECONDS)  # the engine reports the start slightly before the program is executed

    def kill(self) -> None:
        """Kill the container's first process and thereby all its processes."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self._end, signal.SIGKILL)

    def remove(self) -> None:
        """Kill and remove the container; a second call does nothing."""
        if self._is_removed:
            return
        self._is_removed = True
        try:
            remove_container(self._container)
        finally:
            self.kill()
            os.close(self._end)


def status_of(state: Mapping[str, Any]) -> int:
    """Return the exit status in the engine's state of a container, as `subprocess` does: negative for signals.

    It is that of SIGKILL if the engine has none.
    """
    status = int(state.get("ExitCode", _SIGNALLED + signal.SIGKILL))
    return _SIGNALLED - status if status - _SIGNALLED in signal.valid_signals() else status


def remove_container(container: Any) -> None:
    """Kill and remove a container; ignore errors, since `clean` may have removed it or the engine may be gone."""
    from docker.errors import DockerException

    with suppress(DockerException, OSError):
        container.remove(force=True, v=True)  # v: also the anonymous volumes that the image declares


def remove_containers(run_id: str) -> None:
    """Remove all containers of a run, running or not. Without an engine there are none."""
    if not engine_listens():
        return
    import docker
    from docker.errors import DockerException, NotFound

    with suppress(DockerException):  # an engine that refuses access lists no containers
        client = docker.from_env()
        try:
            label = "=".join(*labels_of(run_id).items())
            for container in client.containers.list(all=True, filters={"label": label}):
                with suppress(NotFound):  # removed meanwhile by its runner or by the engine
                    container.remove(force=True, v=True)
        finally:
            client.close()
