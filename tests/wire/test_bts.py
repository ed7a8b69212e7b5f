# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the Back-To-Sender packet: encoding, decoding, agreement with scapy, and malformed payloads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from sfc_testbed.wire.bts import BackToSender, pack_frame, pack_payload, tick_ns, unpack_frame
from sfc_testbed.wire.constants import (
    BTS_FRAME_BYTES,
    BTS_PAYLOAD_BYTES,
    BTS_UDP_PORT,
    IP_PROTOCOL_TCP,
    PSN_MASK,
    QUOTED_BTH_BYTES,
    BtsCause,
)
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.scapy_layers import BTS

PAYLOAD_OFFSET = BTS_FRAME_BYTES - BTS_PAYLOAD_BYTES
EXAMPLE = BackToSender(
    cause=BtsCause.CACHE,
    cacheable=True,
    pause_us=1234,
    protocol=17,
    dscp=26,
    source_port=0xC005,
    destination_port=4791,
    destination_qpn=7,
    traffic_class=3,
    queue_depth_bytes=260_000,
    switch_id=4,
    stamp=0xFEDC,
)
PROTOTYPES = BackToSender(
    BtsCause.UNKNOWN,
    False,
    1234,
    protocol=0,
    dscp=26,
    source_port=0xC005,
    destination_port=0,
    destination_qpn=0,
    traffic_class=0,
    queue_depth_bytes=0,
    switch_id=0,
    stamp=0,
)


def frame_of(bts: BackToSender) -> bytes:
    return pack_frame(bts, destination_mac=1, source_mac=2, congested_ip=0x0A000002, paused_ip=0x0A000001)


def signals(**fields: st.SearchStrategy[int]) -> st.SearchStrategy[BackToSender]:
    """Return a strategy of BTS in which these fields have these values, and all others any value."""
    usual = {
        "cacheable": st.booleans(),
        "pause_us": st.integers(0, 65535),
        "dscp": st.integers(0, 63),
        "source_port": st.integers(0, 65535),
        "destination_port": st.integers(0, 65535),
        "destination_qpn": st.integers(0, 2**24 - 1),
        "traffic_class": st.integers(0, 7),
        "queue_depth_bytes": st.integers(0, 2**32 - 1),
        "switch_id": st.integers(0, 65535),
        "stamp": st.integers(0, 65535),
        "psn": st.integers(0, PSN_MASK),
    }
    return st.builds(BackToSender, **{**usual, **fields})


@given(
    signals(
        cause=st.sampled_from([cause for cause in BtsCause if cause != BtsCause.UNKNOWN]),
        protocol=st.integers(0, 255).filter(lambda protocol: protocol != IP_PROTOCOL_TCP),
    )
)
def test_every_bts_round_trips(bts: BackToSender) -> None:
    """Only cause SUB_RTT has a PSN, in the quoted BTH that follows the other fields."""
    frame = frame_of(bts)
    is_quoting = bts.cause == BtsCause.SUB_RTT
    assert len(frame) == BTS_FRAME_BYTES + (QUOTED_BTH_BYTES if is_quoting else 0)
    assert unpack_frame(frame) == (bts if is_quoting else bts._replace(psn=0))


def test_only_cause_sub_rtt_quotes_a_bth() -> None:
    request = EXAMPLE._replace(cause=BtsCause.SUB_RTT)
    frame, quoting = bytearray(frame_of(EXAMPLE)), bytearray(frame_of(request))
    frame[PAYLOAD_OFFSET + 4], quoting[PAYLOAD_OFFSET + 4] = 0x15, 0x12
    assert unpack_frame(bytes(frame)) is None
    assert unpack_frame(bytes(quoting)) is None


def test_scapy_reads_and_writes_the_same_bytes() -> None:
    frame = frame_of(EXAMPLE)
    packet = Ether(frame)
    layer = packet[BTS]
    assert len(frame) == 60
    assert (packet[IP].src, packet[IP].dst, packet[IP].tos) == ("10.0.0.2", "10.0.0.1", 56 << 2)
    assert (packet[IP].len, packet[IP].id, int(packet[IP].flags)) == (46, 0xFEDC, 2)
    assert (packet[UDP].sport, packet[UDP].dport, packet[UDP].len, packet[UDP].chksum) == (0xC005, 1674, 26, 0)
    assert (layer.version, int(layer.flags), layer.cause, layer.protocol, layer.flow_dscp) == (0, 1, 2, 17, 26)
    assert (layer.pause_us, layer.flow_dport, layer.dest_qp) == (1234, 4791, 7)
    assert (layer.traffic_class, layer.queue_depth_bytes, layer.switch_id) == (3, 260_000, 4)
    built = (
        Ether(src="00:00:00:00:00:02", dst="00:00:00:00:00:01")
        / IP(src="10.0.0.2", dst="10.0.0.1", tos=56 << 2, id=0xFEDC, flags="DF")
        / UDP(sport=0xC005, dport=BTS_UDP_PORT, chksum=0)
        / BTS(
            flow_dscp=26, pause_us=1234, flags="cacheable", cause=2, protocol=17, flow_dport=4791, dest_qp=7,
            traffic_class=3, queue_depth_bytes=260_000, switch_id=4,
        )
    )  # fmt: skip
    assert bytes(built) == frame
    assert bytes(layer) == pack_payload(EXAMPLE)


def test_a_bts_of_the_sfc_prototype_has_only_dscp_pause_and_source_port() -> None:
    """All of its payload after the pause is 0."""
    built = IP(src="10.0.0.2", dst="10.0.0.1") / UDP(sport=0xC005, dport=1674) / BTS(flow_dscp=26, pause_us=1234)
    frame = bytes(Ether() / built)
    assert frame[PAYLOAD_OFFSET:] == bytes([0, 26]) + (1234).to_bytes(2, "big") + bytes(14)
    signal = unpack_frame(frame)
    assert signal is not None
    assert signal._replace(stamp=0) == PROTOTYPES
    assert signal.cause.requests_pause


@pytest.mark.parametrize(
    ("position", "value"),
    [(0, 1), (1, 64), (4, 0x22), (4, 0x10), (4, 0x15), (4, 0x16), (11, 8)],
    ids=["version 1", "DSCP 64", "unknown flag", "fields without a cause", "cause 5", "cause 6", "class 8"],
)
def test_values_out_of_range_are_refused(position: int, value: int) -> None:
    frame = bytearray(frame_of(EXAMPLE))
    frame[PAYLOAD_OFFSET + position] = value
    assert unpack_frame(bytes(frame)) is None


@given(st.integers(0, 64).filter(lambda size: size != BTS_PAYLOAD_BYTES))
def test_any_other_length_is_refused(size: int) -> None:
    """The IPv4 header has the length; bytes after the packet are padding."""
    frame = bytearray(frame_of(EXAMPLE))
    frame[16:18] = (28 + size).to_bytes(2, "big")
    assert unpack_frame(bytes(frame) + bytes(64)) is None
    assert unpack_frame(frame_of(EXAMPLE) + bytes(size)) == EXAMPLE


def test_the_time_of_a_request_depends_on_its_cause() -> None:
    assert EXAMPLE.request_ns == 1_234_000
    assert EXAMPLE._replace(cause=BtsCause.SUB_RTT).request_ns == 4 * 1234


@pytest.mark.parametrize(
    ("factor", "ticks_us"), [(1, 1), (62, 1), (63, 2), (1_000, 16), (10_000, 256), (100_000, 2048)]
)
def test_a_tick_is_a_power_of_two_microseconds_and_at_least_16_model_ns(factor: int, ticks_us: int) -> None:
    assert tick_ns(Dilation(factor)) == 1_000 * ticks_us
