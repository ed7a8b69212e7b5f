# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of TCP signals: encoding, decoding, agreement with scapy, and values out of range."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP
from scapy.layers.l2 import Ether
from scapy.packet import Packet

from sfc_testbed.wire import bts
from sfc_testbed.wire.bts import BackToSender
from sfc_testbed.wire.constants import BTS_FRAME_BYTES, DSCP_BTS, IP_PROTOCOL_TCP, BtsCause
from sfc_testbed.wire.scapy_layers import TCPSignal
from sfc_testbed.wire.tcp_signal import is_signal, pack_frame, unpack_frame
from tests.wire.test_bts import signals

EXAMPLE = BackToSender(BtsCause.CACHE, True, 1234, IP_PROTOCOL_TCP, 26, 40_000, 5_201, 0, 3, 260_000, 4, 0xFEDC)
FLAGS = {"FIN": 1, "SYN": 2, "RST": 4, "PSH": 8, "ACK": 16, "URG": 32, "ECE": 64, "CWR": 128}


def frame_of(signal: BackToSender) -> bytes:
    return pack_frame(signal, destination_mac=1, source_mac=2, congested_ip=0x0A000002, paused_ip=0x0A000001)


def changed(offset: int, value: int) -> bytes:
    frame = bytearray(frame_of(EXAMPLE))
    frame[offset] = value
    return bytes(frame)


@given(
    signals(
        cause=st.sampled_from((BtsCause.QUEUE, BtsCause.CACHE, BtsCause.ESTIMATOR)),
        protocol=st.just(IP_PROTOCOL_TCP),
        destination_qpn=st.just(0),
        psn=st.just(0),
    )
)
def test_every_signal_round_trips(signal: BackToSender) -> None:
    frame = frame_of(signal)
    assert len(frame) == BTS_FRAME_BYTES
    assert is_signal(frame)
    assert unpack_frame(frame) == signal
    assert unpack_frame(frame + bytes(9)) == signal


def test_scapy_builds_and_reads_the_same_bytes() -> None:
    """scapy has the lowest reserved bit among the flags, as N."""
    built: Packet = (
        Ether(src="00:00:00:00:00:02", dst="00:00:00:00:00:01")
        / IP(src="10.0.0.2", dst="10.0.0.1", tos=DSCP_BTS << 2, id=0xFEDC, flags="DF")
        / TCP(sport=5_201, dport=40_000, seq=1234, ack=260_000, flags="N", window=0, chksum=0)
        / TCPSignal(flow_dscp=26, flags="cacheable", cause=BtsCause.CACHE, traffic_class=3, switch_id=4)
    )
    frame = frame_of(EXAMPLE)
    assert bytes(built) == frame
    read = Ether(frame)
    assert (read[IP].len, read[TCP].dataofs, int(read[TCP].flags)) == (46, 5, 0x100)
    assert bytes(read[TCPSignal]) == bytes(built[TCPSignal])


@pytest.mark.parametrize("flag", FLAGS)
def test_a_signal_with_any_flag_is_the_prototypes(flag: str) -> None:
    """Only ports, pause and time stamp are read, even if the rest looks like ours or has other options."""
    frame = bytearray(changed(47, FLAGS[flag]))
    for data_offset in (5, 8):
        frame[46] = data_offset << 4 | 1
        signal = unpack_frame(bytes(frame))
        expected = BackToSender(BtsCause.UNKNOWN, False, 1234, 6, 0, 40_000, 5_201, 0, 0, 0, 0, 0xFEDC)
        assert signal == expected
        assert signal.cause.requests_pause


@pytest.mark.parametrize(
    ("offset", "value"),
    [(16, 1), (17, 47), (38, 1), (39, 1), (46, 0x50), (46, 0x53), (50, 1), (51, 1)],
    ids=["length", "length 47", "seq", "seq low", "no bit", "two bits", "checksum", "checksum low"],
)
def test_other_segments_are_no_signal(offset: int, value: int) -> None:
    assert not is_signal(changed(offset, value))


def test_a_cut_frame_is_no_signal() -> None:
    assert not is_signal(frame_of(EXAMPLE)[:-1])


@pytest.mark.parametrize(
    ("offset", "value"),
    [
        (46, 0x61),
        (48, 1),
        (53, 1),
        (54, 64),
        (55, 0x22),
        (55, 0x10),
        (55, 0x14),
        (55, 0x15),
        (55, 0x16),
        (56, 8),
        (57, 1),
    ],
    ids=[
        *("data offset 6", "window", "urgent pointer", "DSCP 64", "unknown flag"),
        *("no cause", "feedback", "cause 5", "cause 6", "class 8", "reserved"),
    ],
)
def test_values_out_of_range_are_refused(offset: int, value: int) -> None:
    frame = changed(offset, value)
    assert is_signal(frame)
    assert unpack_frame(frame) is None


@pytest.mark.parametrize(("ports", "is_accepted"), [((0, 0), True), ((40_000, 0), False), ((0, 5_201), False)])
def test_a_bts_over_udp_names_tcp_only_for_later_fragments(ports: tuple[int, int], is_accepted: bool) -> None:
    signal = EXAMPLE._replace(source_port=ports[0], destination_port=ports[1])
    frame = bts.pack_frame(signal, destination_mac=1, source_mac=2, congested_ip=3, paused_ip=4)
    assert bts.unpack_frame(frame) == (signal if is_accepted else None)
