# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of load balancing on packets: over which of its equal-cost ports a switch sends each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest

from sfc_testbed.testbed.control_plane.load_balancing import conga_link, member_cell
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import shape
from sfc_testbed.wire.ipv4 import checksum
from sfc_testbed.wire.roce.packets import Opcode
from tests.switch_bmv2.bench_switch import DILATION, FRAME, MODEL_US, BenchSwitch, bench_switch

UPLINKS = (3, 4, 5, 6)
CLOS = shape("clos", {"hosts_per_tor": 2, "spines": 4}).build()
WIRE_OVERHEAD = 24
"""Preamble, FCS and gap of a frame, in bytes."""
CHECKSUM, IDENTIFICATION = slice(24, 26), slice(18, 20)


@contextmanager
def _tor(name: str, topology: Topology = CLOS, **settings: Any) -> Iterator[BenchSwitch]:
    chosen = {"load_balancing": name, "buffer_bytes": None, **settings}
    with bench_switch(topology, "tor1", SwitchSettings(**chosen)) as switch:
        yield switch


def _port(switch: BenchSwitch, at_ns: int, **packet: Any) -> int:
    """Send a packet from h1 to h3 on an idle switch, and return the port that it leaves."""
    departures = switch.send(switch.data("h1", "h3", **packet), 1, at_ns)
    [port] = {departure.port for departure in departures}
    return port


def _ports(switch: BenchSwitch, packets: int, gap_ns: int = MODEL_US, *, begin_ns: int = 0, **packet: Any) -> list[int]:
    return [_port(switch, begin_ns + number * gap_ns, **packet) for number in range(packets)]


def _fill(switch: BenchSwitch, depths_bytes: Sequence[int]) -> None:
    """Pretend that the uplinks hold these numbers of bytes."""
    for port, depth_bytes in zip(UPLINKS, depths_bytes, strict=True):
        switch.engine.command(f"register_write port_bytes {port} {depth_bytes}")


def _ports_at_depths(switch: BenchSwitch, packets: int, depths_bytes: Sequence[int]) -> list[int]:
    """Return the ports of packets that all find the same queues."""
    ports = []
    for number in range(packets):
        _fill(switch, depths_bytes)
        ports.append(_port(switch, number * MODEL_US))
    return ports


@pytest.mark.parametrize("name", ["spray", "round-robin", "drill", "adaptive"])
def test_a_burst_of_a_flow_takes_all_equal_ports_about_equally_often(name: str) -> None:
    with _tor(name) as switch:
        departures = [departure for _ in range(400) for departure in switch.send(switch.data("h1", "h3"), 1, 0)]
        counts = Counter(departure.port for departure in departures + switch.run_dry())
    assert set(counts) == set(UPLINKS)
    spread = max(counts.values()) - min(counts.values())
    assert 0 < spread < 70 if name == "spray" else spread <= {"round-robin": 0, "adaptive": 1, "drill": 8}[name]


def test_drill_keeps_the_remembered_port_of_an_idle_switch() -> None:
    with _tor("drill") as switch:
        assert len(set(_ports(switch, 40))) == 1


def test_round_robin_takes_the_ports_in_turn_and_switches_begin_at_different_ones() -> None:
    with _tor("round-robin") as switch:
        ports = _ports(switch, 12)
    assert ports == ports[:4] * 3
    assert sorted(ports[:4]) == list(UPLINKS)
    firsts = set()
    for tor in ("tor2", "tor3", "tor4"):
        clos = shape("clos", {"hosts_per_tor": 2, "spines": 4, "tors": 4}).build()
        with bench_switch(clos, tor, SwitchSettings(load_balancing="round-robin")) as switch:
            [host, *_] = clos.hosts_of(tor)
            [departure] = switch.send(switch.data(host.name, "h1"), 1, 0)
            firsts.add(departure.port)
    assert len(firsts) > 1


@pytest.mark.parametrize("name", ["flowlet", "conga", "adaptive"])
def test_a_flow_keeps_its_path_within_a_gap_and_may_change_it_after_one(name: str) -> None:
    settings: dict[str, Any] = {"flowlet_gap_ns": 10_000, "adaptive_unit": "flowlet", "conga_tau_ns": 1_000}
    with _tor(name, **settings) as switch:
        assert len(set(_ports(switch, 50, 9 * MODEL_US))) == 1
    with _tor(name, **settings) as switch:
        paths = 1 if name == "conga" else len(UPLINKS)  # CONGA prefers the path that the flow has
        assert len(set(_ports(switch, 50, 11 * MODEL_US))) == paths


def test_flowlets_are_counted_and_those_that_move() -> None:
    with _tor("flowlet", flowlet_gap_ns=10_000) as switch:
        ports = _ports(switch, 50, 11 * MODEL_US)
        for number in range(5):  # these belong to the last flowlet
            _port(switch, 50 * 11 * MODEL_US + number * MODEL_US - 10 * MODEL_US)
        moved = sum(one != other for one, other in pairwise(ports))
        assert switch.counts().other_events == {"flowlet_begun": 50, "flowlet_moved": moved}
        assert 25 < moved < 49


def test_a_gap_of_nothing_makes_every_packet_a_flowlet() -> None:
    with _tor("flowlet", flowlet_gap_ns=0) as switch:
        assert len(set(_ports(switch, 50))) == len(UPLINKS)


def test_flows_in_one_cell_of_the_flowlet_table_share_a_path() -> None:
    for cells, paths in ((1, 1), (65_536, 4)):
        with _tor("flowlet", flowlet_cells=cells) as switch:
            assert len({_port(switch, qpn * MODEL_US, qpn=qpn) for qpn in range(1, 40)}) == paths


@pytest.mark.parametrize("opcode", [Opcode.ACKNOWLEDGE, Opcode.CNP])
@pytest.mark.parametrize("name", ["flowlet", "drill", "adaptive", "conga"])
def test_acknowledgements_and_cnps_keep_the_path_of_their_flow(name: str, opcode: Opcode) -> None:
    with _tor("ecmp") as switch:
        [usual] = set(_ports(switch, 20, opcode=opcode))
    with _tor(name, flowlet_gap_ns=0) as switch:
        assert set(_ports(switch, 20, opcode=opcode)) == {usual}


@pytest.mark.parametrize("shortest", range(4))
def test_adaptive_takes_the_least_queued_port(shortest: int) -> None:
    depths = [5_000 + member for member in range(4)]
    depths[shortest] = 4_999
    with _tor("adaptive") as switch:
        _fill(switch, depths)
        assert _port(switch, 0) == UPLINKS[shortest]


def test_adaptive_decides_between_equal_ports_by_chance() -> None:
    with _tor("adaptive") as switch:
        ports = _ports_at_depths(switch, 300, [7_000, 3_000, 3_000, 3_000])
    assert set(ports) == {4, 5, 6}
    assert min(Counter(ports).values()) > 65


def test_adaptive_compares_as_many_ports_as_a_group_can_have() -> None:
    wide = shape("clos", {"hosts_per_tor": 1, "spines": 32, "tors": 2}).build()
    with _tor("adaptive", wide) as switch:
        for shortest in (2, 17, 33):
            for port in range(2, 34):
                switch.engine.command(f"register_write port_bytes {port} {1_000 * (port != shortest)}")
            [departure] = switch.send(switch.data("h1", "h2"), 1, shortest * MODEL_US)
            assert departure.port == shortest


def test_drill_samples_two_ports_and_remembers_the_best() -> None:
    """With a memory, DRILL stays at the shortest port once it has sampled it; without one, it often misses it."""
    shares = {}
    for memory in (0, 1):
        with _tor("drill", drill_memory=memory) as switch:
            ports = _ports_at_depths(switch, 200, [9_000, 8_000, 1_000, 7_000])
        shares[memory] = ports.count(5) / len(ports)
        assert ports.count(3) < 60  # the longest port is taken only if nothing shorter is compared
    assert shares[1] > 0.95
    assert 0.4 < shares[0] < 0.6  # two different ones of four: 1/2


def test_drill_with_one_sample_and_no_memory_is_random() -> None:
    with _tor("drill", drill_samples=1, drill_memory=0) as switch:
        ports = _ports_at_depths(switch, 200, [9_000, 8_000, 1_000, 7_000])
    assert min(Counter(ports).values()) > 25


@pytest.mark.parametrize("name", ["drill", "adaptive", "conga", "flowlet", "round-robin"])
def test_a_smaller_group_is_used_at_once(name: str) -> None:
    """After a failure, the control plane writes another group and then its number into the route."""
    with _tor(name, flowlet_gap_ns=0) as switch:
        before = _ports(switch, 40)
        group = 2  # the first group has all uplinks
        rows = switch.engine.command("table_dump ecmp_members").splitlines()
        for member, port in enumerate((5, 6)):
            switch.engine.command(str(member_cell(group, member, port)))
            [row] = [row for row in rows if f"next_hop {port} " in row]
            parameters = row.split("next_hop ")[1]
            switch.engine.command(f"table_add ecmp_members next_hop {group} {member} => {parameters}")
        switch.engine.command(f"table_modify ipv4_lpm ecmp 2 => {group} 2")
        after = _ports(switch, 40, begin_ns=100 * MODEL_US)
    assert len(set(before)) > 1 or name in ("conga", "drill")
    assert set(after) <= {5, 6}


def _identification(frame: bytes) -> int:
    return int.from_bytes(frame[IDENTIFICATION], "big")


def _with_identification(frame: bytes, word: int) -> bytes:
    content = bytearray(frame)
    content[IDENTIFICATION] = word.to_bytes(2, "big")
    content[CHECKSUM] = bytes(2)
    content[CHECKSUM] = checksum(bytes(content[14:34])).to_bytes(2, "big")
    return bytes(content)


def _fields(frame: bytes) -> tuple[int, int, int, tuple[int, int] | None]:
    """Return CONGA's fields: whether there are any, uplink, load, and the feedback's uplink and load."""
    word = _identification(frame)
    feedback = (word >> 3 & 15, word & 7) if word >> 7 & 1 else None
    return word >> 15, word >> 11 & 15, word >> 8 & 7, feedback


def _from_spine(switch: BenchSwitch, *, uplink: int, load: int, feedback: tuple[int, int] | None, at_ns: int) -> bytes:
    """Deliver a packet of h3 with CONGA's fields at the ToR of h1, and return it as it leaves to h1."""
    word = 1 << 15 | uplink << 11 | load << 8
    if feedback is not None:
        word |= 1 << 7 | feedback[0] << 3 | feedback[1]
    frame = _with_identification(switch.data("h3", "h1", opcode=Opcode.ACKNOWLEDGE), word)
    [departure] = switch.send(frame, UPLINKS[0], at_ns)
    return departure.frame


def test_conga_leaves_send_back_the_load_of_each_uplink_and_clean_the_packet() -> None:
    with _tor("conga") as switch:
        [first] = switch.send(switch.data("h1", "h3"), 1, 0)
        is_present, uplink, _, feedback = _fields(first.frame)
        assert (is_present, UPLINKS[uplink], feedback) == (1, first.port, None)
        for number, (peer_uplink, load) in enumerate(((2, 5), (0, 3))):
            arrived = _from_spine(switch, uplink=peer_uplink, load=load, feedback=None, at_ns=(number + 1) * MODEL_US)
            assert _identification(arrived) == 0
        sent = [switch.send(switch.data("h1", "h3"), 1, number * MODEL_US)[0].frame for number in range(3, 7)]
        feedbacks = [_fields(frame)[3] for frame in sent]
    assert feedbacks == [(2, 5), (0, 3)] * 2  # what has changed, and then what is known, in turn


def test_conga_sends_back_first_what_has_changed() -> None:
    with _tor("conga") as switch:
        for number, (uplink, load) in enumerate(((0, 1), (1, 1), (2, 1), (3, 1))):
            _from_spine(switch, uplink=uplink, load=load, feedback=None, at_ns=number * MODEL_US)
        for number in range(10, 14):
            _port(switch, number * MODEL_US)
        _from_spine(switch, uplink=3, load=1, feedback=None, at_ns=20 * MODEL_US)
        _from_spine(switch, uplink=2, load=6, feedback=None, at_ns=21 * MODEL_US)
        [next_one] = switch.send(switch.data("h1", "h3"), 1, 22 * MODEL_US)
    assert _fields(next_one.frame)[3] == (2, 6)


def test_conga_packets_to_the_same_rack_have_no_fields() -> None:
    with _tor("conga") as switch:
        [departure] = switch.send(switch.data("h1", "h2"), 1, 0)
        assert _identification(departure.frame) == 0


def test_conga_avoids_uplinks_whose_path_is_reported_as_loaded() -> None:
    """New flowlets take the uplink with the smaller maximum of its own load and of the reported one."""
    with _tor("conga", flowlet_gap_ns=0, conga_tau_ns=1_000) as switch:
        for uplink in (0, 1, 3):
            _from_spine(switch, uplink=0, load=0, feedback=(uplink, 6), at_ns=uplink * MODEL_US)
        assert set(_ports(switch, 20, begin_ns=10 * MODEL_US)) == {5}
        _from_spine(switch, uplink=0, load=0, feedback=(2, 7), at_ns=40 * MODEL_US)
        assert 5 not in _ports(switch, 20, begin_ns=41 * MODEL_US)


def test_a_report_fades_if_it_is_not_renewed() -> None:
    with _tor("conga", flowlet_gap_ns=0, conga_tau_ns=1_000, conga_aging_ns=100_000) as switch:
        for uplink in range(3):
            _from_spine(switch, uplink=0, load=0, feedback=(uplink, 7), at_ns=uplink * MODEL_US)
        assert set(_ports(switch, 5, begin_ns=10 * MODEL_US)) == {6}
        _from_spine(switch, uplink=0, load=0, feedback=(3, 2), at_ns=250 * MODEL_US)
        # 7 after two periods is 1, which is less than 2
        assert 6 not in _ports(switch, 5, begin_ns=251 * MODEL_US)


def test_conga_measures_its_own_links() -> None:
    """An uplink at its full rate has the largest load, which its packets carry, and loses the load within some tau."""
    settings = SwitchSettings(load_balancing="conga", conga_tau_ns=10_000)
    one_uplink = tuple(f"register_write member_ports {3 << 5 | member} 3" for member in range(4))
    with bench_switch(CLOS, "tor1", settings, one_uplink) as switch:
        rate_bps = DILATION.wall_bps(CLOS.ports["tor1"][UPLINKS[0] - 1].rate_bps)
        wire_ns = (FRAME + WIRE_OVERHEAD) * 8 * 1_000_000_000 // rate_bps
        frames = [switch.send(switch.data("h1", "h3"), 1, number * wire_ns) for number in range(2_000)]
        loads = [_fields(departure.frame)[2] for departures in frames for departure in departures]
        later = switch.send(switch.data("h1", "h3"), 1, 2_000 * wire_ns + 200 * MODEL_US)
    assert loads[0] == 0
    assert loads[-1] == 7
    assert loads == sorted(loads)
    assert _fields(later[-1].frame)[2] == 0


def test_a_spine_raises_the_load_of_a_packet_and_never_lowers_it() -> None:
    settings = SwitchSettings(load_balancing="conga")
    with bench_switch(CLOS, "spine1", settings) as spine, _tor("conga") as tor:
        frame = tor.send(tor.data("h1", "h3"), 1, 0)[0].frame
        port = next(port.number for port in CLOS.ports["spine1"] if port.peer.node == "tor2")
        for carried, measured, expected in ((0, 4, 4), (6, 4, 6)):
            loaded = _with_identification(frame, _identification(frame) & ~(7 << 8) | carried << 8)
            spine.engine.command(f"register_write conga_load {port} {(measured << 25 | 1 << 24) << 48}")
            [departure] = spine.send(loaded, 1, carried * MODEL_US)
            assert _fields(departure.frame)[2] == expected
    assert conga_link(settings, port, 10**11, DILATION).keys == (port,)
