# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of a receiver slower than its wire: with PFC nothing is lost; without it, lost packets are resent."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from sfc_testbed.contract.frames import with_record
from sfc_testbed.hosts.transport.receive_buffer import DataPacket
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.constants import CLASS_DATA
from sfc_testbed.wire.int_header import HopRecord, request, strip
from sfc_testbed.wire.pfc import pack_frame, unpack_frame
from sfc_testbed.wire.roce.decoder import RoceDecoder
from sfc_testbed.wire.roce.packets import pack_psn_word
from tests.hosts.transport.fake_star import FakeStar
from tests.wire.test_roce import framer, header_of

SLOW: dict[str, Any] = {"receiver_rate_bps": 25_000_000_000, "receiver_buffer_bytes": 100_000}


def run(flow_control: str, *, size_bytes: int = 400_000, **slow: Any) -> FakeStar:
    plain = TransportSettings(flow_control=flow_control, congestion="window", loss_recovery="irn")
    star = FakeStar(plain, 2, receiver=replace(plain, **{**SLOW, **slow}), delay_ns=500)
    star.transfer(0, 1, size_bytes)
    star.run()
    return star


def requests(star: FakeStar) -> list[tuple[int, int]]:
    """Return the 802.1Qbb frames that the switch received as (time, quanta of the data class)."""
    rows = []
    for time_ns, frame in star.on_wire:
        request = unpack_frame(frame)
        assert request is not None
        assert request.source_mac == star.nics[1].address.mac
        rows.append((time_ns, request.pause_quanta[CLASS_DATA]))
    return rows


def test_with_pfc_nothing_is_lost_and_the_receiver_determines_the_rate() -> None:
    star = run("pfc")
    counters = star.nics[1].statistics()
    (completed,) = star.of(Transmission, 0)
    assert (counters.receiver_overruns, completed.figures.packets_resent) == (0, 0)
    quanta = [request_quanta for _, request_quanta in requests(star)]
    assert quanta[0] == 65535
    assert quanta[-1] == 0
    assert all(early != late for early, late in pairwise(quanta))
    assert counters.pfc_sent == len(quanta)
    ideal_ns = 400_000 * 1058 // 1000 * 8 * 1000 // 25
    assert completed.finish_ns == pytest.approx(ideal_ns, rel=0.05)


def test_without_pfc_packets_are_lost_and_resent() -> None:
    star = run("none")
    counters = star.nics[1].statistics()
    (completed,) = star.of(Transmission, 0)
    assert counters.receiver_overruns > 0
    assert completed.figures.packets_resent >= counters.receiver_overruns
    assert (counters.pfc_sent, counters.messages_corrupted) == (0, 0)


def test_a_long_pause_is_refreshed_before_it_ends() -> None:
    """65535 quanta are 336 us; the receiver repeats the pause after half of that."""
    star = run("pfc", size_bytes=100_000, receiver_rate_bps=250_000_000)
    rows = requests(star)
    refresh_gaps_ns = [late - early for (early, first), (late, second) in pairwise(rows) if first and second]
    assert refresh_gaps_ns
    assert refresh_gaps_ns == pytest.approx([65535 * 512 * 10 // 2] * len(refresh_gaps_ns), rel=0.01)
    assert star.nics[1].statistics().receiver_overruns == 0


def test_802_1qbb_frames_are_sent_even_if_all_classes_are_paused() -> None:
    star = FakeStar(TransportSettings(flow_control="pfc", **SLOW), 2, delay_ns=500)
    star.transfer(0, 1, 300_000)
    star.run(1_000)
    all_classes = dict.fromkeys(range(8), 65535)
    star.nics[1].receive(pack_frame(1, all_classes), star.now_ns)
    star.run(30_000)
    assert requests(star)[0][1] == 65535
    assert star.nics[1].statistics().acks_sent > 0
    assert star.nics[1].statistics().frames_sent == star.nics[1].statistics().pfc_sent


def test_telemetry_does_not_count_against_the_buffer() -> None:
    frame = framer().frame(0, pack_psn_word(3), bytes(100), shim=request(telemetry=True, stamp_us=None))
    for sent in (frame, with_record(frame, HopRecord(1, 2, 3, 4))):
        header, stripped = header_of(sent, RoceDecoder().header), strip(sent)
        assert stripped is not None
        assert DataPacket(header, sent, -1).size_bytes == len(stripped[0]) < len(sent)
