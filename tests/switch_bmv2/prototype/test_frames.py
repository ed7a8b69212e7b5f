# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packet tests of whole frames of signals in `sfc-prototype` and `sfc-prototype-p`. scapy builds what is expected.

Each docstring begins with the case of the public test file `switch_sfc_signal.py` to which it corresponds, if any. The
public cases compare whole frames, too. Differences of ours: the TTL does not depend on the data packet, the DSCP is
always 56 (there, the control plane sets it), and the identification is a time stamp.

Each test runs on softswitch and, where it is installed, on BMv2. The registers of depth and noted cells agree, so a
packet may leave its queue before or after its copy looks at them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from sfc_testbed.topologies.model import port_mac
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.constants import BTS_UDP_PORT, DSCP_BTS, DSCP_DATA, BtsCause
from sfc_testbed.wire.roce.packets import source_port
from sfc_testbed.wire.scapy_layers import BTS, PFC, TCPSignal
from tests.softswitch.stf.bmv2 import needs_bmv2
from tests.switch_bmv2.bench_switch import CLOS, UPLINK, US, BenchSwitch, Departure, arriving, bench_switch
from tests.switch_bmv2.prototype.bmv2_switch import Bmv2Switch, bmv2_switch
from tests.switch_bmv2.prototype.one_switch import CELL_BYTES, RECEIVER, SENDER, SENDER_PORT, prototype, star

STAR = star()
CELLS, PAUSE_US = 640, 10
"""Cells above the target that the last departure noted, and their pause at 100 Gb/s."""
DEPTH_BYTES = (CELLS + 100) * CELL_BYTES
AT_US = 35
STAMP = AT_US >> 4
PORTS = (40_000, 5_201)
SENT_TTL = 64
BTS_TTL = 64 - 1
"""The TTL of a signal behind its second pass."""


AnySwitch = BenchSwitch | Bmv2Switch
OpenSwitch = Callable[..., AbstractContextManager[AnySwitch]]


@pytest.fixture(params=["softswitch", pytest.param("bmv2", marks=needs_bmv2)])
def open_switch(request: pytest.FixtureRequest) -> OpenSwitch:
    """Return the function that provides a switch of one of the targets."""
    return bmv2_switch if request.param == "bmv2" else bench_switch


def _segment(switch: AnySwitch, src: str, dst: str, *, ttl: int = SENT_TTL, dscp: int = DSCP_DATA) -> bytes:
    """Return a TCP segment of a host, of the class of data by default."""
    source, destination = (switch.topology.host[name] for name in (src, dst))
    ip = IP(src=str(source.ip), dst=str(destination.ip), tos=dscp << 2, ttl=ttl, id=7)
    tcp = TCP(sport=PORTS[0], dport=PORTS[1], seq=1, ack=2, flags="PA", options=[("Timestamp", (3, 4))])
    return bytes(Ether(dst=source.gateway_mac, src=source.mac) / ip / tcp / bytes(1_000))


def _with_ttl(frame: bytes, ttl: int) -> bytes:
    packet = Ether(frame)
    packet[IP].ttl = ttl
    del packet[IP].chksum
    return bytes(packet)


def _bts(**changes: int) -> Packet:
    """Return the part of a BTS behind its UDP header, about a RoCEv2 flow to QP 9."""
    fields = {"flow_dscp": DSCP_DATA, "pause_us": PAUSE_US, "cause": BtsCause.QUEUE, "flags": 1, "protocol": 17}
    fields |= {"flow_dport": 4791, "dest_qp": 9, "traffic_class": 3, "queue_depth_bytes": DEPTH_BYTES, "switch_id": 1}
    layer = BTS()
    for name, value in {**fields, **changes}.items():
        setattr(layer, name, value)
    return layer


def _udp(qpn: int) -> Packet:
    return UDP(sport=source_port(qpn), dport=BTS_UDP_PORT, chksum=0)


def _tcp_signal(switch_id: int = 1) -> Packet:
    tcp = TCP(sport=PORTS[1], dport=PORTS[0], seq=PAUSE_US, ack=DEPTH_BYTES, flags="N", window=0, chksum=0)
    fields = TCPSignal(
        flow_dscp=DSCP_DATA, flags="cacheable", cause=BtsCause.QUEUE, traffic_class=3, switch_id=switch_id
    )
    return tcp / fields


def _ip(switch: AnySwitch, signal: bytes, congested: str, paused: str) -> Packet:
    """Return the IPv4 header of a signal about a flow from `paused` to `congested`. BMv2's time stamp is unknown."""
    stamp = STAMP if isinstance(switch, BenchSwitch) else Ether(signal)[IP].id
    hosts = switch.topology.host
    src, dst = str(hosts[congested].ip), str(hosts[paused].ip)
    return IP(src=src, dst=dst, tos=DSCP_BTS << 2, ttl=BTS_TTL, flags="DF", id=stamp)


def _answers(switch: AnySwitch, frame: bytes, port: int, receiver: str) -> list[Departure]:
    """Return the frames that leave by other ports than the receiver's, when the queue towards it is over."""
    to_receiver = switch.port_of(receiver)
    switch.engine.command(f"register_write queue_bytes {to_receiver << 3 | 3} {DEPTH_BYTES}")
    switch.engine.command(f"register_write departure_cells {to_receiver << 3 | 3} {CELLS}")
    departures = switch.send(frame, port, AT_US * US)
    return [departure for departure in departures if departure.port != to_receiver]


def _towards_server(
    open_switch: OpenSwitch, kind: str, *, ttl: int = SENT_TTL, qpn: int = 5, payload: int = 1_000
) -> tuple[bytes, Packet]:
    """Return the frame that the sender at the congested switch gets, and its IPv4 header as expected."""
    with open_switch(STAR, "s1", prototype()) as switch:
        if kind == "TCP":
            frame = _segment(switch, SENDER, RECEIVER, ttl=ttl)
        else:
            frame = _with_ttl(switch.data(SENDER, RECEIVER, qpn=qpn, payload=payload), ttl)
        [signal] = _answers(switch, frame, SENDER_PORT, RECEIVER)
        return signal.frame, _ip(switch, signal.frame, RECEIVER, SENDER)


def _ethernet() -> Packet:
    host = STAR.host[SENDER]
    return Ether(src=host.gateway_mac, dst=host.mac)


def _towards_neighbour(switch: str, number: int) -> Packet:
    """Return the Ethernet header of a frame that leaves a switch to another switch."""
    [port] = [port for port in CLOS.ports[switch] if port.number == number]
    peer = CLOS.switch[port.peer.node]
    return Ether(src=port_mac(CLOS.switch[switch].switch_id, number), dst=port_mac(peer.switch_id, port.peer.number))


@pytest.mark.parametrize("payload", [0, 4, 1_000])
@pytest.mark.parametrize("qpn", [1, 5, 0x3FFF])
def test_a_bts_has_swapped_addresses_its_flows_source_port_and_60_bytes(
    open_switch: OpenSwitch, qpn: int, payload: int
) -> None:
    """SfcSignalRecircPortForClone: lengths 46 and 26, UDP checksum 0, right IPv4 checksum, for packets of any size."""
    frame, ip = _towards_server(open_switch, "RoCEv2", qpn=qpn, payload=payload)
    expected = _ethernet() / ip / _udp(qpn) / _bts()
    assert frame == bytes(expected)
    read = Ether(frame)
    assert (len(frame), read[IP].len, read[UDP].len) == (60, 46, 26)


def test_a_tcp_signal_has_swapped_addresses_and_ports_and_60_bytes(open_switch: OpenSwitch) -> None:
    """No public case sends TCP. Ours keeps nothing of the segment, but sequence number, bit and checksum are alike."""
    frame, ip = _towards_server(open_switch, "TCP")
    assert frame == bytes(_ethernet() / ip / _tcp_signal())
    assert (len(frame), Ether(frame)[IP].len) == (60, 46)


@pytest.mark.parametrize("kind", ["RoCEv2", "TCP"])
@pytest.mark.parametrize("ttl", [255, 64, 2])
def test_the_second_pass_decrements_the_ttl(open_switch: OpenSwitch, kind: str, ttl: int) -> None:
    """SfcSignalRecircPortForClone: there 62, the data packet's 64 minus both passes. Ours begins with 64."""
    frame, _ = _towards_server(open_switch, kind, ttl=ttl)
    assert Ether(frame)[IP].ttl == BTS_TTL


@pytest.mark.parametrize("kind", ["RoCEv2", "TCP"])
def test_a_signal_towards_a_switch_is_the_same_frame(open_switch: OpenSwitch, kind: str) -> None:
    """SfcSignalRecircPortForClone.TestForLinkToTypeSwitch, with all bytes, also where SFC-P is on."""
    for sfc_p in (False, True):
        with open_switch(CLOS, "tor2", prototype(sfc_p=sfc_p)) as switch:
            frame = switch.data("h1", "h6", qpn=5) if kind == "RoCEv2" else _segment(switch, "h1", "h6")
            [signal] = _answers(switch, frame, UPLINK, "h6")
            assert signal.port in (UPLINK, UPLINK + 1)
            switch_id = CLOS.switch["tor2"].switch_id
            rest = _tcp_signal(switch_id) if kind == "TCP" else _udp(5) / _bts(switch_id=switch_id)
            expected = _towards_neighbour("tor2", signal.port) / _ip(switch, signal.frame, "h6", "h1") / rest
            assert signal.frame == bytes(expected)


@pytest.mark.parametrize("kind", ["RoCEv2", "TCP"])
def test_a_signal_towards_a_server_becomes_a_pause_frame_with_sfc_p_only(open_switch: OpenSwitch, kind: str) -> None:
    """SfcSignalRecircPortForClone.TestForLinkToTypeServer. There, the source is 0 and all eight times are alike."""
    frame, _ = _towards_server(open_switch, kind)
    assert frame[12:14] == b"\x08\x00"
    with open_switch(STAR, "s1", prototype(sfc_p=True)) as switch:
        frame = switch.data(SENDER, RECEIVER) if kind == "RoCEv2" else _segment(switch, SENDER, RECEIVER)
        [signal] = _answers(switch, frame, SENDER_PORT, RECEIVER)
    expected = Ether(dst="01:80:c2:00:00:01", src=STAR.host[SENDER].gateway_mac, type=0x8808) / PFC(
        c3_enabled=1, c3_pause_time=PAUSE_US * 192
    )
    assert signal.frame == bytes(expected).ljust(60, b"\0")


@pytest.mark.parametrize(("dscp", "traffic_class"), [(0, 0), (40, 5), (DSCP_DATA, 3)])
def test_the_control_plane_maps_the_flows_dscp_to_the_class_of_the_pause_frame(
    open_switch: OpenSwitch, dscp: int, traffic_class: int
) -> None:
    """SfcSignalTimeConversion.TestPfcPauseQuota, which maps DSCP 0 to class 0 and DSCP 40 to class 5."""
    entries = ("table_add flow_class pause_class 40 => 5",)
    bts = BackToSender(BtsCause.UNKNOWN, False, PAUSE_US, 0, dscp, 0xC001, 0, 0, 0, 0, 0, 0)
    with open_switch(CLOS, "tor1", prototype(sfc_p=True), entries) as switch:
        [departure] = switch.send(arriving(bts), UPLINK, 0)
    assert departure.pause == (traffic_class, PAUSE_US * 192)


@pytest.mark.parametrize("dscp", [DSCP_DATA, 40, 63])
def test_a_signal_names_the_flows_dscp_and_has_its_own(open_switch: OpenSwitch, dscp: int) -> None:
    """SfcSignalTestHelper sets the DSCP of signals to 1 by the control plane. Ours is always 56, which is class 7."""
    entries = (f"table_add dscp_to_class set_class {dscp} => 3",) if dscp != DSCP_DATA else ()
    with open_switch(STAR, "s1", prototype(), entries) as switch:
        [signal] = _answers(switch, _segment(switch, SENDER, RECEIVER, dscp=dscp), SENDER_PORT, RECEIVER)
    assert Ether(signal.frame)[IP].tos >> 2 == DSCP_BTS
    assert signal.bts.dscp == dscp
