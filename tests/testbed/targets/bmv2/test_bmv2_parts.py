# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the parts of the BMv2 target that need no BMv2: slots, polls, ghost bytes, the choice of the target."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import MagicMock, call

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.telemetry.queue_samples import samples_from_bytes
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import plan_run
from sfc_testbed.testbed.plan.switch_targets import SWITCH_TARGETS
from sfc_testbed.testbed.speed.dilation import with_dilation
from sfc_testbed.testbed.targets import capabilities
from sfc_testbed.testbed.targets.bmv2 import target as bmv2_target
from sfc_testbed.testbed.targets.bmv2.installation import Installation, find_bmv2
from sfc_testbed.testbed.targets.bmv2.poller import QueuePoller, poll_interval_ns
from sfc_testbed.testbed.targets.bmv2.process import SwitchSpec
from sfc_testbed.testbed.targets.bmv2.slots import slot_bytes, slot_commands, slot_rate
from sfc_testbed.testbed.targets.bmv2.switch import Bmv2Switch, interface_bytes, parsed
from sfc_testbed.testbed.targets.bmv2.target import Bmv2Target
from sfc_testbed.testbed.targets.table import TARGETS
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.constants import CLASS_BTS, CLASS_CONTROL, CLASS_DATA
from sfc_testbed.wire.dilation import Dilation
from softswitch.control import CommandError
from tests.testbed.running import write_program

LIVE = RunSpec("incast", switch="bmv2")


@given(st.integers(1, 10**11), st.integers(60, 9_100))
def test_slots_per_second_match_the_link_rate(wall_bps: int, frame_bytes: int) -> None:
    """The rate is rounded to whole packets and is never 0, which BMv2 treats as unlimited."""
    rate = slot_rate(wall_bps, frame_bytes)
    assert rate >= 1
    assert rate == 1 or abs(rate - wall_bps / (8 * frame_bytes)) <= 0.5 + 1e-6


def test_slots_are_as_long_as_the_frames_of_the_class() -> None:
    classes = (CLASS_DATA, CLASS_CONTROL, CLASS_BTS, 0)
    assert [slot_bytes(traffic_class, 1000) for traffic_class in classes] == [1058, 62, 60, 1058]


def test_slot_commands_leave_queues_unlimited_and_set_a_rate_for_every_port_and_class() -> None:
    topology = shape("star", {"hosts": 3}).build()
    first, *rates = slot_commands(topology, "s1", 1000, Dilation(100_000))
    assert first == "set_queue_depth 1000000000"
    assert len(rates) == 3 * 8
    assert "set_queue_rate 118 1 3" in rates


class FakeControl:
    """Register contents set by the test."""

    def __init__(self) -> None:
        self.cells = np.zeros(4096, dtype=np.int64)
        self.exchanges = 0

    def register_value(self, name: str, index: int) -> int:
        self.exchanges += 1
        return int(self.cells.sum())

    def register_values(self, name: str) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        self.exchanges += 1
        return self.cells


def _poller(control: Any, file: Path, link_bytes: Callable[[], dict[int, tuple[int, int]]]) -> QueuePoller:
    return QueuePoller(control, file, poll_ns=1, sample_ns=10, epoch_ns=0, link_bytes=link_bytes, also=lambda: None)


def test_polls_become_samples_with_the_highest_depth_seen(tmp_path: Path) -> None:
    control = FakeControl()
    file = tmp_path / "s1.samples"
    poller = _poller(control, file, dict)
    control.cells[2 * 8 + 3] = 5_000
    poller.poll()
    control.cells[2 * 8 + 3] = 1_000
    poller.poll()
    poller.end_interval(100)
    assert len(samples_from_bytes(file.read_bytes())) == 2  # written now, so a killed run keeps it
    control.cells[2 * 8 + 3] = 0
    poller.poll()
    poller.end_interval(200)
    assert [tuple(row) for row in samples_from_bytes(file.read_bytes()).tolist()] == [
        (100, -1, -1, 0, 1_000, 5_000),
        (100, 2, 3, 0, 1_000, 5_000),
        (200, -1, -1, 0, 0, 0),
    ]
    assert control.exchanges == 5  # if the buffer is empty the queues are not read


def test_bytes_of_links_are_differences_of_the_interfaces_counters(tmp_path: Path) -> None:
    counted = {1: (100, 0), 2: (0, 0)}
    file = tmp_path / "s1.samples"
    poller = _poller(FakeControl(), file, lambda: dict(counted))
    counted[1] = (160, 1_000)
    poller.end_interval(100)
    poller.end_interval(200)
    counted[2] = (0, 70)
    poller.end_interval(300)
    rows = [(100, 1, -1, -1, 60, 1_000), (300, 2, -1, -1, 0, 70)]
    assert [tuple(row) for row in samples_from_bytes(file.read_bytes()).tolist()] == rows


def test_the_kernel_counts_received_before_sent_bytes() -> None:
    head = "Inter-|   Receive  |  Transmit\n face |bytes    packets |bytes    packets\n"
    counts = " tor1-eth1: 2352690 1929 0 0 0 0 0 0 99 7 0 0 0 0 0 0\n"
    assert parsed(head + counts) == {"tor1-eth1": (2_352_690, 99)}
    assert "lo" in interface_bytes()


def test_many_switches_are_polled_less_often() -> None:
    assert poll_interval_ns(500_000_000, 4) == 50_000_000
    assert poll_interval_ns(20_000_000, 20) == 100_000_000


_PFC = "--switch bmv2 cannot do pfc: a queue of BMv2 cannot be paused; use --switch soft"


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        (replace(LIVE, clock="virtual"), "no virtual clock"),
        (replace(LIVE, settings={"switch.pfc": True}), "cannot be paused"),
        (replace(LIVE, scheme="bfc"), "incast bfc: --switch bmv2 cannot do bfc: a queue of BMv2 cannot be paused"),
        (replace(LIVE, scheme="ndp"), "cannot trim: a queue of BMv2 counts packets"),
        (replace(LIVE, scenario="testbed-hol", scheme="pfc"), f"testbed-hol pfc: {_PFC}"),
        (replace(LIVE, scheme="sfc-p", settings={"switch.pfc": True}), f"incast sfc-p: {_PFC}"),
        (
            replace(LIVE, scheme="sfc-est", dilation=500_000),
            "too long for the estimator at dilation 500000; use --dilation 300000 or less",
        ),
    ],
)
def test_unsupported_features_are_refused_in_one_line_before_the_run(request_: RunSpec, words: str) -> None:
    """The refusal does not depend on whether BMv2 is installed, and names the scheme and the alternative."""
    with pytest.raises(UsageError) as refused:
        plan_run(request_)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_bmv2_runs_every_scenario_without_pfc_and_none_with_it(scenario: str) -> None:
    """Scenarios with an unlimited buffer are refused for that reason, because PFC needs a limit."""
    assert plan_run(RunSpec(scenario, "sfc-p", switch="bmv2")).flows
    with pytest.raises(UsageError, match=r"a queue of BMv2 cannot be paused; use --switch soft|pfc needs buffer_bytes"):
        plan_run(RunSpec(scenario, "pfc", switch="bmv2"))


def test_bmv2_gets_a_larger_dilation_and_the_command_names_the_switch() -> None:
    """BMv2 forwards far fewer packets per second than softswitch."""
    bmv2, soft = (with_dilation(plan_run(request)).config for request in (LIVE, RunSpec("incast", switch="auto")))
    assert (bmv2.switch, soft.switch) == ("bmv2", "soft")
    assert bmv2.dilation > soft.dilation
    assert "--switch bmv2" in bmv2.command


def test_every_target_of_a_plan_has_a_class() -> None:
    assert TARGETS.keys() == SWITCH_TARGETS.keys()


def test_acks_have_a_separate_queue_on_bmv2() -> None:
    """An ACK in a data queue of BMv2 would take the slot of a full packet."""
    priorities = [
        plan_run(RunSpec("incast", "sfc+hpcc", switch=name)).transport.ack_priority for name in ("bmv2", "soft")
    ]
    assert priorities == ["control", "data"]


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("1.15.0", "version 1.15.0; 1.15.1 or later"),
        ("hello", "reports no version"),
        ("1.16.0-3a4b5c", "version='1.16.0', path='{}/simple_switch'"),
    ],
)
def test_an_old_bmv2_is_refused(printed: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Version 1.15.0, which is widely installed, serves priorities in reverse order."""
    write_program(tmp_path / "simple_switch", f"echo {printed}")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert expected.format(tmp_path) in str(find_bmv2())


def test_the_command_of_softswitch_is_not_bmv2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An activated environment has softswitch's simple_switch before BMv2's on the PATH."""
    own, bmv2 = tmp_path / "environment" / "bin", tmp_path / "bin"
    for folder, printed in ((own, "simple_switch: unrecognized arguments: --version"), (bmv2, "1.16.0")):
        folder.mkdir(parents=True)
        write_program(folder / "simple_switch", f"echo {printed}")
    monkeypatch.setattr("sys.prefix", str(own.parent))
    monkeypatch.setenv("PATH", os.pathsep.join(map(str, (own, bmv2))), prepend=os.pathsep)
    assert find_bmv2() == Installation("1.16.0", str(bmv2 / "simple_switch"))


def test_without_bmv2_a_run_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sfc_testbed.testbed.targets.bmv2.installation.shutil.which", lambda *_, **__: None)
    monkeypatch.setattr("sfc_testbed.testbed.targets.bmv2.container.missing_docker", lambda: "no Docker engine answers")
    monkeypatch.setattr(
        capabilities,
        "CAPABILITIES",
        [capability for capability in capabilities.CAPABILITIES if capability.needed_for == capabilities.BMV2_RUN],
    )
    with pytest.raises(
        UsageError, match="--switch bmv2 needs BMv2: no simple_switch on the PATH, and no Docker engine"
    ):
        capabilities.require("real", "bmv2")


def test_a_port_whose_link_goes_down_is_closed_and_stays_closed_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[SwitchSpec] = []
    anything, control = MagicMock(), MagicMock()
    spec = SwitchSpec("s1", 1, 9090, tmp_path / "p.json", {1: "s1-eth1", 2: "s1-eth2"}, tmp_path, tmp_path / "log")
    switch = Bmv2Switch(anything, spec, lambda new: started.append(new) or anything, anything)  # type: ignore[func-returns-value]
    switch._control, switch._set_up = control, anything
    for line in ("port_link 2 down", "port_link 2 down", "port_link 1 up"):
        switch.command(line)
    assert control.mock_calls == [call.close_port(2)]
    switch.command("port_link 2 up")
    assert control.mock_calls[1:] == [call.open_port(2, "s1-eth2")]
    with pytest.raises(CommandError, match=r"port_link PORT up\|down"):
        switch.command("port_link 3 down")
    monkeypatch.setattr(switch, "set_up", lambda *_: setattr(switch, "_control", control))
    switch.start_again(["port_link 2 down", "port_link 1 down", "table_clear t", "port_link 1 up"])
    assert [word for word in started[-1].arguments() if "eth" in word] == ["1@s1-eth1"]
    assert control.mock_calls[2:] == [call.command("table_clear t")]


def _stopped(*held: int) -> Bmv2Switch:
    """Return a stopped switch whose buffer had these levels one after the other."""
    anything = MagicMock(failure=None)
    switch = Bmv2Switch(anything, cast(Any, SimpleNamespace(name="s1")), lambda spec: anything, anything)
    switch._control, switch._poller = MagicMock(), anything
    switch._control.command.side_effect = [f"buffer_bytes[0]= {level}" for level in held]
    switch.stop()
    assert {made.args for made in switch._control.command.mock_calls} == {("register_read buffer_bytes 0",)}
    return switch


@pytest.mark.parametrize(
    ("held", "ghosts"),
    [((0,), 0), ((62, 0), 0), ((2116, 2116), 2116)],
    ids=["nothing is left", "the last probe passed", "bytes that BMv2 dropped"],
)
def test_bytes_still_counted_at_rest_are_a_loss_of_bmv2(held: tuple[int, ...], ghosts: int) -> None:
    """Ghost bytes are counted at the end although the queues are empty, and no queue of BMv2 can be paused."""
    assert _stopped(*held).ghost_bytes == ghosts


def test_the_notes_name_the_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bmv2_target, "find_bmv2", lambda: Installation(version="1.15.5", path="simple_switch"))
    monkeypatch.setattr(bmv2_target, "missing_netem", lambda delays_ns: None)
    target = Bmv2Target(plan_run(RunSpec("incast", switch="bmv2")), tmp_path, tmp_path)
    target._switches.append(_stopped(2116, 2116))
    assert [note for note in target.notes() if "2116" in note] == [
        "s1 still counts 2116 bytes in its queues: BMv2 itself lost packets that it had let in."
    ]
