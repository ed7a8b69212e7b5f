# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The Docker engine and the containers of runs. Containers are children of the engine and outlive a killed runner."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE

_SIGNALLED = 128
_DEFAULT_ENGINE = "unix:///var/run/docker.sock"


def labels_of(run_id: str) -> dict[str, str]:
    """Return the labels by which the containers of a run are found again."""
    return {RUN_VARIABLE: run_id}


def engine_listens() -> bool:
    """Return whether a Docker engine listens on a Unix socket. A remote engine is useless: veths cannot move there."""
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
