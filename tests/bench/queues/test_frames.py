# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the exercises' frames, against scapy and against literal bytes."""

from __future__ import annotations

import struct

import pytest
from scapy.layers.inet import IP
from scapy.layers.l2 import Ether

from bench.queues import frames

HOP_OF_S2 = bytes([2, 1]) + struct.pack(">I", 60) + (0).to_bytes(6, "big") + (500).to_bytes(6, "big")
HOP_OF_S1 = bytes([0x81, 2]) + struct.pack(">I", 12_500) + (1_000).to_bytes(6, "big") + (101_000).to_bytes(6, "big")


def test_data_frame_has_its_size_its_number_and_its_ecn_field() -> None:
    frame = frames.data(7, 200, ecn=frames.ECT)
    packet = Ether(frame)[IP]
    assert (len(frame), packet.len, packet.tos, packet.dst) == (200, 186, frames.ECT, str(frames.RECEIVER))
    assert frames.number_of(frame) == 7
    assert not frames.is_marked(frame)
    assert frames.is_marked(frames.data(7, 200, ecn=frames.CE))


def test_depths_are_read_from_the_records_of_both_switches() -> None:
    """A switch adds its record behind the option and increases count and lengths."""
    frame = bytearray(frames.data(7, 200, records_hops=True))
    assert frames.mri_depths(bytes(frame)) == {}
    frame[14] += 4  # words of the header
    frame[35] += 16
    frame[37] = 2
    frame[38:38] = struct.pack(">IIII", 2, 0, 1, 63)
    assert frames.mri_depths(bytes(frame)) == {2: 0, 1: 63}
    assert frames.number_of(bytes(frame)) == 7


def test_probe_names_the_ports_and_collects_the_records() -> None:
    sent = frames.probe((2, 1))
    assert (len(sent), sent[12:17].hex()) == (60, "0812000201")
    assert frames.probe_hops(sent) == []
    assert frames.number_of(sent) is None
    arrived = sent[:14] + bytes([2]) + HOP_OF_S2 + HOP_OF_S1 + sent[15:]
    last, first = frames.probe_hops(arrived)
    assert (first.switch, first.port, first.sent_bytes) == (1, 2, 12_500)
    assert first.utilisation_bps == pytest.approx(1_000_000)
    assert last.utilisation_bps is None


def test_other_frames_are_ignored() -> None:
    arp = bytes(Ether(type=0x0806) / bytes(46))
    assert frames.number_of(arp) is None
    assert frames.probe_hops(arp) == []
