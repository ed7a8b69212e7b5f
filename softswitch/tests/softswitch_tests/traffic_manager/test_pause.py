# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of pause frames, which are decoded below the pipeline."""

import struct

import pytest

from softswitch.engine import SwitchEngine
from softswitch_tests.programs.steered import steer

RATE_BPS = 8_000_000_000
QUANTUM_NS = 512 * 1_000_000_000 // RATE_BPS


def priority_pause(quanta: dict[int, int]) -> bytes:
    """Return an 802.1Qbb frame with quanta by class."""
    enabled = sum(1 << class_ for class_ in quanta)
    times = struct.pack(">8H", *(quanta.get(class_, 0) for class_ in range(8)))
    return bytes.fromhex("0180c2000001 020000000001 8808 0101") + struct.pack(">H", enabled) + times + bytes(26)


def pause(quanta: int) -> bytes:
    return bytes.fromhex("0180c2000001 020000000001 8808 0001") + struct.pack(">H", quanta) + bytes(42)


@pytest.fixture
def wire(engine: SwitchEngine) -> SwitchEngine:
    """Yield a switch whose port 1 sends one byte per nanosecond."""
    engine.command(f"port_rate 1 {RATE_BPS}")
    return engine


def test_paused_class_waits_for_its_quanta(wire: SwitchEngine) -> None:
    """A quantum is 512 bit times at the port's rate; other classes go on."""
    assert wire.step(1, priority_pause({3: 100}), 0) == []
    wire.receive(0, steer(1, 1000, class_=3, tag=1), 0)
    wire.receive(0, steer(1, 1000, class_=0, tag=2), 0)
    assert [(f[-1], due) for _, due, f in wire.advance(100_000)] == [(2, 1_000), (1, 100 * QUANTUM_NS + 1_000)]


def test_packet_on_the_wire_is_finished(wire: SwitchEngine) -> None:
    for tag in (1, 2):
        wire.receive(0, steer(1, 1000, class_=3, tag=tag), 0)
    assert [due for _, due, _ in wire.advance(0)] == [1_000]
    wire.receive(1, priority_pause({3: 100}), 500)
    assert [due for _, due, _ in wire.advance(100_000)] == [500 + 100 * QUANTUM_NS + 1_000]


@pytest.mark.parametrize(("quanta", "at_ns", "due_ns"), [(10, 0, 10 * QUANTUM_NS + 1_000), (0, 4_000, 5_000)])
def test_later_pause_replaces_the_earlier(wire: SwitchEngine, quanta: int, at_ns: int, due_ns: int) -> None:
    """Zero quanta resume the class."""
    wire.step(1, priority_pause({3: 1000}), 0)
    wire.receive(0, steer(1, 1000, class_=3), 0)
    wire.receive(1, priority_pause({3: quanta}), at_ns)
    assert [due for _, due, _ in wire.advance(100_000)] == [due_ns]


def test_plain_pause_holds_all_classes(wire: SwitchEngine) -> None:
    """802.3x has no classes."""
    wire.step(1, pause(10), 0)
    for class_ in (0, 7):
        wire.receive(0, steer(1, 1000, class_=class_, tag=class_), 0)
    assert [(f[-1], due) for _, due, f in wire.advance(100_000)] == [
        (7, 10 * QUANTUM_NS + 1_000),
        (0, 10 * QUANTUM_NS + 2_000),
    ]


def test_pause_frames_are_counted_and_never_forwarded(wire: SwitchEngine) -> None:
    """The MAC also consumes other and truncated MAC control frames."""
    wire.step(1, priority_pause({3: 1}), 0)
    wire.step(1, pause(1), 0)
    wire.step(1, priority_pause({3: 1})[:20], 0)
    wire.step(1, bytes.fromhex("0180c2000001 020000000001 8808"), 0)
    statistics = wire.statistics()
    assert (statistics["pause_frames"], statistics["mac_control_ignored"], statistics["tx_packets"]) == (2, 2, 0)
    assert statistics["drops"]["ingress"] == 0


def test_mac_control_can_be_left_to_the_program(wire: SwitchEngine) -> None:
    """A pause frame then enters the pipeline like any frame (its address selects class 0xC2 here)."""
    wire.command("port_mac_control 1 off")
    wire.step(1, priority_pause({3: 1}), 0)
    statistics = wire.statistics()
    assert (statistics["pause_frames"], statistics["drops"]["bad_destination"]) == (0, 1)


def test_pause_is_per_port(wire: SwitchEngine) -> None:
    wire.receive(1, priority_pause({0: 100}), 0)
    assert [port for port, _, _ in wire.step(0, steer(2), 0)] == [2]
