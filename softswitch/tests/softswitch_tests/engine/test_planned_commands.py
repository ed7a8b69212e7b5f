# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of commands planned for a time, and of links that go down and up at such times."""

import pytest

from softswitch.engine import CommandError, Fabric, SwitchEngine
from softswitch_tests.programs import steered
from softswitch_tests.programs.steered import steer


def _times(engine: SwitchEngine, until_ns: int) -> list[int]:
    return [due_ns for _, due_ns, _ in engine.advance(until_ns)]


def test_planned_commands_of_one_instant_keep_their_order(engine: SwitchEngine) -> None:
    engine.command("at 700 port_delay 1 1")
    engine.command("at 900 port_delay 1 3")
    engine.command("at 700 port_delay 1 2")
    engine.receive(0, steer(1), 700)
    engine.receive(0, steer(1), 900)
    assert _times(engine, 1_000) == [702, 903]


def test_planned_time_in_the_past_means_now(engine: SwitchEngine) -> None:
    engine.advance(10_000)
    engine.command("at 3000 port_delay 1 7")
    engine.receive(0, steer(1), 11_000)
    assert _times(engine, 20_000) == [11_007]


def test_the_next_event_may_be_a_planned_command(engine: SwitchEngine) -> None:
    """A caller that sleeps until the next event must not miss a planned command."""
    assert engine.next_timer_ns() is None
    engine.command("at 3000 port_delay 1 7")
    assert engine.next_timer_ns() == 3_000
    engine.advance(3_000)
    assert engine.next_timer_ns() is None


def test_at_clear_removes_planned_commands(engine: SwitchEngine) -> None:
    engine.command("at 3000 port_delay 1 7")
    engine.command("at_clear")
    assert engine.next_timer_ns() is None
    engine.command("at 4000 port_delay 1 9")
    engine.receive(0, steer(1), 3_500)
    engine.receive(0, steer(1), 4_500)
    assert _times(engine, 5_000) == [3_500, 4_509]


def test_commands_run_up_to_the_first_wrong_one(engine: SwitchEngine) -> None:
    with pytest.raises(CommandError, match="no such command"):
        engine.commands(["at 700 port_delay 1 2", "frobnicate 1", "at 600 port_delay 1 3"])
    assert engine.next_timer_ns() == 700
    assert engine.commands(["port_delay 1 1", "past"]) == ["", "0"]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("at 5", "too few"),
        ("at soon port_delay 1 5", "time 'soon' is not a number"),
        ("at 5 frobnicate 1", "no such command"),
        ("at 5 port_delay 1", "too few: port_delay PORT NS"),
        ("at 5 at 6 statistics", "a planned command cannot plan another"),
        ("port_link 1 sideways", "'sideways' is neither 'up' nor 'down'"),
    ],
)
def test_bad_plans_are_refused_at_once(engine: SwitchEngine, line: str, wrong: str) -> None:
    with pytest.raises(CommandError, match=wrong):
        engine.command(line)
    assert engine.next_timer_ns() is None


def test_planned_command_refused_at_its_time_is_counted(engine: SwitchEngine) -> None:
    engine.command("at 100 port_link 510 down")
    engine.advance(99)
    assert engine.statistics()["planned_failed"] == 0
    engine.advance(100)
    assert engine.statistics()["planned_failed"] == 1


def test_dead_link_loses_frames_in_both_directions(engine: SwitchEngine) -> None:
    engine.command("port_link 1 down")
    engine.receive(0, steer(1), 0)
    engine.receive(1, steer(2), 10)
    engine.receive(0, steer(2), 20)
    assert [port for port, _, _ in engine.advance(100)] == [2]
    assert engine.statistics()["drops"]["link_down"] == 2
    engine.command("port_link 1 up")
    engine.receive(0, steer(1), 200)
    engine.receive(1, steer(2), 210)
    assert [port for port, _, _ in engine.advance(300)] == [1, 2]
    assert engine.statistics()["drops"]["link_down"] == 2


@pytest.mark.parametrize("fault", ["port_link 1 down", "port_impair 1 out loss rate_ppb=1000000000 seed=1"])
def test_lost_frames_take_time_on_the_wire(engine: SwitchEngine, fault: str) -> None:
    """The queue drains at the port's rate, so queue depths seen by a program stay correct."""
    engine.command("port_rate 1 8000000000")
    engine.command(fault)
    for _ in range(3):
        engine.receive(0, steer(1, 1000), 0)
    engine.advance(1_500)
    assert engine.statistics()["queued_packets"] == 1
    engine.advance(2_000)
    assert engine.statistics()["queued_packets"] == 0


def test_frames_under_way_are_lost_with_their_link() -> None:
    with Fabric() as fabric:
        a, b = (SwitchEngine(steered.library()) for _ in range(2))
        for engine in (a, b):
            engine.command("port_delay 1 1000")
            engine.command("at 500 port_link 1 down")
        fabric.connect(a, 1, b, 1)
        fabric.receive(0, 0, steer(1), 0)
        assert fabric.advance(5_000) == []
        assert (a.statistics()["drops"]["link_down"], b.statistics()["drops"]["link_down"]) == (0, 1)
