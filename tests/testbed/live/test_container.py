# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Containers as hosts, tested with a fake Docker engine that records its calls."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any
from unittest.mock import MagicMock

import pytest
from docker.errors import APIError, DockerException, NotFound

from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.live import container as containers
from sfc_testbed.testbed.live.container import HostContainer, HostContainers
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE

NO_SH = 'failed to create shim task: exec: "sh": executable file not found in $PATH: unknown'


class FakeContainer:
    """A container whose only process is `sleep`."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        self.id = self.name = "c1"
        self.state = state
        self.process = subprocess.Popen(["sleep", "600"], env={**os.environ, RUN_VARIABLE: "run-1"})
        self.removals = 0

    @property
    def attrs(self) -> dict[str, Any]:
        running = {"Running": self.process.poll() is None, "Pid": self.process.pid}
        return {"Image": "sha256:0", "State": {**running, **(self.state or {})}}

    def start(self) -> None:
        pass

    def reload(self) -> None:
        if self.removals:
            raise NotFound("no such container")

    def remove(self, force: bool, v: bool) -> None:
        assert v, "volumes of the image would stay"
        self.removals += 1
        self.process.kill()
        self.process.wait()


@pytest.fixture
def container() -> Iterator[FakeContainer]:
    fake = FakeContainer()
    yield fake
    fake.process.kill()
    fake.process.wait()


def _host(container: FakeContainer) -> HostContainer:
    terminal, other_end = socket.socketpair()
    other_end.close()
    return HostContainer("h1", "an-image", container, terminal, "run-1")


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ({"ExitCode": 137}, "was ended by SIGKILL: its first process, the shell of the host, must not be ended"),
        ({"ExitCode": 0}, "ended with status 0: its first process, the shell of the host, must not be ended"),
        ({"ExitCode": 255}, "ended with status 255: its first process"),
        (
            {"ExitCode": 137, "OOMKilled": True},
            "was ended by SIGKILL: its applications needed more than 512 MiB of memory",
        ),
    ],
)
def test_the_obituary_says_how_a_container_ended(
    state: Mapping[str, Any], expected: str, container: FakeContainer
) -> None:
    host = _host(container)
    assert host.poll() is None
    container.state = state
    host.kill()
    assert host.wait() == (-signal.SIGKILL if state["ExitCode"] == 137 else state["ExitCode"])
    container.process.wait()
    assert host.obituary().startswith(f"the container of h1 (an-image) {expected}")
    host.remove()
    assert host.poll() == host.returncode
    host.remove()
    assert container.removals == 1


def test_the_obituary_of_a_removed_container(container: FakeContainer) -> None:
    host = _host(container)
    container.remove(force=True, v=True)
    assert host.wait() == -signal.SIGKILL
    assert host.obituary() == (
        "the container of h1 (an-image) is gone and unknown to Docker's engine: see the log of dockerd"
    )
    host.remove()


@pytest.fixture
def engine(container: FakeContainer, monkeypatch: pytest.MonkeyPatch) -> Iterator[MagicMock]:
    """Replace the Docker client, which creates the fake container."""
    stream, other_end = socket.socketpair()
    with stream, other_end:
        fake = MagicMock()
        fake.containers.create.return_value = container
        fake.api.attach_socket.side_effect = lambda container, params: stream.makefile("rb", buffering=0)
        monkeypatch.setattr("docker.from_env", lambda timeout: fake)
        yield fake


def test_a_container_is_private_bounded_and_findable(
    engine: MagicMock, container: FakeContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(containers, "_stop_echo", lambda pid: None)
    started = HostContainers("an-image", "run-1")
    host = started.start("h1")
    [(_, [image], options)] = engine.containers.create.mock_calls
    assert (image, host.pid) == ("an-image", container.process.pid)
    assert (options["network_mode"], options["labels"]) == ("none", {RUN_VARIABLE: "run-1"})
    assert options["environment"][RUN_VARIABLE] == "run-1"
    assert options["cap_drop"] == ["ALL"]
    assert not {"NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE", "MKNOD"} & set(options["cap_add"])
    assert options["security_opt"] == ["no-new-privileges"]
    assert 0 < options["mem_limit"] == options["memswap_limit"]
    assert options["pids_limit"] > 0
    assert "privileged" not in options
    started.close()
    assert container.removals == 1


def test_a_container_of_another_system_is_refused(
    engine: MagicMock, container: FakeContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The PIDs of another system's engine refer to other processes here, which must not be touched."""
    monkeypatch.setattr(containers, "_stop_echo", lambda pid: None)
    monkeypatch.setattr("sfc_testbed.testbed.system.containers._BEGUN_SECONDS", 0.1)
    started = HostContainers("an-image", "run-2")
    with pytest.raises(RunError, match="cannot start h1 from an-image: Docker's engine does not share this system's"):
        started.start("h1")
    assert container.removals == 1
    started.close()


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            APIError("400 Client Error", explanation=NO_SH),
            "the image has no sh, which is needed as the shell of the host",
        ),
        (DockerException("no space\n left"), "no space left"),
        (TimeoutError("timed out"), "timed out"),
    ],
)
def test_a_container_that_does_not_start_is_a_one_line_error_and_is_removed(
    error: Exception, expected: str, engine: MagicMock, container: FakeContainer, monkeypatch: pytest.MonkeyPatch
) -> None:

    def refuse() -> None:
        raise error

    monkeypatch.setattr(container, "start", refuse)
    started = HostContainers("an-image", "run-1")
    with pytest.raises(RunError) as caught:
        started.start("h1")
    assert str(caught.value) == f"cannot start h1 from an-image: {expected}"
    assert container.removals == 1
    started.close()
