# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Missing capabilities of a machine: each is a one-line error before anything is created."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from sfc_testbed.cli.app import main
from sfc_testbed.cli.output import console
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.targets import capabilities
from tests.testbed import running

_IN_CHROOT = """
set -e
root=$1
shift
for each in /*; do
    if [ -L "$each" ]; then cp -P "$each" "$root$each"
    elif [ -d "$each" ]; then mkdir "$root$each" && mount --rbind "$each" "$root$each"
    fi
done
exec chroot "$root" "$@"
"""


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Provide a folder at the beginning of PATH, for programs that shadow others."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def _probe(name: str) -> str | None:
    [probe] = [capability.probe for capability in capabilities.CAPABILITIES if capability.name == name]
    return probe()


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo 'mount: Invalid argument' >&2; exit 1", "the shell of a node ends at once: mount: Invalid argument"),
        ("exit 3", "the shell of a node ends at once: exit status 3"),
        ("exec sleep 60", "the shell of a node has not answered within"),
    ],
    ids=["says why", "says nothing", "hangs"],
)
def test_a_node_shell_that_cannot_start_is_reported(
    script: str, expected: str, without: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(capabilities, "_SHELL_SECONDS", 2.0)
    running.write_program(without / "mnexec", script)
    reason = _probe("node shells")
    assert reason is not None
    assert reason.startswith(expected)
    assert "\n" not in reason


@running.needs_mininet
def test_a_chroot_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """The folder of the chroot is no mount point, so Mininet's nodes cannot have mounts; the error has a hint."""
    root, out = tmp_path / "root", tmp_path / "runs"
    root.mkdir()
    words = ["unshare", "--mount", "sh", "-c", _IN_CHROOT, "sh", str(root)]
    words += running.command("run", "incast", "--clock", "real", "--out", str(out))
    done = running.outcome_of(words)
    assert done.returncode == 2, done.stdout + done.stderr
    message = " ".join(done.stderr.split())
    assert "needs node shells: the shell of a node ends at once: " in message
    assert "mount --bind FOLDER FOLDER before chroot FOLDER" in message
    assert not out.exists()


@running.needs_mininet
def test_frames_that_are_too_long_for_interfaces_are_refused() -> None:
    capabilities.require("real", "soft", mtu_bytes=65_535)
    with pytest.raises(UsageError, match=r"at an MTU of 65536 B: Invalid argument; lower transport\.payload_bytes"):
        capabilities.require("real", "soft", mtu_bytes=65_536)


def test_containers_need_an_engine_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [probe] = [
        capability.probe
        for capability in capabilities.CAPABILITIES
        if capability.needed_for == capabilities.CONTAINER_RUN
    ]
    for address in (f"unix://{tmp_path}/none", "tcp://192.0.2.1:2375"):
        monkeypatch.setenv("DOCKER_HOST", address)
        assert probe() == "no Docker engine answers; apt-get install docker.io installs one"
    with socket.socket(socket.AF_UNIX) as engine:
        engine.bind(str(tmp_path / "engine"))
        engine.listen()
        monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/engine")
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert probe() == "the Python module docker is not installed; .venv/bin/pip install docker"


@running.needs_mininet
def test_a_run_on_containers_without_an_engine_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none")
    capabilities.require("real", "soft")
    with pytest.raises(UsageError, match="--hosts docker:IMAGE needs Docker: no Docker engine answers"):
        capabilities.require("real", "soft", hosts="docker:debian")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_the_probe_of_real_time_priority_restores_the_priority() -> None:
    before = (os.sched_getscheduler(0), os.sched_getparam(0).sched_priority, os.getpriority(os.PRIO_PROCESS, 0))
    assert _probe("real-time priority") is None
    assert before == (os.sched_getscheduler(0), os.sched_getparam(0).sched_priority, os.getpriority(os.PRIO_PROCESS, 0))


@running.needs_mininet
def test_a_control_group_without_real_time_is_refused_before_anything_starts(tmp_path: Path) -> None:
    """Root alone is not sufficient in a container if the kernel divides real-time among control groups."""
    share = Path("/sys/fs/cgroup/cpu/cpu.rt_runtime_us")
    if not share.exists():
        pytest.skip("this kernel does not divide real-time among control groups, or not in /sys/fs/cgroup/cpu")
    group = share.parent / f"sfc-testbed-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"a control group cannot be created here: {error}")
    try:
        enter = f'echo $$ > {group}/cgroup.procs && exec "$@"'
        words = running.command("run", "incast", "--clock", "real", "--out", str(tmp_path))
        done = running.outcome_of(["sh", "-c", enter, "sh", *words])
    finally:
        group.rmdir()
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(
        "runner.py: --clock real needs real-time priority: not permitted; it takes CAP_SYS_NICE and,"
    )
    assert not list(tmp_path.iterdir())


def test_probes_that_need_root_are_unknown_without_root(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr(console, "width", 200)
    assert main(["doctor"]) == 0
    lines = {line.split("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    for name in ("network namespaces", "veth", "node shells", "real-time priority", "netem"):
        assert "unknown: only root can check it; use sudo ./runner.py doctor" in lines[name]
    assert "unknown" not in lines["C compiler"]


def test_hints_for_p4_programs_name_the_provisioning_command(without: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(without))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{without}/docker.sock")  # an engine could have an image with BMv2
    assert _probe("p4c") == "no p4c-bm2-ss on the PATH; run tools/provision.sh p4"
    assert "run tools/provision.sh p4" in str(_probe("BMv2"))
    assert str(_probe("tshark")).endswith("; run tools/provision.sh")
