# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of source address checks: a server can send only with its own address, in every network.

A BTS for a source without a route is counted as well.
"""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.topologies.model import Topology
from sfc_testbed.topologies.shapes import SHAPES, shape
from sfc_testbed.wire.addresses import parse_mac
from sfc_testbed.wire.constants import DSCP_CONTROL, DSCP_DATA
from sfc_testbed.wire.counters import BtsEvent
from sfc_testbed.wire.roce.framer import RoceFramer
from sfc_testbed.wire.roce.packets import Opcode, Syndrome, pack_aeth, pack_psn_word
from tests.switch_bmv2.bench_switch import BenchSwitch, bench_switch

PLAIN = SwitchSettings()
SFC = SwitchSettings(bts="ingress", q_th_bytes=3000, q_tg_bytes=1000, suppression_ns=0, pause_rounding="up")
CLOS = shape("clos", {"hosts_per_tor": 2, "spines": 2, "uplinks": 2}).build()
BODIES = {"data": (Opcode.SEND_MIDDLE, bytes(1000)), "ack": (Opcode.ACKNOWLEDGE, pack_aeth(Syndrome.ACK, 1))}


def _frame(topology: Topology, host: str, source: IPv4Address, dst: str, kind: str, *, qpn: int = 1) -> bytes:
    """Return a frame that `host` sends with the source address `source`. All other fields and the ICRC are correct."""
    opcode, body = BODIES[kind]
    framer = RoceFramer(
        destination_mac=parse_mac(topology.host[host].gateway_mac),
        source_mac=parse_mac(topology.host[host].mac),
        source_ip=int(source),
        destination_ip=int(topology.host[dst].ip),
        source_qpn=qpn,
        destination_qpn=9,
        tos=(DSCP_DATA if kind == "data" else DSCP_CONTROL) << 2,
    )
    return framer.frame(opcode, pack_psn_word(0), body)


def _delivered(switch: BenchSwitch, frame: bytes, port: int) -> int:
    return len(switch.send(frame, port, 0) + switch.run_dry())


@pytest.mark.parametrize("name", list(SHAPES))
def test_no_server_can_use_the_address_of_another(name: str) -> None:
    topology = shape(name, {}).build()
    first, last = topology.hosts[0], topology.hosts[-1]
    for switch_name in {first.switch, last.switch}:
        with bench_switch(topology, switch_name, PLAIN) as switch:
            refused = 0
            for host in topology.hosts_of(switch_name)[:4]:
                dst = next(other.name for other in (first, last) if other is not host)
                for claimed in (host, *(other for other in topology.hosts[:5] if other is not host), last):
                    frame = _frame(topology, host.name, claimed.ip, dst, "ack")
                    is_own = claimed is host
                    assert _delivered(switch, frame, switch.port_of(host.name)) == is_own
                    refused += not is_own
            assert switch.counts().drops == {"foreign_source": refused}


@pytest.mark.parametrize("source", ["192.0.2.1", "10.2.0.77", "0.0.0.0", "127.0.0.1", "224.0.0.1"])
def test_a_bts_for_an_unknown_source_is_counted_as_sent_and_as_dropped(source: str) -> None:
    """Links between switches do not check sources, so such packets can arrive. The frame balance must close."""
    with bench_switch(CLOS, "tor2", SFC) as switch:
        frames = [_frame(CLOS, "h1", IPv4Address(source), "h4", "data", qpn=qpn) for qpn in range(1, 271)]
        departures = [departure for frame in frames for departure in switch.send(frame, 3, 0)] + switch.run_dry()
        counts = switch.counts()
        assert counts.bts[BtsEvent.SENT_QUEUE] > 200
        assert counts.drops == {"bts_no_route": counts.generated}
        assert not any(departure.is_bts for departure in departures)
        assert len(frames) + counts.generated == len(departures) + sum(counts.drops.values())
