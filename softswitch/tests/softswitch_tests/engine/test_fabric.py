# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of switches joined by links in C."""

import random
import subprocess
import sys
import textwrap
from itertools import pairwise
from pathlib import Path

import pytest

from softswitch.engine import DEPARTURE, EdgeDeparture, Fabric, SwitchEngine
from softswitch_tests.programs.steered import Op, library, steer

LINK, EDGE = 9, 4
"""A frame for port EDGE leaves the fabric. A frame for port LINK crosses the link back and forth for ever."""


def pair(*, rate_bps: int = 8_000_000_000, delay_ns: int = 500) -> tuple[Fabric, SwitchEngine, SwitchEngine]:
    """Return a fabric of two switches joined by their LINK ports, and the switches."""
    engines = SwitchEngine(library()), SwitchEngine(library())
    fabric = Fabric()
    fabric.connect(engines[0], LINK, engines[1], LINK)
    for engine in engines:
        engine.command(f"port_rate {LINK} {rate_bps}")
        engine.command(f"port_delay {LINK} {delay_ns}")
    return fabric, *engines


def clones_to_edge(engine: SwitchEngine) -> None:
    engine.command(f"mirroring_add 1 {EDGE}")


def test_frame_crosses_the_link_in_wire_time_and_delay() -> None:
    fabric, _, far = pair()
    with fabric:
        clones_to_edge(far)
        far.command(f"port_ingress_delay {LINK} 70")
        fabric.receive(0, 1, steer(LINK, 1_000, ops=Op.CLONE_INGRESS, session=1), 10)
        [(engine, port, due_ns, _)] = fabric.advance(2_000)
        assert (engine, port, due_ns) == (1, EDGE, 10 + 1_000 + 500 + 70)


def test_advance_returns_departures_started_by_then() -> None:
    fabric, near, _ = pair()
    with fabric:
        near.command(f"port_rate {EDGE} 8000000000")
        near.command(f"port_delay {EDGE} 1000")
        for _ in range(50):
            fabric.receive(0, 1, steer(EDGE, 100), 0)
        assert [due for _, _, due, _ in fabric.advance(1_999)] == [1_100 + 100 * i for i in range(20)]
        assert fabric.next_timer_ns() == 2_000


@pytest.mark.parametrize("length", [70, 1_000, 9_000])
def test_link_equals_passing_frames_by_hand(length: int) -> None:
    """A link passes packets without copying; the result must equal passing frames between single switches."""
    first = frame = steer(LINK, length, ops=Op.CLONE_INGRESS, session=1)
    carried: list[EdgeDeparture] = []
    engines = SwitchEngine(library()), SwitchEngine(library())
    for engine in engines:
        clones_to_edge(engine)
        engine.command(f"port_delay {LINK} 500")
    port, now_ns = 1, 0
    for hop in range(6):
        place = hop % 2
        departed = engines[place].step(port, frame, now_ns)
        carried += [(place, *departure) for departure in departed if departure[0] == EDGE]
        [(port, now_ns, frame)] = [departure for departure in departed if departure[0] == LINK]
    fabric, near, far = pair(rate_bps=0)
    with fabric:
        clones_to_edge(near)
        clones_to_edge(far)
        fabric.receive(0, 1, first, 0)
        departures = [departure for hop in range(6) for departure in fabric.advance(500 * hop)]
    assert len(departures) == 6
    assert departures == carried


def in_another_process(script: str) -> str:
    return subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout


def huge_areas() -> int:
    """Return the number of memory areas of this process that request huge pages."""
    flags = [line for line in Path("/proc/self/smaps").read_text().splitlines() if line.startswith("VmFlags")]
    return sum(" hg" in line for line in flags)


def deep_queue(alone: bool) -> None:
    """Queue some 14 MB of packets for one wire, in a single switch or in a switch of a fabric."""
    fabric, near, _ = pair()
    engine = SwitchEngine(library()) if alone else near
    engine.command(f"port_rate {EDGE} 1000")
    for _ in range(4_000):
        if alone:
            engine.receive(1, steer(EDGE, 1_000), 0)
        else:
            fabric.receive(0, 1, steer(EDGE, 1_000), 0)
    if not alone:
        fabric.advance(0)


def test_only_a_fabric_takes_huge_pages() -> None:
    """The first touch of a huge page can take milliseconds: too long for a switch that runs in real time."""
    script = """
        from softswitch_tests.engine.test_fabric import deep_queue, huge_areas
        before = huge_areas()
        deep_queue(alone=True)
        assert huge_areas() == before
        deep_queue(alone=False)
        assert huge_areas() > before
    """
    in_another_process(textwrap.dedent(script))


def test_memory_counts_where_the_packet_is() -> None:
    """Switches of a fabric share idle memory, but a packet counts for the switch that holds it."""
    fabric, near, far = pair()
    with fabric:
        fabric.receive(0, 1, steer(LINK, 1_000), 0)
        assert near.statistics()["buffer_bytes"] > 0
        fabric.advance(0)
        assert near.statistics()["buffer_bytes"] == 0
        assert far.statistics()["buffer_bytes"] > 0


def test_telemetry_of_an_idle_member_reaches_the_end() -> None:
    engines = SwitchEngine(library(), sample_ns=1_000), SwitchEngine(library(), sample_ns=1_000)
    with Fabric() as fabric:
        fabric.connect(engines[0], LINK, engines[1], LINK)
        fabric.receive(0, 1, steer(LINK, 1_000), 2_000)
        fabric.receive(0, 1, steer(511), 10_000)
        assert fabric.advance(1_999) == []
        assert engines[1].telemetry()["time_ns"].tolist() == [0 + 1_000]


def random_run(seed: int) -> list[EdgeDeparture]:
    """Run a ring of four switches under random traffic with answers from the edge; return all departures."""
    draw = random.Random(seed)
    engines = [SwitchEngine(library(), seed=seed) for _ in range(4)]
    log: list[EdgeDeparture] = []
    with Fabric() as fabric:
        for a, b in pairwise([*engines, engines[0]]):
            fabric.connect(a, 20, b, 21)
        for engine in engines:
            for port in (EDGE, 20, 21):
                engine.command(f"port_rate {port} {draw.choice([1_000_000_007, 10_000_000_000])}")
                engine.command(f"port_delay {port} 700")
        for engine in engines[:3]:  # a clone goes on along the ring and is cloned again, up to the last
            engine.command("mirroring_add 1 20")
        for _ in range(400):
            ops = draw.choice([0, Op.CLONE_INGRESS])
            frame = steer(EDGE, draw.randint(70, 1_500), class_=draw.randint(0, 7), ops=ops, session=1)
            fabric.receive(draw.randrange(4), draw.randint(1, 3), frame, draw.randint(0, 20_000))
        while (next_ns := fabric.next_timer_ns()) is not None:
            departed = fabric.advance(next_ns + 500)
            log += departed
            for index, _, due_ns, frame in departed:
                if len(frame) % 3 == 0:
                    fabric.receive(index, 2, steer(EDGE, len(frame) - 1), due_ns)
    return log


@pytest.mark.long
def test_another_process_gives_the_same_run() -> None:
    """The result does not depend on addresses, hash seeds or the interpreter's process."""
    script = "from softswitch_tests.engine.test_fabric import random_run; print(random_run(5))"
    run = random_run(5)
    assert len(run) > 400
    assert in_another_process(script) == f"{run}\n"


def test_switches_of_two_libraries_join(tmp_path_factory: pytest.TempPathFactory) -> None:
    copy = tmp_path_factory.mktemp("copy") / "other.so"
    copy.write_bytes(library().read_bytes())
    near, far = SwitchEngine(library()), SwitchEngine(copy)
    with Fabric() as fabric:
        fabric.connect(near, LINK, far, LINK)
        clones_to_edge(far)
        far.command(f"port_rate {LINK} 8")
        fabric.receive(0, 1, steer(LINK, ops=Op.CLONE_INGRESS, session=1), 10)
        assert [(engine, port) for engine, port, _, _ in fabric.advance(10)] == [(1, EDGE)]


def test_misuse_of_a_fabric_is_an_error() -> None:
    """Driving a single switch of a fabric would break the order of time."""
    fabric, near, far = pair()
    with fabric:
        for ports in ((near, LINK, far, 3), (near, 5, near, 5)):
            with pytest.raises(ValueError, match="cannot be joined"):
                fabric.connect(*ports)
        with pytest.raises(RuntimeError, match="part of a fabric"):
            near.advance(1)
        with pytest.raises(ValueError, match="no engine 2"):
            fabric.receive(2, 1, steer(1), 0)


@pytest.mark.parametrize("length", [70, 1_000])
def test_frames_reach_a_peer_as_over_a_link(length: int) -> None:
    """Two fabrics that hand frames to each other have the departures of one fabric whose switches are joined."""
    joined, *engines = pair()
    with joined:
        clones_to_edge(engines[1])
        joined.receive(0, 1, steer(LINK, length, ops=Op.CLONE_INGRESS, session=1), 0)
        expected = [(due_ns, frame) for _, _, due_ns, frame in joined.advance(20_000)]
    near, far = SwitchEngine(library()), SwitchEngine(library())
    fabrics = Fabric(), Fabric()
    with fabrics[0], fabrics[1]:
        for number, (fabric, engine) in enumerate(zip(fabrics, (near, far), strict=True)):
            fabric.add(engine)
            engine.command(f"port_rate {LINK} 8000000000")
            engine.command(f"port_delay {LINK} 500")
            fabric.lead(0, LINK, 1 - number, 0, LINK)
        clones_to_edge(far)
        fabrics[0].receive(0, 1, steer(LINK, length, ops=Op.CLONE_INGRESS, session=1), 0)
        received = []
        for until_ns in range(0, 20_000, 500):
            received += [(due_ns, frame) for _, _, due_ns, frame in fabrics[1].advance(until_ns)]
            fabrics[0].advance(until_ns)
            for sender, receiver in (fabrics, fabrics[::-1]):
                departures, frames = (memoryview(bytearray(view)) for view in sender.outgoing(fabrics.index(receiver)))
                sender.forget_outgoing()
                receiver.put_outgoing(departures, frames)
                assert not sender.outgoing(fabrics.index(receiver))[0]
        received += [(due_ns, frame) for _, _, due_ns, frame in fabrics[1].advance(20_000)]
    assert received == expected != []


def test_a_frame_for_a_peer_is_the_next_event() -> None:
    with Fabric() as fabric:
        engine = SwitchEngine(library())
        fabric.add(engine)
        engine.command(f"port_delay {LINK} 500")
        fabric.lead(0, LINK, 3, 0, LINK)
        fabric.receive(0, 1, steer(LINK, 100), 10)
        fabric.advance(10)
        assert fabric.next_timer_ns() == 510
        fabric.forget_outgoing()
        assert fabric.next_timer_ns() is None
        with pytest.raises(ValueError, match="cannot be joined"):
            fabric.lead(0, LINK, 3, 0, LINK)
        with pytest.raises(ValueError, match="do not fit"):
            fabric.put_outgoing(memoryview(bytearray(DEPARTURE.pack(0, 0, 2, 0, 0, 0))), memoryview(bytearray(1)))
