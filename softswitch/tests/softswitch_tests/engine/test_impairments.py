# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of links that lose, damage, duplicate, delay and reorder frames."""

import struct
from itertools import pairwise

import pytest

from softswitch.engine import Fabric, SwitchEngine
from softswitch_tests.pipeline.harness import drops_of
from softswitch_tests.pipeline.test_l3 import ipv4_frame
from softswitch_tests.programs import steered
from softswitch_tests.programs.steered import steer

FRAMES = 1000
BYTES = 100
WIRE_NS = 100
"""The transmission time of a frame at 8 Gb/s; frames are sent back to back."""
DIRECTIONS = ("out 1", "in 0")


def _impair(engine: SwitchEngine, place: str, words: str) -> None:
    direction, port = place.split()
    engine.command(f"port_impair {port} {direction} {words}")


def _through(engine: SwitchEngine, rate_bps: int = 8_000_000_000) -> list[tuple[int, int]]:
    """Send FRAMES numbered frames through the switch; return (due time, number) of each departure."""
    for port in (0, 1):
        engine.command(f"port_rate {port} {rate_bps}")
    for number in range(FRAMES):
        frame = steer(1, BYTES)
        engine.receive(0, frame[:-2] + number.to_bytes(2, "big"), number * WIRE_NS)
    departures = engine.advance(100 * FRAMES * WIRE_NS)
    return sorted((due_ns, int.from_bytes(frame[-2:], "big")) for _, due_ns, frame in departures)


def _numbers(engine: SwitchEngine) -> list[int]:
    return [number for _, number in _through(engine)]


@pytest.mark.parametrize("place", DIRECTIONS)
@pytest.mark.parametrize(("kind", "reason"), [("loss", "link_loss"), ("corrupt", "link_corrupted")])
def test_share_of_the_frames_is_lost_on_the_link(engine: SwitchEngine, place: str, kind: str, reason: str) -> None:
    _impair(engine, place, f"{kind} rate_ppb=100000000 seed=1")
    arrived = _through(engine)
    assert 0.05 * FRAMES < FRAMES - len(arrived) < 0.15 * FRAMES
    assert all(due_ns == (number + 1) * WIRE_NS for due_ns, number in arrived)
    assert drops_of(engine) == {reason: FRAMES - len(arrived)}


@pytest.mark.parametrize("place", DIRECTIONS)
def test_share_of_the_frames_is_duplicated(engine: SwitchEngine, place: str) -> None:
    """The link makes the copy: it follows its original and takes no time on the port."""
    _impair(engine, place, "duplicate rate_ppb=100000000 seed=1")
    numbers = _numbers(engine)
    statistics = engine.statistics()
    assert 0.05 * FRAMES < statistics["duplicated"] == len(numbers) - FRAMES < 0.15 * FRAMES
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(FRAMES))
    assert sum(statistics["drops"].values()) == 0
    received, sent = statistics["ports"]["0"]["rx_packets"], statistics["ports"]["1"]["tx_packets"]
    assert (received, sent) == (len(numbers) if place == "in 0" else FRAMES, len(numbers))


@pytest.mark.parametrize("place", DIRECTIONS)
def test_jitter_keeps_order_and_the_rate_of_the_wire(engine: SwitchEngine, place: str) -> None:
    most_ns = 777
    _impair(engine, place, f"jitter rate_ppb=1000000000 time_ns={most_ns} seed=1")
    arrived = _through(engine)
    assert [number for _, number in arrived] == list(range(FRAMES))
    late_ns = [due_ns - (number + 1) * WIRE_NS for due_ns, number in arrived]
    assert min(late_ns) >= 0
    assert 0.9 * most_ns < max(late_ns) <= most_ns
    times = [due_ns for due_ns, _ in arrived]
    assert min(later - earlier for earlier, later in pairwise(times)) >= WIRE_NS


def test_jitter_of_distant_frames_is_uniform(engine: SwitchEngine) -> None:
    _impair(engine, "out 1", "jitter rate_ppb=1000000000 time_ns=400 seed=1")
    for number in range(FRAMES):
        engine.receive(0, steer(1, BYTES), 1_000 * number)
    late_ns = [due_ns % 1_000 for _, due_ns, _ in engine.advance(1_000 * FRAMES)]
    quarters = [sum(low <= delay_ns < low + 100 for delay_ns in late_ns) for low in (0, 100, 200, 300)]
    assert min(quarters) > 0.2 * FRAMES
    assert (min(late_ns) < 5, max(late_ns) > 395, max(late_ns) <= 400) == (True, True, True)


@pytest.mark.parametrize("place", DIRECTIONS)
def test_frames_delayed_by_jitter_are_not_overtaken_after_its_end(engine: SwitchEngine, place: str) -> None:
    direction, port = place.split()
    _impair(engine, place, "jitter rate_ppb=1000000000 time_ns=5000 seed=1")
    engine.command(f"at {FRAMES // 2 * WIRE_NS} port_impair {port} {direction} jitter off")
    assert _numbers(engine) == list(range(FRAMES))


@pytest.mark.parametrize("place", DIRECTIONS)
def test_share_of_the_frames_is_reordered(engine: SwitchEngine, place: str) -> None:
    _impair(engine, place, "reorder rate_ppb=100000000 time_ns=450 seed=1")
    arrived = _through(engine, rate_bps=0)
    held = [due_ns - number * WIRE_NS for due_ns, number in arrived if due_ns != number * WIRE_NS]
    assert 0.05 * FRAMES < len(held) < 0.15 * FRAMES
    assert set(held) == {450}
    assert sorted(number for _, number in arrived) == list(range(FRAMES))


def test_udp_loss_affects_only_one_port(engine: SwitchEngine) -> None:
    """UDP over IPv4 to that port is lost, but not similar or truncated frames."""
    _impair(engine, "in 0", "udp_loss rate_ppb=1000000000 udp_port=1674 seed=1")
    lost = _datagram(1674)
    tcp = lost[: 14 + 9] + bytes([6]) + lost[14 + 10 :]
    for frame in (_datagram(4791), tcp, lost[:36], lost[:14], b"\x02" * 14, lost):
        engine.receive(0, frame, 0)
    engine.advance(1)
    statistics = engine.statistics()
    assert (statistics["drops"]["link_udp_loss"], statistics["rx_packets"]) == (1, 6)
    assert statistics["drops"]["link_loss"] == 0


def _datagram(port: int) -> bytes:
    return ipv4_frame(2, payload=struct.pack(">HHHH", 1, port, 8, 0))


def test_impairment_applies_at_the_time_of_arrival(engine: SwitchEngine) -> None:
    """The time of arrival counts, not the time at which the frame was handed over."""
    engine.command("port_ingress_delay 0 100")
    engine.command("at 150 port_impair 0 in loss rate_ppb=1000000000 seed=1")
    engine.command("at 350 port_impair 0 in loss off")
    for number in range(5):
        engine.receive(0, steer(1, tag=number), 100 * number)
    assert [(due_ns, frame[-1]) for _, due_ns, frame in engine.advance(1_000)] == [(100, 0), (400, 3), (500, 4)]


def test_equal_seeds_affect_the_same_frames(engine: SwitchEngine) -> None:
    """Other kinds of impairment do not change which frames a seed affects."""
    _impair(engine, "out 1", "loss rate_ppb=100000000 seed=5")
    first = _numbers(engine)
    for words, same in (("seed=5", True), ("seed=6", False)):
        with SwitchEngine(steered.library()) as other:
            _impair(other, "out 1", f"loss rate_ppb=100000000 {words}")
            _impair(other, "in 0", "jitter rate_ppb=500000000 time_ns=300 seed=5")
            _impair(other, "out 1", "duplicate rate_ppb=500000000 seed=5")
            assert (sorted(set(_numbers(other))) == first) is same


def test_an_impairment_ends(engine: SwitchEngine) -> None:
    _impair(engine, "out 1", "loss rate_ppb=1000000000 seed=1")
    engine.command("at 20000 port_impair 1 in loss off")
    engine.command("at 30000 port_impair 2 out loss off")
    engine.command("at 40000 port_impair 1 out duplicate off")
    engine.command("at 50000 port_impair 1 out loss off")
    assert _numbers(engine) == list(range(500, FRAMES))
    assert engine.statistics()["planned_failed"] == 0


def test_duplicate_without_memory_is_skipped(engine: SwitchEngine) -> None:
    _impair(engine, "out 1", "duplicate rate_ppb=1000000000 seed=1")
    engine.receive(0, steer(1, BYTES), 0)
    engine.command("memory_limit 1")
    assert len(engine.advance(10)) == 1
    assert engine.statistics()["duplicated"] == 0


def test_links_between_switches_are_impaired_by_their_sender() -> None:
    with Fabric() as fabric:
        a, b = (SwitchEngine(steered.library()) for _ in range(2))
        fabric.connect(a, 1, b, 2)
        a.command("port_impair 1 out reorder rate_ppb=500000000 time_ns=250 seed=1")
        for number in range(20):
            fabric.receive(0, 0, steer(1, BYTES)[:-1] + bytes([number]), number * WIRE_NS)
        numbers = [frame[-1] for _, _, _, frame in fabric.advance(100 * WIRE_NS)]
        assert numbers != sorted(numbers) == list(range(20))
        assert (b.statistics()["rx_packets"], sum(a.statistics()["drops"].values())) == (20, 0)
