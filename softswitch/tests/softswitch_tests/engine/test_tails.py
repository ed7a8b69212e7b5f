# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of frames whose last bytes are described by a tail instead of stored."""

import random
from typing import Any

import pytest

from softswitch.engine import ENTRY, EdgeDeparture, Fabric, SwitchEngine
from softswitch_tests.programs.steered import Op, library, steer

EDGE, CLONE, FAR_END = 9, 5, 7
"""A frame for port EDGE crosses a link to port FAR_END of the second switch, and leaves that switch by port EDGE."""
STORED_BEHIND = 4
BLOCK = random.Random(1).randbytes(4_000)


def outcome(described_bytes: int, **steering: Any) -> tuple[list[EdgeDeparture], list[dict[str, Any]]]:
    """Send a frame of 1000 bytes through two switches, with its last bytes described and not stored.

    Return the departures and both switches' statistics.
    """
    fabric, engines = Fabric(), (SwitchEngine(library()), SwitchEngine(library()))
    fabric.connect(engines[0], EDGE, engines[1], FAR_END)
    fabric.set_block(BLOCK)
    for engine in engines:
        engine.command(f"mirroring_add 1 {CLONE}")
        engine.command(f"port_rate {EDGE} 8000000000")
    fabric.watch(1, EDGE)
    body = steer(EDGE, 1_000, second=EDGE, **steering)[:-900] + BLOCK[123 : 123 + 900]
    cut = len(body) - STORED_BEHIND - described_bytes
    start = 123 + 900 - STORED_BEHIND - described_bytes
    stored = body[:cut] + body[len(body) - STORED_BEHIND :]
    tail = start | described_bytes << 32 | STORED_BEHIND << 48 if described_bytes else 0
    with fabric:
        fabric.put(ENTRY.pack(10, 0, 1, len(stored), tail), stored)
        departures = fabric.advance(1_000_000)
        assert [frame for *_, frame in fabric.seen()] == [frame for _, port, _, frame in departures if port == EDGE]
        return departures, [engine.statistics() for engine in engines]


@pytest.mark.parametrize(
    "steering",
    [
        {},
        {"ops": Op.CLONE_INGRESS, "session": 1},
        {"ops": Op.CLONE_EGRESS, "session": 1},
        {"ops": Op.RESUBMIT},
        {"ops": Op.RECIRCULATE},
        *({"ops": Op.TRUNCATE_EGRESS, "truncate": size} for size in (50, 200, 998)),
        *({"ops": Op.TRUNCATE_INGRESS | Op.CLONE_INGRESS, "truncate": size, "session": 1} for size in (50, 200, 998)),
    ],
)
@pytest.mark.parametrize("described_bytes", [1, 700, 896], ids=lambda count: f"{count} described")
def test_described_bytes_change_nothing(steering: dict[str, Any], described_bytes: int) -> None:
    assert outcome(described_bytes, **steering) == outcome(0, **steering)


def test_bytes_that_a_program_reads_are_copied_from_the_block() -> None:
    """The program reads 66 bytes; here the tail begins at byte 40."""
    frame = steer(EDGE, 1_000)
    fabric, engine = Fabric(), SwitchEngine(library())
    fabric.add(engine)
    fabric.set_block(frame)
    with fabric:
        assert fabric.reach_bytes() == 66
        fabric.put(ENTRY.pack(10, 0, 1, 44, 40 | 956 << 32 | 4 << 48), frame[:40] + frame[-4:])
        fabric.receive(0, 1, frame, 10)
        (*_, first), (*_, second) = fabric.advance(1_000_000)
        assert first == second


@pytest.mark.parametrize(
    "tail",
    [
        pytest.param(1 << 32, id="outside the empty block"),
        pytest.param(101 << 48, id="behind more bytes than are stored"),
    ],
)
def test_a_tail_that_does_not_fit_is_refused(tail: int) -> None:
    fabric, engine = Fabric(), SwitchEngine(library())
    fabric.add(engine)
    with fabric, pytest.raises(ValueError, match="do not fit"):
        fabric.put(ENTRY.pack(10, 0, 1, 100, tail), steer(EDGE, 100))
