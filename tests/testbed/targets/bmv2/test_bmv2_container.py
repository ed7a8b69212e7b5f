# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for a switch in a container, with a fake Docker engine that records its calls."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import MagicMock

import pytest
from docker.errors import DockerException
from docker.types import HostConfig

from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.system import containers
from sfc_testbed.testbed.system.run_ids import RUN_VARIABLE
from sfc_testbed.testbed.targets.bmv2 import container
from sfc_testbed.testbed.targets.bmv2.process import SwitchSpec


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """Start the first process of a container, which a test may kill."""
    with subprocess.Popen(["sleep", "300"], env={**os.environ, RUN_VARIABLE: "run-1"}) as process:
        yield process
        process.kill()


@pytest.fixture
def engine(process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Replace the Docker client. Every container has the same first process."""
    fake = MagicMock()
    fake.containers.create.return_value.attrs = {"State": {"Pid": process.pid}}
    monkeypatch.setattr("docker.from_env", lambda: fake)
    return fake


def _ends(engine: MagicMock) -> list[str]:
    """Return the calls that remove containers and close the connection, in their order."""
    names = [name.rpartition(".")[2] for name, _, _ in engine.mock_calls]
    return [name for name in names if name in ("remove", "close")]


def _spec(folder: Path) -> SwitchSpec:
    return SwitchSpec(
        "tor1", 0, 9090, Path("/p4/sfc.json"), {1: "tor1-eth1"}, folder / "state", folder / "logs" / "tor1"
    )


def test_the_switch_enters_the_network_of_the_run_and_can_be_found(engine: MagicMock, tmp_path: Path) -> None:
    switch = container.ContainerSwitch(_spec(tmp_path), "run-1")
    options = engine.containers.create.call_args.kwargs
    words = options["entrypoint"]
    network, *folders = options["mounts"]
    assert Path(network["Source"]).samefile("/proc/thread-self/ns/net")
    assert network["Target"] in words
    assert words[-3:] == ["--", "--priority-queues", "8"]
    assert "1@tor1-eth1" in words
    assert options["environment"] == {RUN_VARIABLE: "run-1"}
    assert [(mount["Target"], mount["ReadOnly"]) for mount in folders] == [
        (str(tmp_path / "state"), False),
        (str(tmp_path / "logs"), False),
        ("/p4", True),
    ]
    switch.stop()
    engine.containers.create.return_value.remove.assert_called_once_with(force=True, v=True)
    assert _ends(engine) == ["remove", "close"]


@pytest.mark.parametrize("name", ["a:b", "a:/etc:rw", "blank and 'quote'"])
def test_a_folder_of_any_name_is_mounted_at_its_own_path(name: str, engine: MagicMock, tmp_path: Path) -> None:
    """Docker's short form would cut the path at the first colon."""
    container.ContainerSwitch(_spec(tmp_path / name), "run-1")
    options = engine.containers.create.call_args.kwargs
    host_config = HostConfig(version="1.41", mounts=options["mounts"], binds=options.get("volumes"))
    assert host_config.get("Binds") is None
    sources = {mount["Source"]: mount["Target"] for mount in host_config["Mounts"][1:]}
    assert set(sources) == {"/p4", str(tmp_path / name / "state"), str(tmp_path / name / "logs")}
    assert all(source == target for source, target in sources.items())


def test_an_engine_that_refuses_is_an_error(engine: MagicMock, tmp_path: Path) -> None:
    engine.containers.create.return_value.start.side_effect = DockerException("no nsenter")
    with pytest.raises(RunError, match=r"cannot start tor1 .* no nsenter"):
        container.ContainerSwitch(_spec(tmp_path), "run-1")
    assert _ends(engine) == ["remove", "close"]
    engine.containers.create.side_effect = DockerException("no space left")
    with pytest.raises(RunError, match=r"cannot start tor1 .* no space left"):
        container.ContainerSwitch(_spec(tmp_path), "run-1")
    assert _ends(engine) == ["remove", "close", "close"]


def test_the_process_of_another_system_is_not_killed(
    engine: MagicMock, process: subprocess.Popen[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine on another system reports a PID that belongs to some other process here."""
    monkeypatch.setattr(containers, "_BEGUN_SECONDS", 0)
    with pytest.raises(RunError, match=r"cannot start tor1 .*: Docker's engine does not share this system's processes"):
        container.ContainerSwitch(_spec(tmp_path), "run-2")
    assert process.poll() is None
    assert _ends(engine) == ["remove", "close"]


def test_a_container_that_ends_at_its_start_is_removed(engine: MagicMock, tmp_path: Path) -> None:
    engine.containers.create.return_value.attrs = {"State": {"Pid": 0, "ExitCode": 127}}
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "tor1.log").write_text("sh: nsenter: not found\n")
    with pytest.raises(RunError, match=r"ended with status 127 when it started \(sh: nsenter: not found; see logs/tor"):
        container.ContainerSwitch(_spec(tmp_path), "run-1")
    assert _ends(engine) == ["remove", "close"]


@pytest.mark.parametrize(("status", "end"), [(1, "ended with status 1"), (137, "was ended by SIGKILL")])
def test_the_error_of_a_switch_that_ends_early_has_its_last_line(
    status: int, end: str, engine: MagicMock, process: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    switch = container.ContainerSwitch(_spec(tmp_path), "run-1")
    process.kill()
    engine.containers.create.return_value.attrs["State"] = {"ExitCode": status}
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "tor1.log").write_text("bad input\n")
    with pytest.raises(RunError, match=rf"before it was ready tor1 {end} \(bad input; see logs/tor1.log\)"):
        switch.connect()
