# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the recognition of a flow's packets. tests/testbed/virtual/test_flow_capture.py has whole runs."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.contract.link import IP_A, IP_B, FakeLink, bts
from sfc_testbed.telemetry.captures.flow_packets import FlowFilter, FlowOnWire, Kind

FLOW = FlowOnWire(IP_A.to_bytes(4, "big"), IP_B.to_bytes(4, "big"), 1, 101, 0, 3)
OTHER = replace(FLOW, source_qpn=2, destination_qpn=102)


def test_packets_and_bts_of_two_queue_pairs_of_the_same_hosts_are_told_apart() -> None:
    link = FakeLink()
    link.transfer(3_000)
    link.transfer(2_000)
    link.run()
    frames = [frame for _, _, frame in link.sent]
    assert [FLOW.recognise(frame) for frame in frames].count(None) == 4
    assert {FLOW.recognise(frame) for frame in frames} - {None} == {
        *((Kind.DATA, number) for number in range(3)),
        *((Kind.ACK, number) for number in range(3)),
    }
    assert all(FlowFilter([FLOW, OTHER]).selects(frame) for frame in frames)
    assert (FLOW.recognise(bts(1, 50)), OTHER.recognise(bts(1, 50))) == ((Kind.BTS, 0), None)


def test_packets_of_other_messages_of_the_queue_pair_are_none() -> None:
    """The numbers wrap around: the second message begins with the last PSN."""
    link = FakeLink()
    link.transfer(3_000)
    link.run()
    data = [frame for _, name, frame in link.sent if name == "a"]
    second = replace(FLOW, first_psn=(1 << 24) - 1, packets=2)
    assert [second.recognise(frame) for frame in data] == [(Kind.DATA, 1), None, None]


@given(st.binary(max_size=120))
def test_no_frame_between_the_hosts_is_an_error(rest: bytes) -> None:
    head = bytes(12) + b"\x08\x00\x45" + bytes(8) + b"\x11" + bytes(2)
    for addresses in (FLOW.source_ip + FLOW.destination_ip, FLOW.destination_ip + FLOW.source_ip):
        for port in (b"\x12\xb7", b"\xc2\x80", b"\x06\x8a"):
            FlowFilter([FLOW]).selects(head + addresses + b"\xc0\x01" + port + rest)
            FlowFilter([FLOW]).selects(head[: len(rest)])


def test_the_expression_names_each_pair_of_hosts_once() -> None:
    back = replace(FLOW, source_ip=FLOW.destination_ip, destination_ip=FLOW.source_ip)
    a, b = (".".join(map(str, ip)) for ip in (FLOW.source_ip, FLOW.destination_ip))
    assert FlowFilter([FLOW, OTHER, back]).expression() == f"(host {a} and host {b})"
