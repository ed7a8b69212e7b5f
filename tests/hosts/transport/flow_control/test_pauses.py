# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of signals: which BTS are obeyed, for how long, and what a pause does not affect."""

from typing import Any

import pytest

from sfc_testbed.contract.link import MAC_B, FakeLink, bts, transferred
from sfc_testbed.hosts.transport.messages import BtsReceived
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission
from sfc_testbed.wire.constants import BtsCause
from sfc_testbed.wire.pfc import pack_frame, quanta_ns

SFC = TransportSettings(flow_control="sfc", congestion="window")


def one_signal(settings: TransportSettings = SFC, at_ns: int = 3_000, pause_us: int = 50, **changes: Any) -> FakeLink:
    """Return a link after a 100 kB flow that got one BTS."""
    return transferred(100_000, settings, arrivals=[(at_ns, bts(1, pause_us, **changes))])


def test_a_bts_pauses_its_flow_from_its_arrival() -> None:
    link = one_signal(switch_id=7, queue_depth_bytes=5)
    (event,) = link.of(BtsReceived, "a")
    assert (event.obeyed, event.reason, event.flow_id, event.paused_until_ns) == (True, "obeyed", 1, 53_000)
    assert (event.signal.switch_id, event.signal.queue_depth_bytes, event.received_ns) == (7, 5, 3_000)
    assert min(start for start, *_ in link.data_sent() if start >= 3_000) == 53_000
    (completed,) = link.of(Transmission, "a")
    assert completed.figures.paused_us == 50


@pytest.mark.parametrize("newer_us", [5, 0])
def test_a_newer_bts_can_shorten_the_pause(newer_us: int) -> None:
    """The new end replaces the old one, even if it is earlier (paper §3.2)."""
    link = transferred(100_000, SFC, arrivals=[(3_000, bts(1, 500)), (10_000, bts(1, newer_us))])
    assert min(start for start, *_ in link.data_sent() if start > 3_000) == 10_000 + 1_000 * newer_us
    (completed,) = link.of(Transmission, "a")
    assert completed.figures.paused_us == 7 + newer_us


def test_a_pause_after_the_last_packet_keeps_nothing_back() -> None:
    link = transferred(2_000, SFC, delay_ns=20_000, arrivals=[(3_000, bts(1, 500))])
    (event,) = link.of(BtsReceived, "a")
    assert (event.obeyed, event.received_ns, event.paused_until_ns) == (True, 3_000, 3_000)
    (completed,) = link.of(Transmission, "a")
    assert completed.finish_ns < 503_000
    assert completed.figures.paused_us == 0


def test_an_unfinished_message_without_packets_left_is_not_paused() -> None:
    link = FakeLink(SFC, delay_ns=20_000)
    link.transfer(2_000)
    link.inject(3_000, link.a, bts(1, 500))
    link.run(until_ns=10_000)
    (message,) = link.a.state().messages
    assert (message.transmission.figures.paused_us, message.paused_until_ns) == (0, 0)


def test_a_pause_is_limited_to_max_pause() -> None:
    link = one_signal(TransportSettings(flow_control="sfc", max_pause_ns=80_000), pause_us=65_535)
    (event,) = link.of(BtsReceived, "a")
    assert event.paused_until_ns == 83_000


def test_other_flows_are_not_paused() -> None:
    link = FakeLink(SFC)
    link.transfer(100_000)
    link.transfer(100_000)
    link.inject(1_000, link.a, bts(1, 100))
    link.run()
    finish = {event.message.flow_id: event.finish_ns for event in link.of(Transmission, "a")}
    assert finish[2] < 30_000 < 101_000 < finish[1]


@pytest.mark.parametrize(
    "changes",
    [{"destination_qpn": 77}, {"destination_qpn": 0}, {"destination_port": 80}, {"protocol": 6}],
    ids=["other QP", "not RoCE", "other port", "TCP"],
)
def test_a_bts_for_an_unknown_flow_is_ignored_and_counted(changes: dict[str, Any]) -> None:
    link = one_signal(**changes)
    (event,) = link.of(BtsReceived, "a")
    assert (event.obeyed, event.reason, event.flow_id) == (False, "unknown_flow", None)
    assert link.a.statistics().bts_by_verdict["unknown_flow"] == 1
    assert link.of(Transmission, "a")[0].figures.paused_us == 0


def prototypes_bts(source_port: int, pause_us: int) -> bytes:
    """Return a BTS as the SFC prototype's switch sends it to NIC a: 14 zero bytes after the pause."""
    empty = {"protocol": 0, "destination_port": 0, "destination_qpn": 0, "traffic_class": 0, "queue_depth_bytes": 0}
    return bts(1, pause_us, cause=BtsCause.UNKNOWN, source_port=source_port, switch_id=0, **empty)


def test_a_bts_without_a_cause_pauses_the_flows_from_its_port_only() -> None:
    """The prototype's BTS names neither QP nor protocol. QP 16385 has the same port as QP 1."""
    link = FakeLink(SFC)
    for qpn in (1, 2, 16_385):
        link.transfer(100_000, qpn=qpn)
    link.inject(1_000, link.a, prototypes_bts(0xC001, 100))
    link.run()
    finish_ns = {event.message.source_qpn: event.finish_ns for event in link.of(Transmission, "a")}
    assert finish_ns[2] < 50_000 < 101_000 < min(finish_ns[1], finish_ns[16_385])
    events = link.of(BtsReceived, "a")
    assert {(event.flow_id, event.obeyed, event.sent_ns) for event in events} == {(1, True, None), (3, True, None)}
    assert (link.a.statistics().bts_received, link.a.statistics().bts_by_verdict["obeyed"]) == (1, 1)


def test_a_bts_without_a_cause_for_no_flow_is_counted() -> None:
    link = transferred(100_000, SFC, arrivals=[(3_000, prototypes_bts(0xC002, 100))])
    (event,) = link.of(BtsReceived, "a")
    assert (event.reason, event.flow_id) == ("unknown_flow", None)
    assert link.of(Transmission, "a")[0].figures.paused_us == 0


@pytest.mark.parametrize("dilation", [1, 1_000, 100_000])
def test_a_pause_is_in_model_time(dilation: int) -> None:
    """The longest pause that the field can hold is obeyed at every dilation, unless `max_pause_ns` is shorter."""
    settings = TransportSettings(flow_control="sfc", max_pause_ns=100_000_000)
    for pause_us in (1, 65_535):
        link = FakeLink(settings, dilation=dilation)
        link.transfer(100_000)
        link.inject(dilation * 3_000, link.a, bts(1, pause_us))
        link.run()
        (event,) = link.of(BtsReceived, "a")
        assert event.paused_until_ns == dilation * (3_000 + 1_000 * pause_us)


def test_a_bts_for_a_finished_flow_is_recorded_but_not_obeyed() -> None:
    link = one_signal(at_ns=1_000_000)
    (event,) = link.of(BtsReceived, "a")
    assert (event.obeyed, event.reason, event.flow_id) == (False, "flow_idle", 1)


def test_the_time_of_the_switch_counts_from_the_epoch() -> None:
    link = transferred(100_000, SFC, epoch_ns=500, arrivals=[(3_000, bts(1, 1, stamp=2))])
    assert link.of(BtsReceived, "a")[0].sent_ns == 2_500


@pytest.mark.parametrize(
    "settings",
    [
        TransportSettings(flow_control="sfc", rto_ns=50_000),
        TransportSettings(
            flow_control="sfc",
            loss_recovery="irn",
            loss_recovery_parameters={"rto_low_ns": 50_000, "rto_high_ns": 50_000},
        ),
    ],
    ids=["go-back-n", "irn"],
)
def test_paused_time_does_not_count_towards_the_timeout(settings: TransportSettings) -> None:
    link = transferred(100_000, settings, delay_ns=20_000, arrivals=[(3_000, bts(1, 5_000))])
    (completed,) = link.of(Transmission, "a")
    assert (completed.figures.timeouts, completed.figures.packets_resent) == (0, 0)


def test_the_timeout_continues_after_the_pause() -> None:
    """The lost first packet is resent after one timeout of unpaused time, including the time before the pause."""
    settings = TransportSettings(flow_control="sfc", rto_ns=50_000)
    pause = (10_000, bts(1, 1_000))
    link = transferred(1_000, settings, arrivals=[pause], drop=lambda number, name, frame: number == 0)
    first, second = link.data_sent()
    assert first[0] == 0
    assert second[0] == 50_000 + 1_000_000


def test_pfc_pauses_and_resumes_the_data_class() -> None:
    """Quanta count at line rate, and zero quanta resume all flows immediately."""
    link = FakeLink(TransportSettings(flow_control="pfc", congestion="window"))
    link.transfer(100_000)
    link.transfer(100_000)
    link.inject(2_000, link.a, pack_frame(MAC_B, {3: 1_000}))
    link.inject(60_000, link.a, pack_frame(MAC_B, {3: 65_535}))
    link.inject(61_000, link.a, pack_frame(MAC_B, {3: 0}))
    link.run()
    starts = [start for start, *_ in link.data_sent()]
    assert not [start for start in starts if 2_000 <= start < 2_000 + quanta_ns(1_000, 100_000_000_000)]
    for completed in link.of(Transmission, "a"):
        assert completed.figures.paused_us == pytest.approx(5.12, abs=0.002)
    assert link.a.statistics().pauses == 2


def test_pfc_holds_messages_that_start_during_the_pause() -> None:
    link = FakeLink(TransportSettings(flow_control="pfc"))
    link.inject(100, link.a, pack_frame(MAC_B, {3: 10_000}))
    link.transfer(1_000, ready_ns=1_000)
    link.run()
    assert link.data_sent()[0][0] == 100 + 51_200


def test_pfc_for_the_control_class_holds_acknowledgements() -> None:
    """Class 6 carries acknowledgements; data in class 3 continues."""
    link = FakeLink(TransportSettings(flow_control="pfc"))
    link.transfer(1_000, backwards=True)
    link.transfer(50_000)
    link.inject(100, link.a, pack_frame(MAC_B, {6: 10_000}))
    link.run()
    acks = [end for end, name, frame in link.sent if name == "a" and len(frame) == 62]
    assert acks[0] >= 100 + 51_200
    assert link.data_sent()[0][0] < 1_000


def test_pfc_for_another_class_pauses_no_flow() -> None:
    pause = (2_000, pack_frame(MAC_B, {0: 65_535}))
    link = transferred(100_000, TransportSettings(flow_control="pfc"), arrivals=[pause])
    assert link.of(Transmission, "a")[0].figures.paused_us == 0
    assert link.a.statistics().pfc_received == 1
