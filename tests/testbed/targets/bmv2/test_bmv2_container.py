# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A switch in a container, with a Docker engine that only remembers what it was asked."""

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
    """The parts of the Docker client that are used."""

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
        self.done: list[str] = []
        self.status = "running"
        self.pid = os.getpid()
        self.containers = self

    def run(self, *words: Any, **options: Any) -> Any:
        self.asked.append((words, options))
        return SimpleNamespace(
            reload=lambda: None,
            attrs={"State": {"Pid": self.pid}},
            status=self.status,
            logs=lambda tail: b"bad input\n",
            stop=lambda timeout: self.done.append("stop"),
            remove=lambda force, v: self.done.append("remove" if force and v else "remains"),
        )

    def close(self) -> None:
        self.done.append("close")


class FakeLinks:
    """Remembers what is asked of the namespaces' interfaces."""

    asked: ClassVar[list[tuple[str | int, ...]]] = []

    def __enter__(self) -> FakeLinks:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def move(self, name: str, pid: int) -> None:
        self.asked.append(("move", name, pid))

    def move_into(self, name: str, namespace: int) -> None:
        self.asked.append(("move back", name))

    def set_up(self, name: str) -> None:
        self.asked.append(("up", name))

    @classmethod
    def entered(cls, pid: int) -> nullcontext[None]:
        cls.asked.append(("enter", pid))
        return nullcontext()


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    FakeLinks.asked.clear()


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """In place of the machine's."""
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
    """No network of Docker's, the run's id in its environment, folders at the paths that the command names."""
    monkeypatch.setattr(container, "Links", FakeLinks)
    monkeypatch.setattr(container, "network_namespace", FakeLinks.entered)
    switch = container.ContainerSwitch(_spec(tmp_path), "run-1")
    [(words, options)] = engine.asked
    assert words[1][0] == "simple_switch"
    assert "-i" not in words[1]  # interfaces come once they are in its namespace
    assert words[1][-3:] == ["--", "--priority-queues", "8"]
    assert options["network_mode"] == "none"
    assert options["environment"] == {RUN_VARIABLE: "run-1"}
    assert [(each["Target"], each["ReadOnly"]) for each in options["mounts"]] == [
        (str(tmp_path / "state"), False),
        (str(tmp_path / "logs"), False),
        ("/p4", True),
    ]
    assert FakeLinks.asked == [("move", "tor1-eth1", os.getpid()), ("enter", os.getpid()), ("up", "tor1-eth1")]
    switch.stop()
    assert engine.done == ["stop", "remove", "close"]


@pytest.mark.parametrize("name", ["a:b", "a:/etc:rw", "blank and 'quote'"])
def test_a_folder_of_any_name_is_mounted_at_its_own_path(
    name: str, engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docker's short form would mount what stands before a colon."""
    monkeypatch.setattr(container.ContainerSwitch, "_move", lambda self, interface: None)
    container.ContainerSwitch(_spec(tmp_path / name), "run-1")
    [(_, options)] = engine.asked
    host_config = HostConfig(version="1.41", mounts=options["mounts"], binds=options.get("volumes"))
    assert host_config.get("Binds") is None
    sources = {mount["Source"]: mount["Target"] for mount in host_config["Mounts"]}
    assert set(sources) == {"/p4", str(tmp_path / name / "state"), str(tmp_path / name / "logs")}
    assert all(source == target for source, target in sources.items())


def test_a_container_that_gets_no_interfaces_does_not_stay(
    engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was started is removed before the error is reported."""

    def refuse(*arguments: object) -> None:
        raise OSError(errno.ENODEV, "cannot move tor1-eth1: No such device")

    monkeypatch.setattr(container, "Links", FakeLinks)
    monkeypatch.setattr(FakeLinks, "move", refuse)
    with pytest.raises(
        RunError, match=r"cannot start tor1 from p4lang/behavioral-model:latest: .*cannot move tor1-eth1"
    ):
        container.ContainerSwitch(_spec(tmp_path), "run-1")
    assert engine.done == ["stop", "remove", "close"]


def test_an_engine_that_refuses_is_an_error(
    engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line, and the client is closed."""

    def refuse(*words: Any, **options: Any) -> None:
        raise DockerException("no space left")

    monkeypatch.setattr(engine, "run", refuse)
    with pytest.raises(RunError, match=r"cannot start tor1 .* no space left"):
        container.ContainerSwitch(_spec(tmp_path), "run-1")
    assert engine.done == ["close"]


def test_a_switch_that_ends_early_says_why(engine: FakeEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its last line is the reason."""
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
    """The kernel deletes the interfaces of a namespace that nobody holds, and with them the switch's links."""
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


def test_no_engine_is_no_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine of another machine is of no use either: veths stay here."""
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    assert container.missing_docker() == "no Docker engine answers"
    monkeypatch.setenv("DOCKER_HOST", "tcp://192.0.2.1:2375")
    assert container.missing_docker() == "no Docker engine answers"
