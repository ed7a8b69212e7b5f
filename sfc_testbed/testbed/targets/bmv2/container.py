# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`simple_switch` in a container of the P4 project's image, for machines with Docker and without an installed BMv2.

A container starts without a network. The switch's interfaces are moved into its namespace and then added to the switch
over Thrift. The run ID is in the container's environment and in a label, so that `sfc-testbed clean` finds both the
process and the container.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any

import docker
from docker.errors import DockerException
from docker.types import Mount

from sfc_testbed.hosts.io.links import Links
from sfc_testbed.hosts.io.namespaces import entered, network_namespace, open_network_namespace
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.containers import labels_of, missing_image
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE
from sfc_testbed.testbed.targets.bmv2.process import READY_SECONDS, SwitchSpec
from sfc_testbed.testbed.targets.bmv2.thrift import ThriftConnection

IMAGE_VARIABLE = "SFC_TESTBED_BMV2_IMAGE"
"""The environment variable that selects another image."""
USUAL_IMAGE = "p4lang/behavioral-model:latest"
_RETRY_SECONDS = 0.05
_STOP_SECONDS = 5


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
    """A container with one switch. Create it in the namespace that holds the switch's interfaces."""

    def __init__(self, spec: SwitchSpec, run_id: str) -> None:
        self._spec = spec
        self._client = docker.from_env()
        self._namespace: int | None = None
        try:
            self._container = self._run(run_id)
        except DockerException as error:
            self._client.close()
            raise RunError(f"cannot start {spec.name} from {image()}: {error}") from error
        try:
            self._container.reload()
            self.pid = int(self._container.attrs["State"]["Pid"])
            self._namespace = open_network_namespace(self.pid)  # keeps the interfaces if the container is killed
            for interface in spec.interfaces.values():
                self._move(interface)
        except (DockerException, OSError) as error:
            self.stop()
            raise RunError(f"cannot start {spec.name} from {image()}: {error}") from error

    def connect(self) -> ThriftConnection:
        deadline = time.monotonic() + READY_SECONDS
        while not self.has_ended:
            try:
                with network_namespace(self.pid):
                    connection = ThriftConnection.to_ready_switch(self._spec.thrift_port)
            except OSError:
                if time.monotonic() > deadline:
                    raise RunError(f"{self._spec.name} has no Thrift server after {READY_SECONDS:g} s") from None
                time.sleep(_RETRY_SECONDS)  # a container offers no event to wait for
                continue
            for port, interface in self._spec.open_ports.items():
                connection.call("standard", "bm_dev_mgr_add_port", interface, port, "")
            return connection
        raise RunError(f"{self._spec.name} ended before it was ready: {self.last_words()}")

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
        return f"the container of {self._spec.name} has ended ({self.last_words()})"

    def trouble(self) -> str | None:
        """Return None: asking Docker several times a second costs too much, and a missing container fails commands."""
        return None

    def why_silent(self, error: OSError) -> str:
        state = "its container has ended" if self.has_ended else str(error)
        return f"{self._spec.name} does not answer ({state}): {self.last_words()}"

    def stop(self) -> None:
        try:
            self._container.stop(timeout=_STOP_SECONDS)
            self._container.remove(force=True, v=True)
        except DockerException:
            return  # the container is gone already
        finally:
            self._take_interfaces_back()
            self._client.close()

    def _take_interfaces_back(self) -> None:
        """Move the switch's interfaces back to the current namespace, for the switch's next container."""
        if self._namespace is None:
            return
        namespace = open_network_namespace()
        try:
            with entered(self._namespace), Links() as links:
                for interface in self._spec.interfaces.values():
                    with suppress(OSError):  # the interface was never moved, or its link is gone
                        links.move_into(interface, namespace)
        except OSError:
            return  # without root no interface was moved
        finally:
            os.close(namespace)
            os.close(self._namespace)
            self._namespace = None

    def _run(self, run_id: str) -> Any:
        program = self._spec.program.parent
        # Mount objects, because a colon ends the path in Docker's short form.
        mounts = [
            Mount(str(folder), str(folder), type="bind", read_only=folder == program)
            for folder in (self._spec.state, self._spec.log.parent, program)
        ]
        return self._client.containers.run(
            image(),
            ["simple_switch", *self._spec.arguments(with_interfaces=False)],
            detach=True,
            network_mode="none",
            cap_add=["NET_ADMIN", "NET_RAW"],
            sysctls={"net.ipv6.conf.all.disable_ipv6": "1", "net.ipv6.conf.default.disable_ipv6": "1"},
            environment={RUN_VARIABLE: run_id},
            labels=labels_of(run_id),
            mounts=mounts,
        )

    def _move(self, interface: str) -> None:
        with Links() as links:
            links.move(interface, self.pid)
        with network_namespace(self.pid), Links() as links:
            links.set_up(interface)
