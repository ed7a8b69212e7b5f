# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The journal of a session's messages and signals, and the changes repeated on a restarted switch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import pytest

from sfc_testbed.hosts.protocol import FlowReceived, FlowSent
from sfc_testbed.scenarios.model.flow import Flow
from sfc_testbed.telemetry.figures import ReceiverFigures, SenderFigures
from sfc_testbed.testbed.errors import RunError, UsageError
from sfc_testbed.testbed.live.session.control import ControlledSwitch, SwitchEnded
from sfc_testbed.testbed.live.session.journal import Journal, Message
from sfc_testbed.testbed.targets.common.target import RunningSwitch
from tests.hosts.test_protocol import SIGNAL

INTACT, CORRUPTED = ReceiverFigures(corrupted=False), ReceiverFigures(corrupted=True)


def _message(number: int) -> Message:
    return Message(Flow("h1", "h2", 1000, 5_000, "prompt", number, number, number), ideal_us=2.0)


def test_a_message_is_done_when_both_ends_say_so() -> None:
    journal = Journal()
    first, second = _message(1), _message(2)
    journal.add([first, second])
    journal.take([FlowSent(1, 15.0, SenderFigures(packets_sent=1, paused_us=0.5))])
    assert not first.is_done
    journal.take([FlowSent(2, None, SenderFigures(paused_us=0.5)), FlowReceived(2, INTACT)])  # cut off by its agent
    assert not second.is_done
    assert not journal.wait([first], seconds=0)
    journal.take([FlowReceived(1, INTACT), FlowReceived(9, CORRUPTED)])
    assert journal.wait([first], seconds=0)
    assert (first.fct_us, first.slowdown) == (10.0, 5.0)
    assert (second.fct_us, second.slowdown) == (None, None)


def test_messages_that_a_scenario_cuts_short_are_not_forgotten() -> None:
    journal = Journal()
    first, second = _message(1), _message(2)
    journal.add([first, second])
    journal.take([FlowSent(1, 15.0, SenderFigures(packets_sent=1, paused_us=0.5)), FlowReceived(1, INTACT)])
    assert journal.unfinished() == [second]
    journal.begin_anew()
    assert journal.messages() == [first, second]
    assert (first.is_abandoned, second.is_abandoned) == (False, True)
    assert journal.unfinished() == []
    later = _message(3)
    journal.add([later])
    assert journal.unfinished() == [later]


def test_each_caller_follows_signals_from_its_own_position() -> None:
    journal = Journal()
    journal.take([SIGNAL, SIGNAL])
    count, signals = journal.signals_since(0)
    assert (count, len(signals)) == (2, 2)
    assert journal.signals_since(count) == (2, [])
    journal.take([SIGNAL])
    assert journal.signals_since(count) == (3, [SIGNAL])


def test_a_failure_ends_all_waiting() -> None:
    journal = Journal()
    message = _message(1)
    journal.add([message])
    journal.fail("agent1 has ended")
    assert not journal.wait([message], seconds=3600)


class _Switch:
    """A fake switch that records its commands; a restart clears them."""

    name = "tor1"

    def __init__(self) -> None:
        self.executed: list[str] = []
        self.has_ended = False
        self.halts = 0

    def obituary(self) -> str:
        return "tor1 was ended by SIGKILL"

    def command(self, line: str) -> str:
        if self.has_ended:
            raise RunError("broken pipe")
        if "wrong" in line:
            raise ValueError(line)
        self.executed.append(line)
        return ""

    def halt(self) -> None:
        self.halts += 1
        self.executed.clear()
        self.has_ended = True

    def start_again(self, changes: Sequence[str]) -> None:
        assert self.halts
        self.has_ended = False
        self.executed += changes


def test_a_restarted_switch_gets_its_changes_again() -> None:
    """Accepted commands that changed something are repeated in order; reading commands are not."""
    switch = _Switch()
    controlled = ControlledSwitch(cast(RunningSwitch, switch))
    lines = [
        "port_rate 1 5",
        "register_read a 1",
        "table_dump t",
        "table_clear t",
        "counter_read c 0",
        "help",
        "show_tables",
    ]
    for line in lines:
        controlled.command(line)
    with pytest.raises(ValueError, match="wrong"):
        controlled.command("table_add wrong")
    controlled.halt()
    with pytest.raises(UsageError, match="tor1 is stopped; `switch tor1 start` starts it again"):
        controlled.command("help")
    controlled.start_again()
    assert switch.executed == ["port_rate 1 5", "table_clear t"]
    with pytest.raises(UsageError, match="tor1 runs already"):
        controlled.start_again()


def test_a_switch_that_was_killed_can_be_started_again() -> None:
    switch = _Switch()
    controlled = ControlledSwitch(cast(RunningSwitch, switch))
    controlled.command("table_clear t")
    switch.has_ended = True
    assert (controlled.is_up, controlled.state) == (False, "tor1 was ended by SIGKILL")
    with pytest.raises(SwitchEnded, match="tor1 was ended by SIGKILL"):
        controlled.command("help")
    controlled.start_again()
    assert (controlled.is_up, switch.halts, switch.executed) == (True, 1, ["table_clear t"])


def test_a_switch_that_failed_to_start_can_be_started_again() -> None:
    switch = _Switch()
    controlled = ControlledSwitch(cast(RunningSwitch, switch))
    controlled.halt()
    switch.start_again = _refuse  # type: ignore[method-assign]
    with pytest.raises(RunError, match="no socket"):
        controlled.start_again()
    del switch.start_again
    assert (controlled.is_up, switch.halts) == (False, 2)
    controlled.start_again()
    assert controlled.is_up


def _refuse(changes: Sequence[str]) -> None:
    raise RunError("no socket")
