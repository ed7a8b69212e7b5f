# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`simple_switch` from the P4 project's image, for machines that have Docker and no BMv2 of their own.

A container starts without a network; the switch's ends of its links are moved into its namespace and then given to the
switch over Thrift. It carries the run's id in its environment and as a label, so that `runner.py clean` finds its
process like any other, and the container too.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any

import docker
from docker.errors import DockerException
from docker.types import Mount

from hosts.io.links import Links
from hosts.io.namespaces import entered, network_namespace, open_network_namespace
from testbed.errors import RunError
from testbed.system.containers import labels_of, missing_image
from testbed.system.run_ids import RUN_VARIABLE
from testbed.targets.bmv2.process import READY_SECONDS, SwitchSpec
from testbed.targets.bmv2.thrift import ThriftConnection

IMAGE_VARIABLE = "SFC_TESTBED_BMV2_IMAGE"
"""The environment variable that names another image than the P4 project's."""
USUAL_IMAGE = "p4lang/behavioral-model:latest"
_RETRY_SECONDS = 0.05
_STOP_SECONDS = 5


def image() -> str:
    """The name of the image to use."""
    return os.environ.get(IMAGE_VARIABLE) or USUAL_IMAGE


def missing_docker() -> str | None:
    """None if the image can be run, else why not."""
    return missing_image(image())


def image_version() -> str:
    """What `simple_switch --version` of the image prints."""
    client = docker.from_env()
    try:
        output: bytes = client.containers.run(image(), ["simple_switch", "--version"], remove=True, network_mode="none")
    except DockerException as error:
        return str(error)
    finally:
        client.close()
    return output.decode(errors="replace")


class ContainerSwitch:
    """A container with one switch. Must be made in the namespace that holds the switch's interfaces."""

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
            self._pid = int(self._container.attrs["State"]["Pid"])
            self._namespace = open_network_namespace(self._pid)  # its interfaces outlive a container that is killed
            for interface in spec.interfaces.values():
                self._move(interface)
        except (DockerException, OSError) as error:
            self.stop()
            raise RunError(f"cannot start {spec.name} from {image()}: {error}") from error

    def connect(self) -> ThriftConnection:
        deadline = time.monotonic() + READY_SECONDS
        while not self.has_ended:
            try:
                with network_namespace(self._pid):
                    connection = ThriftConnection.to_ready_switch(self._spec.thrift_port)
            except OSError:
                if time.monotonic() > deadline:
                    raise RunError(f"{self._spec.name} has no Thrift server after {READY_SECONDS:g} s") from None
                time.sleep(_RETRY_SECONDS)  # between two attempts; there is nothing to wait on in a container
                continue
            for port, interface in sorted(self._spec.interfaces.items()):
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
        return words.decode(errors="replace").strip() or "it said nothing"

    def obituary(self) -> str:
        return f"the container of {self._spec.name} has ended ({self.last_words()})"

    def trouble(self) -> str | None:
        """Asked several times a second, so that the engine is spared: a container that is gone does not answer."""
        return None

    def why_silent(self, error: OSError) -> str:
        state = "its container has ended" if self.has_ended else str(error)
        return f"{self._spec.name} does not answer ({state}): {self.last_words()}"

    def stop(self) -> None:
        try:
            self._container.stop(timeout=_STOP_SECONDS)
            self._container.remove(force=True, v=True)
        except DockerException:
            return  # it has gone by itself
        finally:
            self._take_interfaces_back()
            self._client.close()

    def _take_interfaces_back(self) -> None:
        """Move the switch's interfaces to where they came from: the next container of the switch gets them."""
        if self._namespace is None:
            return
        own = open_network_namespace()
        try:
            with entered(self._namespace), Links() as links:
                for interface in self._spec.interfaces.values():
                    with suppress(OSError):  # an interface that never came here, or whose link is gone
                        links.move_into(interface, own)
        except OSError:
            return  # nothing may be moved: an ordinary user has no interfaces to take back
        finally:
            os.close(own)
            os.close(self._namespace)
            self._namespace = None

    def _run(self, run_id: str) -> Any:
        program = self._spec.program.parent
        # As objects: in Docker's short form a colon would end a path.
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
            links.move(interface, self._pid)
        with network_namespace(self._pid), Links() as links:
            links.set_up(interface)
