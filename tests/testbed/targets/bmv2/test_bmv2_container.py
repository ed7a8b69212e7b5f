# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for a switch in a container, with a fake Docker engine that records its calls."""

from __future__ import annotations

import errno
import os
import subprocess
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from docker.errors import DockerException
from docker.types import HostConfig

from sfc_testbed.hosts.io.links import Links
from sfc_testbed.hosts.io.namespaces import new_network_namespace
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE
from sfc_testbed.testbed.targets.bmv2 import container
from sfc_testbed.testbed.targets.bmv2.process import SwitchSpec


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Replace the Docker client, whose containers have the PID of this process."""
    fake = MagicMock()
    fake.containers.run.return_value.configure_mock(
        attrs={"State": {"Pid": os.getpid()}}, status="running", **{"logs.return_value": b"bad input\n"}
    )
    monkeypatch.setattr("docker.from_env", lambda: fake)
    return fake


@pytest.fixture
def links(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Replace the operations on the interfaces of namespaces."""
    fake = MagicMock()
    monkeypatch.setattr(container, "Links", fake)
    monkeypatch.setattr(container, "network_namespace", fake.enter)
    return fake


def _calls(mock: MagicMock, *methods: str) -> list[tuple[object, ...]]:
    """Return the calls of these methods in their order, each with its positional arguments."""
    calls = [(name.rpartition(".")[2], *arguments) for name, arguments, _ in mock.mock_calls]
    return [call for call in calls if call[0] in methods]


def _check_ended(engine: MagicMock) -> None:
    assert _calls(engine, "stop", "remove", "close") == [("stop",), ("remove",), ("close",)]
    engine.containers.run.return_value.remove.assert_called_once_with(force=True, v=True)


def _spec(folder: Path) -> SwitchSpec:
    return SwitchSpec(
        "tor1", 0, 9090, Path("/p4/sfc.json"), {1: "tor1-eth1"}, folder / "state", folder / "logs" / "tor1"
    )


def test_the_container_is_private_and_findable(engine: MagicMock, links: MagicMock, tmp_path: Path) -> None:
    switch = container.ContainerSwitch(_spec(tmp_path), "run-1")
    [(_, words, options)] = engine.containers.run.mock_calls[:1]
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
    pid = os.getpid()
    moves = [("move", "tor1-eth1", pid), ("enter", pid), ("set_up", "tor1-eth1")]
    assert _calls(links, "move", "enter", "set_up") == moves
    switch.stop()
    _check_ended(engine)


@pytest.mark.parametrize("name", ["a:b", "a:/etc:rw", "blank and 'quote'"])
def test_a_folder_of_any_name_is_mounted_at_its_own_path(
    name: str, engine: MagicMock, links: MagicMock, tmp_path: Path
) -> None:
    """Docker's short form would cut the path at the first colon."""
    container.ContainerSwitch(_spec(tmp_path / name), "run-1")
    options = engine.containers.run.call_args.kwargs
    host_config = HostConfig(version="1.41", mounts=options["mounts"], binds=options.get("volumes"))
    assert host_config.get("Binds") is None
    sources = {mount["Source"]: mount["Target"] for mount in host_config["Mounts"]}
    assert set(sources) == {"/p4", str(tmp_path / name / "state"), str(tmp_path / name / "logs")}
    assert all(source == target for source, target in sources.items())


def test_a_container_is_removed_when_its_interfaces_cannot_be_moved(
    engine: MagicMock, links: MagicMock, tmp_path: Path
) -> None:
    error = OSError(errno.ENODEV, "cannot move tor1-eth1: No such device")
    links.return_value.__enter__.return_value.move.side_effect = error
    with pytest.raises(
        RunError, match=r"cannot start tor1 from p4lang/behavioral-model:latest: .*cannot move tor1-eth1"
    ):
        container.ContainerSwitch(_spec(tmp_path), "run-1")
    _check_ended(engine)


def test_an_engine_that_refuses_is_an_error(engine: MagicMock, tmp_path: Path) -> None:
    engine.containers.run.side_effect = DockerException("no space left")
    with pytest.raises(RunError, match=r"cannot start tor1 .* no space left"):
        container.ContainerSwitch(_spec(tmp_path), "run-1")
    assert _calls(engine, "stop", "remove", "close") == [("close",)]


def test_the_error_of_a_switch_that_ends_early_has_its_last_line(
    engine: MagicMock, links: MagicMock, tmp_path: Path
) -> None:
    engine.containers.run.return_value.status = "exited"
    switch = container.ContainerSwitch(_spec(tmp_path), "run-1")
    with pytest.raises(RunError, match="tor1 ended before it was ready: bad input"):
        switch.connect()


@pytest.mark.root
def test_the_interfaces_of_a_killed_container_come_back(engine: MagicMock, tmp_path: Path) -> None:
    """If nothing kept the namespace open, the kernel would delete its interfaces, and with them the links."""
    process = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=-1, stdout=-1)
    assert process.stdout is not None
    process.stdout.readline()  # the process is in its namespace
    engine.containers.run.return_value.attrs = {"State": {"Pid": process.pid}}
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
