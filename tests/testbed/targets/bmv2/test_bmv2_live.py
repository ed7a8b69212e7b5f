# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests with BMv2 itself: its answers compared with softswitch's, and live runs. Skipped without BMv2."""

from __future__ import annotations

import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.testbed.control_plane.commands import pipeline_commands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.program.declared import Program
from sfc_testbed.testbed.system.containers import missing_engine
from sfc_testbed.testbed.system.namespace import private_network
from sfc_testbed.testbed.targets.bmv2 import container
from sfc_testbed.testbed.targets.bmv2.control import Bmv2Control
from sfc_testbed.testbed.targets.bmv2.installation import missing_bmv2, simple_switch_on_path
from sfc_testbed.testbed.targets.bmv2.process import LocalSwitch, SwitchSpec
from sfc_testbed.testbed.targets.bmv2.thrift import ThriftConnection
from sfc_testbed.testbed.targets.common.commands import PROGRAM, build_engine
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.dilation import Dilation
from softswitch.control import CommandError
from softswitch.engine import SwitchEngine
from tests.appearing import comes_true
from tests.testbed import running
from tests.testbed.local_image import containers_of, hide_bmv2, image_of_bmv2

NEEDS_BMV2 = pytest.mark.skipif(missing_bmv2() is not None, reason=f"no BMv2: {missing_bmv2()}")
SIMPLE_SWITCH = simple_switch_on_path()
SMALL = ["incast", "--switch", "bmv2", "--scale", "ci", "--set", "message_bytes=100000", "--set", "window_us=0"]
PATIENCE_S = 20.0


@pytest.mark.root
def test_a_local_switch_has_real_time_priority(tmp_path: Path) -> None:
    program = tmp_path / "simple_switch"
    running.write_program(program, "chrt --pid $$")
    with private_network():
        switch = LocalSwitch(str(program), SwitchSpec("s1", 0, 1, PROGRAM, {}, tmp_path, tmp_path / "s1"), "run")
    assert comes_true(lambda: switch.has_ended, PATIENCE_S)
    switch.stop()
    assert "SCHED_RR" in (tmp_path / "s1.log").read_text()


@pytest.fixture
def control(tmp_path: Path) -> Iterator[Bmv2Control]:
    """Start a simple_switch with the testbed's program and no port, and return its control."""
    if SIMPLE_SWITCH is None:
        pytest.skip("no simple_switch on the PATH")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    spec = SwitchSpec("s1", 0, port, PROGRAM, {}, tmp_path, tmp_path / "s1")
    with ExitStack() as stack:
        log = stack.enter_context((tmp_path / "log").open("wb"))
        process = subprocess.Popen([SIMPLE_SWITCH, *spec.arguments()], stdout=log, stderr=log)
        stack.callback(process.wait)
        stack.callback(process.kill)
        yield Bmv2Control(stack.enter_context(_connected(process, port)), Program.read(PROGRAM))


def _connected(process: subprocess.Popen[bytes], port: int) -> ThriftConnection:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            return ThriftConnection("127.0.0.1", port)
        except ConnectionRefusedError:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)


def test_both_targets_give_equal_answers(control: Bmv2Control) -> None:
    topology = shape("clos", {}).build()
    settings = SwitchSettings(bts="ingress", pause_cache=True, estimator=True, ecn_kmin_bytes=100_000)
    lines = list(map(str, pipeline_commands(topology, "tor1", settings, Dilation(1000), seed=1)))
    lines += ["register_write queue_bytes 19 4711", "register_read queue_bytes 19", "register_read suppression_state"]
    lines += ["counter_write drops 5 3 900", "counter_read drops 5", "counter_reset drops", "counter_read drops 5"]
    lines += ["table_num_entries ipv4_lpm", "table_delete dscp_to_class 0", "table_num_entries dscp_to_class"]
    with SwitchEngine(build_engine()) as engine:
        for line in lines:
            assert control.command(line) == engine.command(line), line


@pytest.mark.parametrize(
    "line",
    ["table_add dscp_to_class set_class 26 => 3", "table_set_default ipv4_lpm no_route", "table_delete ipv4_lpm 7"],
)
def test_a_refusal_by_bmv2_is_an_error(control: Bmv2Control, line: str) -> None:
    control.command("table_add dscp_to_class set_class 26 => 3")
    with pytest.raises(CommandError):
        control.command(line)
    assert control.command("table_num_entries dscp_to_class") == "1"  # the connection still works


@NEEDS_BMV2
@running.LEAVES_NOTHING
class TestLive:
    """Complete live runs."""

    pytestmark = running.NEEDS_MININET

    def test_a_run_completes_and_its_verdict_names_the_limits_of_bmv2(self, tmp_path: Path) -> None:
        result = running.result_of(*SMALL, "--out", str(tmp_path))
        assert (result["clock"], result["switch"]) == ("real", "bmv2")
        assert result["flows"] | {"completed": 8, "corrupted": 0, "total": 8} == result["flows"]
        assert result["unexplained_loss"] == 0
        assert result["bts"]["sent"] > 0
        assert result["packets_per_s"] > 0
        assert result["lateness"]["switch"] is not None
        assert any("slotted links" in reason for reason in result["verdict_reasons"])
        assert 100_000 < result["max_buffer_bytes"] < 1_000_000
        [folder] = tmp_path.iterdir()
        signals = pl.read_parquet(folder / "signals.parquet")
        delays_us = (signals["received_us"] - signals["sent_us"]).to_list()
        assert 0 < min(delays_us) < max(delays_us) < 50

    def test_after_kill_9_clean_leaves_nothing(self, tmp_path: Path) -> None:
        """BMv2 and the delay lines end with the runner. `clean` removes the rest."""
        child = running.start(tmp_path, *SMALL)
        running.kill(child)
        running.clean_run_of(child.pid)

    def test_an_interrupted_run_keeps_its_measurements(self, tmp_path: Path) -> None:
        child = running.start(tmp_path, "incast", "--switch", "bmv2", "--set", "message_bytes=100000000")
        running.wait_until_measuring(tmp_path)
        child.send_signal(signal.SIGINT)
        assert running.end_of(child, tmp_path, 130)["interrupted"]
        assert list((tmp_path / "runs").glob("*/queues.parquet"))


@pytest.mark.skipif(missing_engine() is not None, reason=f"no Docker: {missing_engine()}")
class TestImage:
    """Runs in containers, of the usual image and of an image made from the switch on the PATH."""

    pytestmark = running.NEEDS_MININET

    @pytest.fixture
    def local_image(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        with image_of_bmv2(monkeypatch) as image:
            yield image

    def test_a_run_completes_in_containers(self, local_image: str, tmp_path: Path) -> None:
        result = running.result_of(*SMALL, "--out", str(tmp_path))
        assert (result["flows"]["completed"], result["unexplained_loss"]) == (8, 0), result["verdict_reasons"]
        assert result["bts"]["sent"] > 0
        assert containers_of(local_image) == []

    def test_clean_removes_containers_of_a_killed_run(self, local_image: str, tmp_path: Path) -> None:
        """Containers are children of the Docker engine, so they do not end with the runner."""
        child = running.start(tmp_path, *SMALL)
        assert len(containers_of(local_image)) == 4
        running.kill(child)
        running.clean_run_of(child.pid)
        assert containers_of(local_image) == []

    @pytest.mark.skipif(container.missing_docker() is not None, reason=f"{container.missing_docker()}")
    def test_a_run_completes_on_the_usual_image(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The test needs a pulled image of the P4 project."""
        hide_bmv2(monkeypatch)
        result = running.result_of(*SMALL, "--out", str(tmp_path))
        assert (result["flows"]["completed"], result["unexplained_loss"]) == (8, 0), result["verdict_reasons"]
