# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for a switch in a container, with a fake Docker engine that records its calls."""

from __future__ import annotations

import errno
import os
import subprocess
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from docker.errors import DockerException
from docker.types import HostConfig

from hosts.io.links import Links
from hosts.io.namespaces import new_network_namespace
from testbed.errors import RunError
from testbed.system.run_ids import RUN_VARIABLE
from testbed.targets.bmv2 import container
from testbed.targets.bmv2.process import SwitchSpec


class FakeEngine:
    """The parts of the Docker client that the testbed uses."""

    def __init__(self) -> None:
        self.runs: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self.actions: list[str] = []
        self.status = "running"
        self.pid = os.getpid()
        self.containers = self

    def run(self, *words: Any, **options: Any) -> Any:
        self.runs.append((words, options))
        return SimpleNamespace(
            reload=lambda: None,
            attrs={"State": {"Pid": self.pid}},
            status=self.status,
            logs=lambda tail: b"bad input\n",
            stop=lambda timeout: self.actions.append("stop"),
            remove=lambda force, v: self.actions.append("remove" if force and v else "remains"),
        )

    def close(self) -> None:
        self.actions.append("close")


class FakeLinks:
    """Records the operations on the interfaces of namespaces."""

    operations: ClassVar[list[tuple[str | int, ...]]] = []

    def __enter__(self) -> FakeLinks:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def move(self, name: str, pid: int) -> None:
        self.operations.append(("move", name, pid))

    def move_into(self, name: str, namespace: int) -> None:
        self.operations.append(("move back", name))

    def set_up(self, name: str) -> None:
        self.operations.append(("up", name))

    @classmethod
    def entered(cls, pid: int) -> nullcontext[None]:
        cls.operations.append(("enter", pid))
        return nullcontext()


@pytest.fixture(autouse=True)
def _no_recorded_operations() -> None:
    FakeLinks.operations.clear()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    fake = FakeEngine()
    monkeypatch.setattr("docker.from_env", lambda: fake)
    return fake


def _spec(folder: Path) -> SwitchSpec:
    return SwitchSpec(
        "tor1", 0, 9090, Path("/p4/sfc.json"), {1: "tor1-eth1"}, folder / "state", folder / "logs" / "tor1"
    )


def test_the_container_is_private_and_findable(
    engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container, "Links", FakeLinks)
    monkeypatch.setattr(container, "network_namespace", FakeLinks.entered)
    switch = container.ContainerSwitch(_spec(tmp_path), "run-1")
    [(words, options)] = engine.runs
    assert words[1][0] == "simple_switch"
    assert "-i" not in words[1]  # interfaces are added after they have been moved into the container's namespace
    assert words[1][-3:] == ["--", "--priority-queues", "8"]
    assert options["network_mode"] == "none"
    assert options["environment"] == {RUN_VARIABLE: "run-1"}
    assert [(mount["Target"], mount["ReadOnly"]) for mount in options["mounts"]] == [
        (str(tmp_path / "state"), False),
        (str(tmp_path / "logs"), False),
        ("/p4", True),
    ]
    assert FakeLinks.operations == [("move", "tor1-eth1", os.getpid()), ("enter", os.getpid()), ("up", "tor1-eth1")]
    switch.stop()
    assert engine.actions == ["stop", "remove", "close"]


@pytest.mark.parametrize("name", ["a:b", "a:/etc:rw", "blank and 'quote'"])
def test_a_folder_of_any_name_is_mounted_at_its_own_path(
    name: str, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docker's short form would cut the path at the first colon."""
    monkeypatch.setattr(container.ContainerSwitch, "_move", lambda self, interface: None)
    container.ContainerSwitch(_spec(tmp_path / name), "run-1")
    [(_, options)] = engine.runs
    host_config = HostConfig(version="1.41", mounts=options["mounts"], binds=options.get("volumes"))
    assert host_config.get("Binds") is None
    sources = {mount["Source"]: mount["Target"] for mount in host_config["Mounts"]}
    assert set(sources) == {"/p4", str(tmp_path / name / "state"), str(tmp_path / name / "logs")}
    assert all(source == target for source, target in sources.items())


def test_a_container_is_removed_when_its_interfaces_cannot_be_moved(
    engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def refuse(*arguments: object) -> None:
        raise OSError(errno.ENODEV, "cannot move tor1-eth1: No such device")

    monkeypatch.setattr(container, "Links", FakeLinks)
    monkeypatch.setattr(FakeLinks, "move", refuse)
    with pytest.raises(
        RunError, match=r"cannot start tor1 from p4lang/behavioral-model:latest: .*cannot move tor1-eth1"
    ):
        container.ContainerSwitch(_spec(tmp_path), "run-1")
    assert engine.actions == ["stop", "remove", "close"]


def test_an_engine_that_refuses_is_an_error(
    engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def refuse(*words: Any, **options: Any) -> None:
        raise DockerException("no space left")

    monkeypatch.setattr(engine, "run", refuse)
    with pytest.raises(RunError, match=r"cannot start tor1 .* no space left"):
        container.ContainerSwitch(_spec(tmp_path), "run-1")
    assert engine.actions == ["close"]


def test_the_error_of_a_switch_that_ends_early_has_its_last_line(
    engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(container.ContainerSwitch, "_move", lambda self, interface: None)
    engine.status = "exited"
    switch = container.ContainerSwitch(_spec(tmp_path), "run-1")
    with pytest.raises(RunError, match="tor1 ended before it was ready: bad input"):
        switch.connect()


@pytest.mark.root
@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_interfaces_of_a_killed_container_come_back(
    engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If nothing kept the namespace open, the kernel would delete its interfaces, and with them the links."""
    process = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=-1, stdout=-1)
    assert process.stdout is not None
    process.stdout.readline()  # the process is in its namespace
    engine.pid = process.pid
    with new_network_namespace(), Links() as links:
        links.add_pair("tor1-eth1", "h1-eth0")
        switch = container.ContainerSwitch(_spec(tmp_path), "run-1")
        with pytest.raises(OSError, match="cannot find tor1-eth1"):
            links.is_up("tor1-eth1")
        process.kill()
        process.communicate()
        switch.stop()
        assert not links.is_up("tor1-eth1")
        links.set_up("h1-eth0")  # the other end of the link is still there


def test_the_image_is_unavailable_without_a_local_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine on another machine is refused too, because veth interfaces cannot be moved there."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    assert container.missing_docker() == "no Docker engine answers"
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert container.missing_docker() == "no Docker engine answers"
