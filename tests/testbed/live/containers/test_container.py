# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Containers of hosts, with a Docker engine that only remembers what it was asked: what people read when one fails."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError, DockerException, NotFound

from testbed.errors import RunError
from testbed.live.containers import container as containers
from testbed.live.containers.container import HostContainer, HostContainers
from testbed.system.run_ids import RUN_VARIABLE

NO_SH = 'failed to create shim task: exec: "sh": executable file not found in $PATH: unknown'


class FakeContainer:
    """One whose only process is `sleep`."""

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
    """Which ends with the test."""
    made = FakeContainer()
    yield made
    made.process.kill()
    made.process.wait()


def _host(container: FakeContainer) -> HostContainer:
    ours, theirs = socket.socketpair()
    theirs.close()
    return HostContainer("h1", "an-image", container, ours)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"ExitCode": 137}, "was ended by SIGKILL: its first process, the shell of the host, must not be ended"),
        ({"ExitCode": 0}, "ended with status 0: its first process, the shell of the host, must not be ended"),
        ({"ExitCode": 255}, "ended with status 255: its first process"),
        ({"ExitCode": 137, "OOMKilled": True}, "was ended by SIGKILL: its programs needed more than 512 MiB of memory"),
    ],
)
def test_an_end_is_told_in_words(state: Mapping[str, Any], said: str, container: FakeContainer) -> None:
    """As the engine knows it, once the process has gone."""
    host = _host(container)
    assert host.poll() is None
    container.state = state
    host.kill()
    assert host.wait() == (-signal.SIGKILL if state["ExitCode"] == 137 else state["ExitCode"])
    container.process.wait()
    assert host.obituary().startswith(f"the container of h1 (an-image) {said}")
    host.remove()
    assert host.poll() == host.returncode
    host.remove()
    assert container.removals == 1


def test_one_that_somebody_removed_is_told(container: FakeContainer) -> None:
    """The engine knows nothing of it then."""
    host = _host(container)
    container.remove(force=True, v=True)
    assert host.wait() == -signal.SIGKILL
    assert host.obituary() == (
        "the container of h1 (an-image) is gone, and Docker's engine does not know it: see the log of dockerd"
    )
    host.remove()


class FakeEngine:
    """Makes what it is told to make."""

    def __init__(self, container: FakeContainer) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.container = container
        self.stream, self.other_end = socket.socketpair()
        self.containers = SimpleNamespace(create=self._create)
        self.api = SimpleNamespace(attach_socket=lambda container, params: self.stream.makefile("rb", buffering=0))

    def _create(self, image: str, **options: Any) -> FakeContainer:
        self.asked.append((image, options))
        return self.container

    def close(self) -> None:
        self.stream.close()
        self.other_end.close()


@pytest.fixture
def engine(container: FakeContainer, monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """In place of the machine's."""
    fake = FakeEngine(container)
    monkeypatch.setattr("docker.from_env", lambda timeout: fake)
    return fake


def test_a_container_is_private_bounded_and_findable(
    engine: FakeEngine, container: FakeContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No network of Docker's, the run's id on it, few rights, little memory."""
    monkeypatch.setattr(containers, "_stop_echo", lambda pid: None)
    made = HostContainers("an-image", "run-1")
    host = made.start("h1")
    [(image, options)] = engine.asked
    assert (image, host.pid) == ("an-image", container.process.pid)
    assert (options["network_mode"], options["labels"]) == ("none", {RUN_VARIABLE: "run-1"})
    assert options["environment"][RUN_VARIABLE] == "run-1"
    assert options["cap_drop"] == ["ALL"]
    assert not {"NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE", "MKNOD"} & set(options["cap_add"])
    assert options["security_opt"] == ["no-new-privileges"]
    assert 0 < options["mem_limit"] == options["memswap_limit"]
    assert options["pids_limit"] > 0
    assert "privileged" not in options
    made.close()
    assert container.removals == 1


def test_a_container_of_another_system_is_refused(
    engine: FakeEngine, container: FakeContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where pids mean other processes than to the engine, nothing may be done to them."""
    monkeypatch.setattr(containers, "_stop_echo", lambda pid: None)
    monkeypatch.setattr(containers, "_BEGUN_SECONDS", 0.1)
    made = HostContainers("an-image", "run-2")
    with pytest.raises(RunError, match="cannot start h1 from an-image: Docker's engine does not share this system's"):
        made.start("h1")
    assert container.removals == 1
    made.close()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (APIError("400 Client Error", explanation=NO_SH), "the image has no sh, which a host's shell is"),
        (DockerException("no space\n left"), "no space left"),
        (TimeoutError("timed out"), "timed out"),
    ],
)
def test_a_container_that_does_not_start_is_one_line(
    error: Exception, said: str, engine: FakeEngine, container: FakeContainer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And does not stay."""

    def refuse() -> None:
        raise error

    monkeypatch.setattr(container, "start", refuse)
    made = HostContainers("an-image", "run-1")
    with pytest.raises(RunError) as caught:
        made.start("h1")
    assert str(caught.value) == f"cannot start h1 from an-image: {said}"
    assert container.removals == 1
    made.close()
