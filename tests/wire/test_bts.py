# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the Back-To-Sender packet: encoding, decoding, agreement with scapy, and malformed payloads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

from wire.bts import BackToSender, pack_frame, pack_payload, unpack_payload
from wire.constants import BTS_FRAME_BYTES, BTS_PAYLOAD_BYTES, BTS_UDP_PORT, PSN_MASK, QUOTED_BTH_BYTES, BtsCause
from wire.scapy_layers import BTS

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
    sent_us=(1 << 40) + 17,
)


@given(
    st.builds(
        BackToSender,
        cause=st.sampled_from(BtsCause),
        cacheable=st.booleans(),
        pause_us=st.integers(0, 2**32 - 1),
        protocol=st.integers(0, 255),
        dscp=st.integers(0, 63),
        source_port=st.integers(0, 65535),
        destination_port=st.integers(0, 65535),
        destination_qpn=st.integers(0, 2**24 - 1),
        traffic_class=st.integers(0, 7),
        queue_depth_bytes=st.integers(0, 2**32 - 1),
        switch_id=st.integers(0, 65535),
        sent_us=st.integers(0, 2**48 - 1),
        psn=st.integers(0, PSN_MASK),
    )
)
def test_every_bts_round_trips(bts: BackToSender) -> None:
    """Only cause SUB_RTT has a PSN, in the quoted BTH that follows the other fields."""
    payload = pack_payload(bts)
    is_quoting = bts.cause == BtsCause.SUB_RTT
    assert len(payload) == BTS_PAYLOAD_BYTES + (QUOTED_BTH_BYTES if is_quoting else 0)
    assert unpack_payload(payload) == (bts if is_quoting else bts._replace(psn=0))


def test_only_cause_sub_rtt_quotes_a_bth() -> None:
    payload = pack_payload(EXAMPLE)
    assert unpack_payload(payload + bytes(QUOTED_BTH_BYTES)) is None
    assert unpack_payload(payload[:1] + bytes([BtsCause.SUB_RTT]) + payload[2:]) is None


def test_scapy_reads_the_same_fields() -> None:
    frame = pack_frame(EXAMPLE, destination_mac=1, source_mac=2, congested_ip=0x0A000002, paused_ip=0x0A000001)
    packet = Ether(frame)
    layer = packet[BTS]
    assert len(frame) == BTS_FRAME_BYTES
    assert (packet[IP].src, packet[IP].dst, packet[IP].tos) == ("10.0.0.2", "10.0.0.1", 56 << 2)
    assert (packet[UDP].sport, packet[UDP].dport, packet[UDP].chksum) == (0xC005, BTS_UDP_PORT, 0)
    assert (layer.version, int(layer.flags), layer.cause, layer.protocol, layer.flow_tos) == (1, 1, 2, 17, 26 << 2)
    assert (layer.pause_us, layer.flow_sport, layer.flow_dport, layer.dest_qp) == (1234, 0xC005, 4791, 7)
    assert (layer.traffic_class, layer.queue_depth_bytes, layer.switch_id) == (3, 260_000, 4)
    assert layer.sent_us == EXAMPLE.sent_us
    assert bytes(layer) == pack_payload(EXAMPLE)


@pytest.mark.parametrize(
    ("position", "value"),
    [(0, 0x21), (0, 0x12), (0, 0x01), (1, 0), (1, 5), (3, 26 << 2 | 1), (15, 8)],
    ids=["version 2", "unknown flag", "version 0", "cause 0", "cause 5", "ecn bits", "class 8"],
)
def test_values_out_of_range_are_refused(position: int, value: int) -> None:
    payload = bytearray(pack_payload(EXAMPLE))
    payload[position] = value
    assert unpack_payload(bytes(payload)) is None


@given(st.binary(max_size=64).filter(lambda data: len(data) != BTS_PAYLOAD_BYTES))
def test_any_other_length_is_refused(data: bytes) -> None:
    assert unpack_payload(data) is None
