# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Delay lines: which links are cut, what the pieces are called, and what is believed of netem."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from softswitch.build import build_library
from softswitch.engine import SwitchEngine
from testbed.errors import RunError
from testbed.targets.common.wires import (
    LINKS_PER_PROCESS,
    PROGRAM,
    check_netem,
    command_of_wire,
    commands_of_wire,
    cut_links,
    netem_command,
)
from topologies.shapes import shape
from wire.bts import BackToSender, pack_frame
from wire.constants import BtsCause
from wire.dilation import Dilation


def test_every_delayed_link_is_cut_once() -> None:
    """Neighbouring ports, no port twice, names that Linux takes, more processes where one has too few ports."""
    topology = shape("paper-simulation", {}).build()
    wires = cut_links(topology)
    assert [wire.link for wire in wires] == list(topology.links)
    assert all(first % 2 == 0 and second == first + 1 for first, second in (wire.ports for wire in wires))
    names = [name for wire in wires for name in wire.interfaces]
    assert len(set(names)) == 2 * len(wires)
    assert max(map(len, names)) <= 15
    assert len({wire.node for wire in wires}) == -(-len(wires) // LINKS_PER_PROCESS)


def test_a_link_without_delay_stays_whole() -> None:
    """Nothing stands between the ends where there is nothing to wait for."""
    topology = shape("star", {"hosts": 2}).build()
    first, second = topology.links
    [wire] = cut_links(replace(topology, links=(replace(first, delay_ns=0), second)))
    assert wire.link == second


def test_a_switchs_pipeline_counts_with_the_link_that_a_frame_leaves_by() -> None:
    """Host and switch: 1 us one way, 1.6 us the other; a link without delay is cut all the same."""
    for host_delay_ns in (1_000, 0):
        topology = shape("star", {"hosts": 2, "host_delay_ns": host_delay_ns, "pass_latency_ns": 600}).build()
        wires = cut_links(topology)
        assert [wire.link for wire in wires] == list(topology.links)
        assert {wire.delays_ns for wire in wires} == {(host_delay_ns + 600, host_delay_ns)}  # towards the host first


def test_a_bts_waits_where_its_switch_sends_it_out() -> None:
    """For as long as building it takes: one that passes by does not, nor does any other frame; all keep their bytes."""
    topology = shape("clos", {"host_delay_ns": 0, "fabric_delay_ns": 0, "bts_latency_ns": 600}).build()
    assert cut_links(topology) == ()
    wires = cut_links(topology, makes_bts=True)
    assert [wire.link for wire in wires] == list(topology.links)
    [wire] = [each for each in wires if (each.link.a.node, each.link.b.node) == ("tor1", "spine1")]
    tor, spine = (end.switch_id for end in wire.builders if end is not None)
    short = _bts(tor)[:40]
    with SwitchEngine(build_library(PROGRAM)) as engine:
        for line in commands_of_wire(wire, Dilation(1_000)):
            engine.command(line)
        for at_ns, port, other in ((0, *wire.ports), (1_000_000, *wire.ports[::-1])):
            own, passing = (_bts(tor), _bts(spine)) if port == wire.ports[0] else (_bts(spine), _bts(tor))
            sent = (own, passing, short, bytes(60))
            for frame in sent:
                engine.receive(port, frame, at_ns)
            assert engine.advance(at_ns + 599_999) == [(other, at_ns, frame) for frame in sent[1:]]
            assert engine.advance(at_ns + 600_000) == [(other, at_ns + 600_000, own)]


def _bts(switch_id: int) -> bytes:
    said = BackToSender(BtsCause.QUEUE, True, 5, 17, 24, 50_000, 4791, 9, 3, 300_000, switch_id, 77)
    return pack_frame(said, destination_mac=1, source_mac=2, congested_ip=3, paused_ip=4)


@pytest.mark.parametrize(
    ("line", "port", "command"),
    [
        ("port_link 3 down", 3, "port_link {port} down"),
        ("port_impair 12 out loss rate_ppb=5 seed=1", 12, "port_impair {port} in loss rate_ppb=5 seed=1"),
        ("port_impair 1 in jitter off", 1, "port_impair {port} out jitter off"),
    ],
)
def test_what_a_switch_would_do_to_its_link_the_wire_does(line: str, port: int, command: str) -> None:
    """What leaves the switch comes to the wire."""
    assert command_of_wire(line) == (port, command)


def test_netem_is_read_back() -> None:
    """The command asks what is there now; only the right delay passes."""
    assert "delay 50000000ns" in netem_command("tor1-eth1", 50_000_000)
    answer = [{"kind": "netem", "options": {"limit": 1000, "delay": {"delay": 0.05, "jitter": 0}}}]
    check_netem("tor1-eth1", 50_000_000, json.dumps(answer))
    with pytest.raises(RunError, match="delays 50000000 ns, not the 60000000 ns"):
        check_netem("tor1-eth1", 60_000_000, json.dumps(answer))


@pytest.mark.parametrize("answer", ["Error: Specified qdisc kind is unknown.\n", "", "[]", '[{"kind": "noqueue"}]'])
def test_a_delay_that_is_not_there_is_an_error(answer: str) -> None:
    """Mininet would print a line and go on."""
    with pytest.raises(RunError, match="no netem on tor1-eth1"):
        check_netem("tor1-eth1", 1_000, answer)
