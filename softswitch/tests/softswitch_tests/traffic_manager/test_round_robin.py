# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of classes with several queues: turns by bytes, pauses of single queues, and depths."""

from collections import Counter

import pytest

from softswitch.engine import SwitchEngine
from softswitch_tests.programs import steered
from softswitch_tests.programs.steered import steer
from softswitch_tests.traffic_manager.test_pause import QUANTUM_NS, RATE_BPS, priority_pause

UNIT_NS = 64 * QUANTUM_NS
CLASS = 3


def pause_queue(queue: int, units: int, *, class_: int = CLASS) -> bytes:
    """Return the MAC control frame that pauses one queue of a class."""
    fields = bytes([0x5A, 0xFC, 0xBF, class_, queue]) + units.to_bytes(2, "big")
    return bytes.fromhex("0180c2000001 020000000001 8808 fffe") + fields.ljust(44, b"\0")


@pytest.fixture
def wire(engine: SwitchEngine) -> SwitchEngine:
    """Yield a switch whose port 1 sends one byte per nanosecond and has four queues in class 3."""
    engine.command(f"port_rate 1 {RATE_BPS}")
    engine.command(f"port_queues 1 {CLASS} 4 1500")
    return engine


def departures(switch: SwitchEngine, until_ns: int) -> list[tuple[int, int]]:
    """Return the (tag, size) of the frames that leave by a time."""
    return [(frame[-1], len(frame)) for _, _, frame in switch.advance(until_ns)]


def test_queues_share_the_wire_by_bytes(wire: SwitchEngine) -> None:
    """Queues with frames of 1500, 500 and 100 bytes get the same share of the bytes, not of the frames."""
    sizes = {0: 1500, 1: 500, 2: 100}
    for queue, size in sizes.items():
        for _ in range(60_000 // size):
            wire.receive(0, steer(1, size, class_=CLASS, queue=queue, tag=queue), 0)
    shares = Counter[int]()
    for tag, size in departures(wire, 90_000):
        shares[tag] += size
    assert max(shares.values()) - min(shares.values()) <= 1500
    assert sum(shares.values()) >= 90_000


def test_queue_that_was_empty_gets_no_second_turn(wire: SwitchEngine) -> None:
    """A flow of single frames, each sent before the next arrives, does not overtake a queue that waits."""
    for _ in range(3):
        wire.receive(0, steer(1, 1500, class_=CLASS, queue=2, tag=2), 0)
    wire.receive(0, steer(1, 1500, class_=CLASS, queue=1, tag=1), 0)
    order = [tag for tag, _ in departures(wire, 1_400)]
    wire.receive(0, steer(1, 1500, class_=CLASS, queue=1, tag=1), 1_450)
    order += [tag for tag, _ in departures(wire, 100_000)]
    assert order == [2, 1, 2, 1, 2] or order == [1, 2, 1, 2, 2]


def test_frame_longer_than_the_quantum_waits_for_several_turns(engine: SwitchEngine) -> None:
    engine.command(f"port_rate 1 {RATE_BPS}")
    engine.command(f"port_queues 1 {CLASS} 2 500")
    engine.receive(0, steer(1, 1500, class_=7, tag=7), 0)
    for queue, size, frames in ((0, 1500, 2), (1, 500, 6)):
        for _ in range(frames):
            engine.receive(0, steer(1, size, class_=CLASS, queue=queue, tag=queue), 0)
    assert [tag for tag, _ in departures(engine, 100_000)] == [7, 1, 1, 0, 1, 1, 1, 0, 1]


def test_paused_queue_waits_and_others_go_on(wire: SwitchEngine) -> None:
    wire.step(1, pause_queue(1, 100), 0)
    for queue in (1, 2):
        wire.receive(0, steer(1, 1000, class_=CLASS, queue=queue, tag=queue), 0)
    wire.receive(0, steer(1, 1000, class_=0, tag=7), 0)
    assert [(frame[-1], due) for _, due, frame in wire.advance(1_000_000)] == [
        (2, 1_000),
        (7, 2_000),
        (1, 100 * UNIT_NS + 1_000),
    ]


def test_resume_ends_the_pause_of_its_queue_only(wire: SwitchEngine) -> None:
    for queue in (0, 3):
        wire.step(1, pause_queue(queue, 1000), 0)
        wire.receive(0, steer(1, 1000, class_=CLASS, queue=queue, tag=queue), 0)
    wire.receive(1, pause_queue(3, 0), 4_000)
    assert [(frame[-1], due) for _, due, frame in wire.advance(9_000_000)] == [
        (3, 5_000),
        (0, 1000 * UNIT_NS + 1_000),
    ]


def test_pause_of_the_class_holds_all_its_queues(wire: SwitchEngine) -> None:
    wire.step(1, priority_pause({CLASS: 100}), 0)
    wire.receive(0, steer(1, 1000, class_=CLASS, queue=2), 0)
    assert [due for _, due, _ in wire.advance(100_000)] == [100 * QUANTUM_NS + 1_000]


def test_pause_of_queue_0_reaches_a_class_with_one_queue(engine: SwitchEngine) -> None:
    engine.command(f"port_rate 1 {RATE_BPS}")
    engine.step(1, pause_queue(0, 100), 0)
    engine.step(1, pause_queue(1, 1000), 0)
    engine.receive(0, steer(1, 1000, class_=CLASS), 0)
    assert [due for _, due, _ in engine.advance(1_000_000)] == [100 * UNIT_NS + 1_000]


def test_pause_of_a_queue_is_counted_and_left_to_the_program(wire: SwitchEngine) -> None:
    """The program sees the frame (its address selects class 0xC2 here), unlike other MAC control frames."""
    wire.step(1, pause_queue(1, 10), 0)
    wire.step(1, pause_queue(1, 10)[:20], 0)
    wire.step(1, pause_queue(1, 10, class_=8), 0)
    statistics = wire.statistics()
    assert (statistics["pause_frames"], statistics["mac_control_ignored"]) == (1, 2)
    assert statistics["drops"]["bad_destination"] == 1


def test_depths_of_queues_follow_that_of_their_class() -> None:
    with SwitchEngine(steered.library(), sample_ns=1_000) as engine:
        engine.command(f"port_queues 1 {CLASS} 128 1500")
        engine.command(f"port_rate 1 {RATE_BPS}")
        engine.step(1, pause_queue(127, 1_000), 0)
        engine.receive(0, steer(1, 300, class_=CLASS, queue=127), 100)
        engine.receive(0, steer(1, 200, class_=CLASS, queue=0), 200)
        engine.receive(0, steer(1, 700, class_=CLASS, queue=0), 300)
        engine.advance(1_000)
        rows = [tuple(row.tolist()) for row in engine.telemetry()]
    assert rows == [
        (1_000, 1, CLASS, 0, 300, 1_000),
        (1_000, 1, CLASS, 1, 0, 700),
        (1_000, 1, CLASS, 128, 300, 300),
        (1_000, -1, -1, -1, 300, 1_000),
    ]


def test_frames_that_wait_stay_in_their_queues_when_the_number_changes(wire: SwitchEngine) -> None:
    for queue in (0, 1, 2):
        wire.receive(0, steer(1, 1000, class_=CLASS, queue=queue, tag=queue), 0)
    wire.advance(0)
    wire.command(f"port_queues 1 {CLASS} 1 1500")
    wire.receive(0, steer(1, 1000, class_=CLASS, queue=1, tag=9), 10)
    assert [tag for tag, _ in departures(wire, 100_000)] == [1, 2, 9]
    assert wire.statistics()["queued_packets"] == 0


def test_settings_of_a_port_repeat_its_queues(wire: SwitchEngine) -> None:
    assert f"port_queues 1 {CLASS} 4 1500" in wire.command("show_port_settings").splitlines()
