# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Docker's engine, and the containers of runs: they are its children, so that none of them dies with its runner."""

from __future__ import annotations

import importlib.util
import os
import socket
from contextlib import suppress

from testbed.system.run_ids import RUN_VARIABLE

_DEFAULT_ENGINE = "unix:///var/run/docker.sock"


def labels_of(run_id: str) -> dict[str, str]:
    """By what the containers of a run are found again."""
    return {RUN_VARIABLE: run_id}


def engine_listens() -> bool:
    """Whether somebody listens on the engine's Unix socket: veths can only be moved into containers of this machine."""
    scheme, _, path = os.environ.get("DOCKER_HOST", _DEFAULT_ENGINE).partition("://")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return scheme == "unix" and probe.connect_ex(path) == 0


def missing_engine() -> str | None:
    """None if Docker's engine answers, else why it does not."""
    if not engine_listens():
        return "no Docker engine answers"
    if importlib.util.find_spec("docker") is None:
        return "the Python module docker is not installed; .venv/bin/pip install docker"
    import docker  # slow to load, and rarely wanted
    from docker.errors import DockerException

    try:
        docker.from_env().close()
    except DockerException as error:
        return f"Docker's engine refuses: {error}"
    return None


def missing_image(image: str) -> str | None:
    """None if a container of this image can be made, else why not."""
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


def remove_containers(run_id: str) -> None:
    """All of a run, whether they have ended or not; where no engine answers there are none."""
    if not engine_listens():
        return
    import docker
    from docker.errors import DockerException, NotFound

    with suppress(DockerException):  # an engine that refuses has none to show either
        client = docker.from_env()
        try:
            label = "=".join(*labels_of(run_id).items())
            for container in client.containers.list(all=True, filters={"label": label}):
                with suppress(NotFound):  # it ended, and its runner or the engine removed it meanwhile
                    container.remove(force=True, v=True)
        finally:
            client.close()
