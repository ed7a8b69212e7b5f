# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`simple_switch` in a container of the P4 project's image, for machines with Docker and without an installed BMv2.

The container's process enters the run's network namespace, so the switch has the same interfaces and Thrift port as a
local one. The run ID is in the container's environment and in a label, so that `sfc-testbed clean` finds both
the process and the container.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import docker
from docker.errors import DockerException
from docker.types import Mount

from os_helpers.child import how_ended, log_words
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.containers import (
    StartedContainer,
    labels_of,
    missing_image,
    remove_container,
    status_of,
)
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE
from sfc_testbed.testbed.targets.bmv2.process import SwitchSpec
from sfc_testbed.testbed.targets.bmv2.thrift import ThriftConnection

IMAGE_VARIABLE = "SFC_TESTBED_BMV2_IMAGE"
"""The environment variable that selects another image."""
USUAL_IMAGE = "p4lang/behavioral-model:latest"
_NAMESPACE = "/run/network-of-the-run"
"""The place of the run's network namespace in the container."""
_ENTER = 'network=$1 output=$2; shift 2; exec nsenter --net="$network" -- "$@" > "$output" 2>&1'
_REAP_SECONDS = 1.0
"""Time for a process to end after its connection has broken."""
_CAPABILITIES = ["NET_ADMIN", "NET_RAW", "SYS_ADMIN", "SYS_NICE"]
"""Rights to open the ports, to enter the namespace and mount its sysfs, and to have real-time priority."""
_UNCONFINED = ["apparmor=unconfined", "label=disable"]
"""AppArmor and SELinux would forbid the mount; machines without them ignore this."""


def image() -> str:
    """Return the name of the image to use."""
    return os.environ.get(IMAGE_VARIABLE) or USUAL_IMAGE


def missing_docker() -> str | None:
    """Return why the image cannot be run, or None if it can."""
    return missing_image(image())


def image_version() -> str:
    """Return the output of `simple_switch --version` in the image, or the error of Docker."""
    client = docker.from_env()
    try:
        container = client.containers.create(image(), entrypoint=["simple_switch", "--version"], network_mode="none")
        try:
            container.start()
            container.wait()
            output: bytes = container.logs()
        finally:
            remove_container(container)
    except DockerException as error:
        return str(error)
    finally:
        client.close()
    return output.decode(errors="replace")


class ContainerSwitch:
    """A container with one switch in the network namespace of the thread that creates it."""

    def __init__(self, spec: SwitchSpec, run_id: str) -> None:
        self._spec = spec
        self._client = docker.from_env()
        try:
            container = self._created(run_id)
            try:
                self._container = StartedContainer(container, run_id)
            except BaseException:
                remove_container(container)
                raise
        except (DockerException, OSError, RunError) as error:
            self._client.close()
            said = f" ({log_words(spec.output)})" if spec.output.exists() else ""
            raise RunError(f"cannot start {spec.name} from {image()}: {error}{said}") from error

    def connect(self) -> ThriftConnection:
        return self._spec.connect(lambda: self.has_ended, self.obituary)

    @property
    def has_ended(self) -> bool:
        return self._container.has_ended

    def obituary(self) -> str:
        status = status_of(self._container.last_state())
        return f"{self._spec.name} {how_ended(status)} ({log_words(self._spec.output)})"

    def trouble(self) -> str | None:
        return self.obituary() if self.has_ended else None

    def why_silent(self, error: OSError) -> str:
        if self._container.ends_within(_REAP_SECONDS):
            return self.obituary()
        return f"{self._spec.name} does not answer ({error}; {log_words(self._spec.output)})"

    def stop(self) -> None:
        """Kill the switch: the first process of a container ignores SIGTERM, which ends a local switch at once."""
        self._container.remove()
        self._client.close()

    def _created(self, run_id: str) -> Any:
        program = self._spec.program.parent
        network = f"/proc/{os.getpid()}/task/{threading.get_native_id()}/ns/net"
        # Mount objects, because a colon ends the path in Docker's short form.
        mounts = [
            Mount(_NAMESPACE, network, type="bind"),
            *(
                Mount(str(folder), str(folder), type="bind", read_only=folder == program)
                for folder in (self._spec.state, self._spec.log.parent, program)
            ),
        ]
        enter = ["sh", "-c", _ENTER, "sh", _NAMESPACE, str(self._spec.output)]
        return self._client.containers.create(
            image(),
            entrypoint=[*enter, *self._spec.command("simple_switch")],
            network_mode="none",
            cap_add=_CAPABILITIES,
            security_opt=_UNCONFINED,
            environment={RUN_VARIABLE: run_id},
            labels=labels_of(run_id),
            mounts=mounts,
        )
