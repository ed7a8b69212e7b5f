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

from os_helpers.child import how_ended
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.containers import labels_of, missing_image, remove_container, status_of
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE
from sfc_testbed.testbed.targets.bmv2.process import SwitchSpec
from sfc_testbed.testbed.targets.bmv2.thrift import ThriftConnection

IMAGE_VARIABLE = "SFC_TESTBED_BMV2_IMAGE"
"""The environment variable that selects another image."""
USUAL_IMAGE = "p4lang/behavioral-model:latest"
_NAMESPACE = "/run/network-of-the-run"
"""Where the container has the run's network namespace."""
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
        output: bytes = client.containers.run(image(), ["simple_switch", "--version"], remove=True, network_mode="none")
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
            self._container = self._created(run_id)
            try:
                self._container.start()
            except DockerException:
                remove_container(self._container)
                raise
        except DockerException as error:
            self._client.close()
            raise RunError(f"cannot start {spec.name} from {image()}: {error}") from error

    def connect(self) -> ThriftConnection:
        return self._spec.connect(lambda: self.has_ended, self.obituary)

    @property
    def has_ended(self) -> bool:
        try:
            self._container.reload()
        except DockerException:
            return True
        return bool(self._container.status not in ("created", "running"))

    def last_words(self) -> str:
        try:
            words: bytes = self._container.logs(tail=1)
        except DockerException:
            return "its container is gone"
        return words.decode(errors="replace").strip() or "no output"

    def obituary(self) -> str:
        return f"{self._spec.name} {how_ended(status_of(self._container.attrs['State']))} ({self.last_words()})"

    def trouble(self) -> str | None:
        """Return None: asking Docker several times a second costs too much, and a missing container fails commands."""
        return None

    def why_silent(self, error: OSError) -> str:
        state = "its container has ended" if self.has_ended else str(error)
        return f"{self._spec.name} does not answer ({state}): {self.last_words()}"

    def stop(self) -> None:
        """Kill the switch: the first process of a container ignores SIGTERM, which ends a local switch at once."""
        remove_container(self._container)
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
        return self._client.containers.create(
            image(),
            ["nsenter", f"--net={_NAMESPACE}", "--", *self._spec.command("simple_switch")],
            network_mode="none",
            cap_add=_CAPABILITIES,
            security_opt=_UNCONFINED,
            environment={RUN_VARIABLE: run_id},
            labels=labels_of(run_id),
            mounts=mounts,
        )
