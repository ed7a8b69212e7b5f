# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Containers as hosts: their programs use the NICs, and no program outlives its run. Needs Docker's engine.

The image is built from programs of this machine, so no registry is needed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import docker
import pytest

from sfc_testbed.api.functions import open_network
from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.system.containers import missing_engine
from tests.testbed import running
from tests.testbed.local_image import containers_of, image_of

PROGRAMS = {name: shutil.which(name) for name in ("cat", "dash", "id", "iperf3", "sleep")}
pytestmark = [
    *running.NEEDS_MININET,
    running.LEAVES_NOTHING,
    pytest.mark.skipif(missing_engine() is not None, reason=f"no Docker: {missing_engine()}"),
    pytest.mark.skipif(None in PROGRAMS.values(), reason=f"not all of {', '.join(PROGRAMS)} are here"),
]
STAR = ("--topology", "star", "--set", "topology.hosts=3", "--set", "degree=2", "--dilation", "10000")
LONG = (*STAR, "--set", "message_bytes=100000000", "--duration", "1000")
LINE_RATE_WALL_BPS = 100_000_000_000 / 10_000


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Build an image with a shell, iperf3 and an anonymous volume, as images of databases have."""
    programs = {f"bin/{name}": path for name, path in PROGRAMS.items() if path is not None}
    with image_of(programs | {"bin/sh": programs["bin/dash"]}, "VOLUME /data") as name:
        yield name


@pytest.fixture(autouse=True)
def _leaves_nothing(image: str) -> Iterator[None]:
    yield
    assert containers_of(image) == []


def test_programs_in_containers_are_paced_and_paused(image: str) -> None:
    """Two unmodified iperf3 clients send to one host, get at most the link's rate, and obey BTS."""
    settings = {"topology.hosts": 3, "switch.q_th_bytes": 20_000, "switch.q_tg_bytes": 10_000}
    with open_network("star", hosts=f"docker:{image}", dilation=10_000, settings=settings) as net:
        h1, h2, h3 = (net.network.emulation.net.get(name) for name in ("h1", "h2", "h3"))
        assert h1.cmd("cat /bin/bash").strip().endswith("No such file or directory")  # the image has no bash
        for port in (6001, 6002):
            h1.cmd(f"iperf3 -s -1 -J -p {port} > /{port} &")
        h3.sendCmd(f"iperf3 -c {h1.IP()} -p 6002 -t 2")
        assert "iperf Done." in h2.cmd(f"iperf3 -c {h1.IP()} -p 6001 -t 2")
        assert "iperf Done." in h3.waitOutput()
        h1.cmd("wait")
        received = [json.loads(h1.cmd(f"cat /{port}"))["end"]["sum_received"] for port in (6001, 6002)]
        assert all(stream["bytes"] > 100_000 for stream in received)
        assert all(stream["bits_per_second"] < 2 * LINE_RATE_WALL_BPS for stream in received), received
        _, signals = net.journal.signals_since(0)
        assert {signal.host for signal in signals if signal.flow_id is None and signal.obeyed} == {"h2", "h3"}
        with pytest.raises(UsageError, match="h1 is a container: `cmd` starts applications in it"):
            h1.popen("sleep 1")
        with pytest.raises(RunError, match=r"the container of h1 \(.*\) ended with status 3: its first process"):
            h1.cmd("exit 3")


def test_the_rights_of_a_container_are_limited(image: str) -> None:
    with open_network("star", hosts=f"docker:{image}", dilation=10_000, settings={"topology.hosts": 2}) as net:
        [state] = {_limits(container) for container in containers_of(image)}
        assert state == ("none", False, ("ALL",), ("no-new-privileges",), True, True)
        node = net.network.emulation.net.get("h1")
        status = node.cmd("cat /proc/self/status")
        effective = int(next(line for line in status.splitlines() if line.startswith("CapEff")).split()[1], 16)
        admin, raw = 1 << 12, 1 << 13
        assert not effective & admin
        assert effective & raw
        volumes = _volumes_of(image)
        _check_shell_survives_input(node)
        devices = node.cmd("cat /proc/net/dev").splitlines()[2:]
        assert {line.split(":")[0].strip() for line in devices} == {"lo", "h1-eth0", "h1-tap0"}
    assert volumes and not volumes & _volumes()


def _volumes_of(image: str) -> set[str]:
    """Return the names of the volumes that the image's containers use."""
    with closing(docker.from_env()) as client:
        mounts = [client.containers.get(container).attrs["Mounts"] for container in containers_of(image)]
    return {mount["Name"] for container_mounts in mounts for mount in container_mounts}


def _volumes() -> set[str]:
    """Return the names of all volumes."""
    with closing(docker.from_env()) as client:
        return {volume.name for volume in client.volumes.list()}


def _check_shell_survives_input(node: Any) -> None:
    """Check that wrong lines, background programs, Ctrl-C and input for a program do not end the shell."""
    for line in ('echo "unclosed', "if", "set -o nothing", "break", "continue", "return", "sleep 0.01 &", "sleep 0.1"):
        node.cmd(line)
    node.sendCmd("sh -c 'echo begun; exec sleep 600'; ended=$?")
    while "begun" not in node.monitor():
        pass
    node.sendInt()
    node.waitOutput()
    assert node.cmd("echo $ended").strip() == "130"
    node.sendCmd("read word")
    node.write("typed\n")
    node.waitOutput()
    assert node.cmd("echo $word").strip() == "typed"


def _limits(container: str) -> tuple[Any, ...]:
    with closing(docker.from_env()) as client:
        settings = client.containers.get(container).attrs["HostConfig"]
    dropped, options = tuple(settings["CapDrop"]), tuple(settings["SecurityOpt"])
    is_bounded = settings["Memory"] > 0, settings["PidsLimit"] > 0
    return settings["NetworkMode"], settings["Privileged"], dropped, options, *is_bounded


def test_a_scenario_runs_on_containers(image: str, tmp_path: Path) -> None:
    result = running.result_of("incast", "--hosts", f"docker:{image}", *STAR, "--out", str(tmp_path))
    assert result["flows"]["completed"] == result["flows"]["total"] > 0
    assert result["unexplained_loss"] == 0
    [folder] = tmp_path.iterdir()
    config = json.loads((folder / "config.json").read_text())
    assert f"--hosts docker:{image}" in config["command"]
    assert json.loads((folder / "logs" / "hosts.json").read_text())["id"].startswith("sha256:")


def test_a_container_that_dies_makes_the_run_invalid(image: str, tmp_path: Path) -> None:
    child = running.start(tmp_path, "incast", "--hosts", f"docker:{image}", *LONG)
    running.wait_until_measuring(tmp_path)
    with closing(docker.from_env()) as client:
        running_ones = client.containers.list(filters={"ancestor": image})
        [victim] = [container for container in running_ones if container.name.endswith("-h2")]
        victim.kill()
    reason = running.end_of(child, tmp_path)["verdict_reasons"][0]
    assert f"the container of h2 ({image}) was ended by SIGKILL: its first process" in reason


def test_clean_removes_the_containers_of_a_killed_run(image: str, tmp_path: Path) -> None:
    """Containers are children of the engine, so they survive the runner."""
    child = running.start(tmp_path, "incast", "--hosts", f"docker:{image}", *LONG)
    assert len(containers_of(image)) == 3
    volumes = _volumes_of(image)
    running.kill(child)
    assert len(containers_of(image)) == 3
    running.clean_run_of(child.pid)
    assert containers_of(image) == []
    assert len(volumes) == 3 and not volumes & _volumes()


def test_a_missing_image_is_refused(image: str, tmp_path: Path) -> None:
    done = running.run("run", "incast", "--hosts", "docker:sfc-testbed/none", "--out", str(tmp_path / "runs"))
    assert done.returncode == 2
    assert "--hosts docker:sfc-testbed/none: Docker has no image sfc-testbed/none" in done.stderr
    assert not (tmp_path / "runs").exists()
