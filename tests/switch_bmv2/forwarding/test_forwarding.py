# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of IPv4 forwarding: next hops, TTL, checksum, ECMP, and the reasons for drops."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.switch_bmv2.bench_switch import BenchSwitch, bench_switch
from topologies.settings import SwitchSettings
from topologies.shapes import shape
from wire.addresses import parse_mac
from wire.ipv4 import unpack_header

PLAIN = SwitchSettings()
CLOS = shape("clos", {"hosts_per_tor": 2, "spines": 2, "uplinks": 2}).build()


def _deliver(switch: BenchSwitch, frame: bytes, port: int) -> list[tuple[int, bytes]]:
    departures = switch.send(frame, port, 0) + switch.run_dry()
    return [(departure.port, departure.frame) for departure in departures]


def test_local_host_gets_the_frame_with_new_macs_and_one_less_ttl() -> None:
    with bench_switch(CLOS, "tor1", PLAIN) as switch:
        frame = switch.data("h1", "h2")
        [(port, out)] = _deliver(switch, frame, 1)
    host = CLOS.host["h2"]
    assert port == 2
    assert out[:12] == parse_mac(host.mac).to_bytes(6, "big") + parse_mac(host.gateway_mac).to_bytes(6, "big")
    assert (out[22], frame[22]) == (63, 64)
    assert unpack_header(out, 14) is not None  # verifies the checksum
    assert out[34:] == frame[34:]


def test_flows_spread_over_all_uplinks_and_each_stays_on_one() -> None:
    with bench_switch(CLOS, "tor1", PLAIN) as switch:
        ports = Counter[int]()
        for qpn in range(1, 401):
            first, second = (_deliver(switch, switch.data("h1", "h3", qpn=qpn), 1)[0][0] for _ in range(2))
            assert first == second
            ports[first] += 1
    assert set(ports) == {3, 4, 5, 6}
    assert min(ports.values()) > 60


def test_switches_in_a_row_choose_independently() -> None:
    """A spine spreads flows that arrive from the same uplink of a ToR over its links to the next ToR."""
    with bench_switch(CLOS, "tor1", PLAIN) as tor, bench_switch(CLOS, "spine1", PLAIN) as spine:
        ports = Counter[int]()
        for qpn in range(1, 401):
            [(port, frame)] = _deliver(tor, tor.data("h1", "h3", qpn=qpn), 1)
            if port == 3:  # the ToR's first uplink
                ports[_deliver(spine, frame, 1)[0][0]] += 1
    assert len(ports) == 2
    assert min(ports.values()) > 0.25 * sum(ports.values())


def _with_byte(frame: bytes, offset: int, value: int) -> bytes:
    return frame[:offset] + bytes((value,)) + frame[offset + 1 :]


def _resum(frame: bytes) -> bytes:
    """Return the frame with a correct IPv4 checksum."""
    words = frame[14:24] + b"\0\0" + frame[26:34]
    total = sum(int.from_bytes(words[i : i + 2], "big") for i in range(0, 20, 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return frame[:24] + (total ^ 0xFFFF).to_bytes(2, "big") + frame[26:]


@pytest.mark.parametrize(
    ("break_frame", "reason"),
    [
        (lambda frame: _resum(_with_byte(frame, 22, 1)), "ttl_expired"),
        (lambda frame: _resum(_with_byte(frame, 30, 11)), "no_route"),
        (lambda frame: _with_byte(frame, 25, frame[25] ^ 1), "malformed"),
        (lambda frame: frame[:200], "malformed"),
        (lambda frame: frame[:30], "malformed"),
        (lambda frame: frame[:8], "malformed"),
        (lambda frame: _resum(_with_byte(frame, 14, 0x46)), "malformed"),
        (lambda frame: _resum(_with_byte(frame, 14, 0x65)), "malformed"),
        (lambda frame: frame[:12] + b"\x86\xdd" + frame[14:], "malformed"),
        (lambda frame: frame[:12] + b"\x88\x08\x01\x01" + frame[16:], "mac_control"),
    ],
)
def test_packets_that_cannot_be_forwarded_are_counted_by_reason(break_frame: object, reason: str) -> None:
    """A dropped packet is counted in exactly one drop counter."""
    with bench_switch(CLOS, "tor1", PLAIN, ("port_mac_control 1 off",)) as switch:
        assert _deliver(switch, break_frame(switch.data("h1", "h2")), 1) == []  # type: ignore[operator]
        assert switch.counts().drops == {reason: 1}


def test_a_bts_from_a_server_is_dropped() -> None:
    """Otherwise a host could pause other hosts."""
    sfc = SwitchSettings(bts="ingress", q_th_bytes=1, q_tg_bytes=0, pause_cache=True, pause_grain_ns=0)
    with bench_switch(CLOS, "tor1", sfc) as switch:
        switch.send(switch.data("h1", "h2"), 1, 0)
        switch.send(switch.data("h1", "h2", qpn=2), 1, 0)
        departures = switch.send(switch.data("h1", "h2", qpn=3), 1, 0)
        [bts] = [departure.frame for departure in departures + switch.run_dry() if departure.is_bts][:1]
        before = switch.counts().drops["untrusted_signal"]
        assert not [departure for departure in switch.send(bts, 2, 10**9) + switch.run_dry() if departure.is_bts]
        assert switch.counts().drops["untrusted_signal"] == before + 1
