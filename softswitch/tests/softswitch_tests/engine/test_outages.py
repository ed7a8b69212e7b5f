# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a switch that loses its power or is stalled: every packet ends exactly once, with its own drop reason."""

import pytest

from softswitch.engine import CommandError, Departure, Fabric, SwitchEngine
from softswitch_tests.pipeline.harness import drops_of
from softswitch_tests.programs import steered
from softswitch_tests.programs.steered import Op, steer
from softswitch_tests.traffic_manager.test_pause import priority_pause

PROGRAM = "stateful"
"""A program with registers, direct counters and meters, for the tests of what a switch keeps."""
_FRAME_BYTES = 1_000
_FRAME_NS = 1_000


@pytest.fixture
def slow(engine: SwitchEngine) -> SwitchEngine:
    """Yield a switch whose port 1 takes 1000 ns for a frame of 1000 bytes."""
    engine.command("port_rate 1 8000000000")
    return engine


def _queue(engine: SwitchEngine, *tags: int, now_ns: int = 0, class_: int = 0) -> list[Departure]:
    """Receive frames for port 1 that arrive at the same time; return the departures of that instant."""
    for tag in tags:
        engine.receive(0, steer(1, _FRAME_BYTES, tag=tag, class_=class_), now_ns)
    return engine.advance(now_ns)


def _tags(departures: list[Departure]) -> list[tuple[int, int]]:
    return [(frame[-1], due_ns) for _, due_ns, frame in departures]


def test_power_loss_drops_queued_frames(slow: SwitchEngine) -> None:
    """The frame on the wire is finished; the frames behind it are counted once each."""
    assert _tags(_queue(slow, 1, 2, 3)) == [(1, _FRAME_NS)]
    slow.command("at 500 power off")
    assert slow.advance(10_000) == []
    statistics = slow.statistics()
    assert drops_of(slow) == {"restart": 2}
    assert (statistics["queued_packets"], statistics["queued_bytes"], statistics["buffer_bytes"]) == (0, 0, 0)


def test_frames_that_reach_a_switch_without_power_are_lost(slow: SwitchEngine) -> None:
    """Pause frames are lost too. With power, forwarding goes on."""
    slow.command("at 0 power off")
    slow.command("at 2000 power on")
    _queue(slow, 1, now_ns=1_000)
    slow.receive(1, priority_pause({0: 65_535}), 1_500)
    assert slow.advance(1_999) == []
    assert (drops_of(slow), slow.statistics()["pause_frames"]) == ({"restart": 2}, 0)
    assert _tags(_queue(slow, 2, now_ns=2_000)) == [(2, 3_000)]


def test_power_loss_clears_pauses(slow: SwitchEngine) -> None:
    slow.step(1, priority_pause({0: 65_535}), 0)
    assert _queue(slow, 1) == []
    slow.commands(("at 1000 power off", "at 1000 power on"))
    assert _tags(_queue(slow, 2, now_ns=2_000)) == [(2, 3_000)]
    assert drops_of(slow) == {"restart": 1}


def test_frames_on_the_cable_are_lost_only_without_power_at_arrival(engine: SwitchEngine) -> None:
    engine.command("port_ingress_delay 0 1000")
    engine.receive(0, steer(2, tag=1), 0)
    engine.receive(0, steer(2, tag=2), 500)
    engine.command("at 800 power off")
    engine.command("at 1200 power on")
    assert [frame[-1] for _, _, frame in engine.advance(5_000)] == [2]
    assert drops_of(engine) == {"restart": 1}


def test_power_loss_resets_registers_but_keeps_tables(switch: SwitchEngine) -> None:
    assert switch.command("past") == "0"
    switch.command("register_write times 3 7")
    switch.command("table_add watched watch 2 =>")
    switch.command("meter_set_rates by_index 1 0.001:2 0.002:3")
    rates = switch.command("meter_get_rates by_index 1")
    switch.commands(("power off", "power on"))
    assert switch.command("register_read times 3") == "times[3]= 0"
    assert switch.command("table_num_entries watched") == "1"
    assert switch.command("meter_get_rates by_index 1") == rates
    assert switch.command("past") == "1"
    switch.command("power off")
    lives = [switch.command(f"past {life} register_read times 3") for life in range(2)]
    assert lives == ["times[3]= 7", "times[3]= 0"]


def test_stalled_switch_neither_receives_nor_sends(slow: SwitchEngine) -> None:
    _queue(slow, 1, 2)
    slow.command("at 500 stall on")
    slow.command("at 5000 stall off")
    _queue(slow, 3, now_ns=600)
    slow.receive(0, steer(2, tag=4), 4_000)
    assert slow.advance(4_999) == []
    assert slow.statistics()["queued_packets"] == 3
    assert _tags(slow.advance(20_000)) == [(2, 6_000), (4, 5_000), (3, 7_000)]
    assert (drops_of(slow), slow.statistics()["queued_packets"]) == ({}, 0)


def test_frames_keep_their_order_over_a_stall(engine: SwitchEngine) -> None:
    engine.command("at 100 stall on")
    engine.command("at 500 stall off")
    for tag, time_ns in ((1, 100), (2, 300), (3, 500), (4, 501)):
        engine.receive(0, steer(1, tag=tag), time_ns)
    assert _tags(engine.advance(1_000)) == [(1, 500), (2, 500), (3, 500), (4, 501)]


def test_recirculation_finishes_before_the_next_waiting_frame(engine: SwitchEngine) -> None:
    engine.command("stall on")
    engine.receive(0, steer(1, ops=Op.RECIRCULATE, second=2, tag=1), 10)
    engine.receive(0, steer(2, tag=2), 20)
    engine.command("at 100 stall off")
    assert [(port, frame[-1]) for port, _, frame in engine.advance(200)] == [(2, 1), (2, 2)]


def test_full_receive_ring_drops_frames(engine: SwitchEngine) -> None:
    engine.command("stall on 2")
    for time_ns in range(5):
        engine.receive(0, steer(1, tag=time_ns), time_ns)
    engine.receive(3, steer(1, tag=9), 7)
    engine.command("at 50 stall off")
    assert _tags(engine.advance(100)) == [(0, 50), (1, 50), (9, 50)]
    assert drops_of(engine) == {"receive_ring": 3}


def test_macs_obey_pauses_during_a_stall(slow: SwitchEngine) -> None:
    """Pause frames take no place in a ring, and the pause holds after the stall."""
    slow.command("stall on 0")
    slow.receive(1, priority_pause({0: 10}), 0)
    slow.command("at 100 stall off")
    slow.advance(100)
    assert _tags(_queue(slow, 1, now_ns=200) + slow.advance(5_000)) == [(1, 640 + _FRAME_NS)]
    assert (drops_of(slow), slow.statistics()["pause_frames"]) == ({}, 1)


def test_power_loss_drops_frames_in_receive_rings(engine: SwitchEngine) -> None:
    engine.command("stall on")
    engine.receive(0, steer(1, tag=1), 10)
    engine.commands(("at 20 power off", "at 20 power on"))
    engine.receive(0, steer(1, tag=2), 30)
    engine.command("at 40 stall off")
    assert _tags(engine.advance(50)) == [(2, 40)]
    assert drops_of(engine) == {"restart": 1}


def test_resuming_without_an_outage_has_no_effect(slow: SwitchEngine) -> None:
    slow.commands(("stall off", "power on"))
    assert _tags(_queue(slow, 1)) == [(1, _FRAME_NS)]


def test_neighbour_goes_on_during_a_stall() -> None:
    with Fabric() as fabric:
        a, b = (SwitchEngine(steered.library()) for _ in range(2))
        fabric.connect(a, 1, b, 0)
        b.command("at 100 stall on")
        b.command("at 900 stall off")
        fabric.receive(0, 0, steer(1, tag=1), 200)
        assert fabric.advance(899) == []
        assert b.statistics()["queued_packets"] == 1
        assert [(index, port, due_ns) for index, port, due_ns, _ in fabric.advance(2_000)] == [(1, 1, 900)]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("past 0", "too few"),
        ("past 0 frobnicate", "no such command"),
        ("past 0 register_write times 0 1", "only register_read and counter_read are possible"),
        ("past 0 register_read", "too few: register_read REGISTER"),
    ],
)
def test_past_state_is_read_only(switch: SwitchEngine, line: str, wrong: str) -> None:
    switch.command("power off")
    with pytest.raises(CommandError, match=wrong):
        switch.command(line)
