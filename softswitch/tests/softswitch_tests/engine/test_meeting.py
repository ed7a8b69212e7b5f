# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fabrics of several processes that exchange frames and notes through shared memory."""

import os
import time
from multiprocessing import get_context

import pytest

from softswitch.engine import Fabric, SwitchEngine
from softswitch.meeting import Meeting, NoRoom
from softswitch_tests.programs.steered import library, steer

_MEMBERS = 3
_ROUNDS = 200
_ROUND_NS = 1_000


def _fabric(mine: int) -> Fabric:
    """Return a switch whose port N leads to the member N, so that a frame for port N leaves the fabric there."""
    fabric = Fabric()
    fabric.add(SwitchEngine(library()))
    for other in range(_MEMBERS):
        if other != mine:
            fabric.lead(0, other, other, 0, mine)
    return fabric


def _frame(sender: int, receiver: int, number: int) -> bytes:
    return steer(receiver, 100 + number % 7, tag=10 * sender + receiver)


def _note(sender: int, number: int) -> bytes:
    return f"{sender} in round {number}".encode() * (1 + number % 5)


def _run_member(meeting: Meeting, mine: int) -> None:
    """Send a frame to each other member per round, and receive the frames of the round before."""
    meeting.join(mine)
    others = [other for other in range(_MEMBERS) if other != mine]
    with _fabric(mine) as fabric:
        for number in range(_ROUNDS):
            for other in others:
                fabric.receive(0, _MEMBERS, _frame(mine, other, number), number * _ROUND_NS)
            received = fabric.advance((number + 1) * _ROUND_NS - 1)
            assert [(frame[-1], len(frame)) for *_, frame in received] == [
                (frame[-1], len(frame)) for other in others if number for frame in [_frame(other, mine, number - 1)]
            ]
            meeting.send_frames(fabric)
            if number % 50 == mine:
                time.sleep(0.005)  # the others have to sleep, too
            meeting.send_note(_note(mine, number))
            meeting.receive_frames(fabric)
            assert meeting.receive_notes() == [_note(other, number) for other in others]
            assert not any(fabric.outgoing(other)[0] for other in others)
    assert meeting.waits()[1] > 0
    os._exit(0)


def test_members_exchange_frames_and_notes() -> None:
    meeting = Meeting(library(), _MEMBERS, 10_000)
    processes = [get_context("fork").Process(target=_run_member, args=(meeting, mine)) for mine in range(_MEMBERS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * _MEMBERS


def test_frames_and_notes_that_exceed_the_room_are_refused() -> None:
    meeting = Meeting(library(), 2, 100)
    meeting.join(0)
    with _fabric(0) as fabric, pytest.raises(NoRoom, match="do not fit into the 100 bytes between two members"):
        fabric.receive(0, _MEMBERS, steer(1, 200), 0)
        fabric.run(500)
        meeting.send_frames(fabric)
    with pytest.raises(NoRoom):
        meeting.send_note(bytes(101))
