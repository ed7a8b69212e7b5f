# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A receiver slower than its wire: with PFC it loses nothing, without it what finds no room is lost and resent."""

from itertools import pairwise
from typing import Any

import pytest

from hosts.transport.messages import MessageCompleted
from hosts.transport.receive_buffer import DataPacket
from hosts.transport.settings import TransportSettings
from tests.hosts.transport.fake_star import FakeStar, with_record
from tests.wire.test_roce import framer
from wire.constants import CLASS_DATA
from wire.int_header import HopRecord, request, strip
from wire.pfc import pack_frame, unpack_frame
from wire.roce.decoder import RoceDecoder
from wire.roce.packets import pack_psn_word

SLOW: dict[str, Any] = {"receiver_rate_bps": 25_000_000_000, "receiver_buffer_bytes": 100_000}


def run(flow_control: str, *, size_bytes: int = 400_000, **slow: Any) -> FakeStar:
    """One message to a host that takes a quarter of what its wire carries."""
    plain = TransportSettings(flow_control=flow_control, congestion="window", loss_recovery="irn")
    receiver = TransportSettings(
        flow_control=flow_control, congestion="window", loss_recovery="irn", **{**SLOW, **slow}
    )
    star = FakeStar(plain, 2, receiver=receiver, delay_ns=500)
    star.transfer(0, 1, size_bytes)
    star.run()
    return star


def requests(star: FakeStar) -> list[tuple[int, int]]:
    """802.1Qbb frames that the switch got: (time, quanta of the data class)."""
    rows = []
    for time_ns, frame in star.on_wire:
        request = unpack_frame(frame)
        assert request is not None
        assert request.source_mac == star.nics[1].address.mac
        rows.append((time_ns, request.pause_quanta[CLASS_DATA]))
    return rows


def test_with_pfc_nothing_is_lost_and_the_receiver_sets_the_pace() -> None:
    """Pause and resume alternate; the time is that of the slow receiver."""
    star = run("pfc")
    counters = star.nics[1].statistics()
    (done,) = star.of(MessageCompleted, 0)
    assert (counters.receiver_overruns, done.report.counts.packets_resent) == (0, 0)
    quanta = [each for _, each in requests(star)]
    assert quanta[0] == 65535
    assert quanta[-1] == 0
    assert all(early != late for early, late in pairwise(quanta))
    assert counters.pfc_sent == len(quanta)
    ideal_ns = 400_000 * 1058 // 1000 * 8 * 1000 // 25
    assert done.finish_ns == pytest.approx(ideal_ns, rel=0.05)


def test_without_pfc_packets_are_lost_and_resent() -> None:
    """Counted at the receiver; the message is whole all the same."""
    star = run("none")
    counters = star.nics[1].statistics()
    (done,) = star.of(MessageCompleted, 0)
    assert counters.receiver_overruns > 0
    assert done.report.counts.packets_resent >= counters.receiver_overruns
    assert (counters.pfc_sent, counters.messages_corrupted) == (0, 0)


def test_a_long_pause_is_refreshed_before_it_ends() -> None:
    """65535 quanta are 336 us; a receiver that needs longer repeats itself at half of that."""
    star = run("pfc", size_bytes=100_000, receiver_rate_bps=250_000_000)
    rows = requests(star)
    refreshed = [late - early for (early, first), (late, second) in pairwise(rows) if first and second]
    assert refreshed
    assert refreshed == pytest.approx([65535 * 512 * 10 // 2] * len(refreshed), rel=0.01)
    assert star.nics[1].statistics().receiver_overruns == 0


def test_the_default_receiver_is_as_fast_as_its_wire() -> None:
    """No buffer, no pause."""
    star = FakeStar(TransportSettings(flow_control="pfc"), 2)
    star.transfer(0, 1, 100_000)
    star.run()
    assert star.on_wire == []


def test_a_pause_from_the_switch_does_not_hold_the_nics_own_pause() -> None:
    """MAC control goes before everything, paused classes or not."""
    star = FakeStar(TransportSettings(flow_control="pfc", **SLOW), 2, delay_ns=500)
    star.transfer(0, 1, 300_000)
    star.run(1_000)
    everything = dict.fromkeys(range(8), 65535)
    star.nics[1].receive(pack_frame(1, everything), star.now_ns)
    star.run(30_000)
    assert requests(star)[0][1] == 65535
    assert star.nics[1].statistics().acks_sent > 0
    assert star.nics[1].statistics().frames_sent == star.nics[1].statistics().pfc_sent


def test_telemetry_takes_no_room() -> None:
    """Records that switches pushed are not the host's: a packet counts as it would without them."""
    frame = framer().frame(0, pack_psn_word(3), bytes(100), shim=request(telemetry=True, stamp_us=None))
    for sent in (frame, with_record(frame, HopRecord(1, 2, 3, 4))):
        header, stripped = RoceDecoder().header(sent), strip(sent)
        assert header is not None
        assert stripped is not None
        assert DataPacket(header, sent, -1).size_bytes == len(stripped[0]) < len(sent)
