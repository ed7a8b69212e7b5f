# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The contract that every algorithm must satisfy, alone and in every combination, on an unreliable link."""

import itertools
from typing import Any

import pytest

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS, PathContext
from sfc_testbed.hosts.transport.congestion.window import FixedWindow
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.messages import BtsReceived, MessageReceived, SendingReport
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.wire.constants import ECN_CONGESTION_EXPERIENCED, INT_FLAG_ECHO
from sfc_testbed.wire.int_header import HopRecord, has_telemetry
from sfc_testbed.wire.pfc import pack_frame, quanta_ns
from sfc_testbed.wire.roce.decoder import parse_header
from sfc_testbed.wire.roce.packets import Opcode
from sfc_testbed.wire.units import NS_PER_S
from tests.hosts.transport.fake_link import MAC_B, FakeLink, bts, plain, transferred
from tests.hosts.transport.fake_star import with_record, with_tos

COMBINATIONS = list(itertools.product(CONGESTION_CONTROLS, FLOW_CONTROLS, LOSS_RECOVERIES))
OBEYING = [combination for combination in COMBINATIONS if FLOW_CONTROLS[combination[1]].obeys_signals]
IGNORING = [combination for combination in COMBINATIONS if not FLOW_CONTROLS[combination[1]].obeys_signals]
WINDOW_BYTES = 20_000


def congested(number: int, name: str, frame: bytes) -> bytes:
    """Mark every third ECN-capable packet, and add a record of a long queue to packets that request telemetry."""
    if frame[15] & 0x3 and number % 3 == 0:
        frame = with_tos(frame, frame[15] | ECN_CONGESTION_EXPERIENCED)
    if has_telemetry(frame) and not frame[43] & INT_FLAG_ECHO:
        frame = with_record(frame, HopRecord(100_000_000, number, number * 1000, 200_000))
    return frame


CONDITIONS: dict[str, dict[str, Any]] = {
    "clear": {},
    "loss": {"loss": 0.05},
    "heavy loss": {"loss": 0.3},
    "reorder": {"reorder": 0.1},
    "duplicate": {"duplicate": 0.2},
    "pauses": {},
    "congestion": {"change": congested},
    "storm": {"loss": 0.05, "reorder": 0.05, "duplicate": 0.05},
}
"""The faults of the link."""
PAUSES = {"pauses": ((3, 30), (8, 5), (20, 40), (25, 60))}
PAUSES["storm"] = PAUSES["pauses"]
"""Pauses for the first flow as (arrival, duration) in us."""


def settings_of(congestion: str, flow_control: str, loss_recovery: str) -> TransportSettings:
    """Return settings with short timeouts, so that heavy loss does not take long."""
    window = {"window_bytes": WINDOW_BYTES} if congestion == "window" else {}
    return TransportSettings(
        congestion=congestion,
        flow_control=flow_control,
        loss_recovery=loss_recovery,
        congestion_parameters=window,
        rto_ns=200_000,
    )


def transfer(settings: TransportSettings, condition: str) -> FakeLink:
    """Send two messages on their own QPs from a to b and two on one QP back, until no event is due."""
    link = FakeLink(settings, seed=7, **CONDITIONS[condition])
    link.transfer(60_000)
    link.transfer(25_001, ready_ns=4_000)
    link.transfer(9_999, backwards=True, qpn=9)
    link.transfer(1, backwards=True, qpn=9)
    for arrival_us, pause_us in PAUSES.get(condition, ()):
        link.inject(arrival_us * 1000, link.a, bts(1, pause_us, destination_port=link.algorithms.data_port))
    link.run()
    return link


@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), COMBINATIONS)
def test_every_message_arrives_once_and_uncorrupted(
    congestion: str, flow_control: str, loss_recovery: str, condition: str
) -> None:
    link = transfer(settings_of(congestion, flow_control, loss_recovery), condition)
    received = link.of(MessageReceived, "b") + link.of(MessageReceived, "a")
    completed = link.of(SendingReport, "a") + link.of(SendingReport, "b")
    assert sorted(event.flow_id for event in received) == [1, 2, 3, 4]
    assert sorted(event.message.flow_id for event in completed) == [1, 2, 3, 4]
    assert not any(event.figures.corrupted for event in received)
    for event in completed:
        assert event.finish_ns > event.message.ready_ns
        assert 0 <= event.paused_ns <= event.finish_ns - event.message.ready_ns
        counts, packets = event.counts, -(-event.message.size_bytes // 1000)
        assert counts.packets_sent - counts.packets_resent == packets
    assert not link.a.unfinished_messages()
    assert link.a.next_timer_ns() is None


@pytest.mark.parametrize("condition", ["pauses", "storm"])
@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), OBEYING)
def test_no_packet_starts_while_its_flow_is_paused(
    congestion: str, flow_control: str, loss_recovery: str, condition: str
) -> None:
    """A newer BTS replaces the pause end, and the flow continues after the pause."""
    link = transfer(settings_of(congestion, flow_control, loss_recovery), condition)
    signals = link.of(BtsReceived, "a")
    assert [event.obeyed for event in signals] == [True] * len(PAUSES[condition])
    starts = [start_ns for start_ns, _ in _data_starts(link, destination_qpn=101)]
    replacement_times_ns = [event.received_ns for event in signals[1:]] + [NEVER]
    for event, replacement_ns in zip(signals, replacement_times_ns, strict=True):
        assert event.paused_until_ns is not None
        until_ns = min(event.paused_until_ns, replacement_ns)
        assert not [start for start in starts if event.received_ns <= start < until_ns]
    second_end_ns = signals[1].paused_until_ns
    assert second_end_ns is not None
    assert max(starts) >= second_end_ns, "the second pause ends before the message does"


@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), IGNORING)
def test_a_bts_changes_nothing_for_flow_controls_that_ignore_it(
    congestion: str, flow_control: str, loss_recovery: str
) -> None:
    """The BTS is recorded, but the frames are the same as in a run without it."""
    settings = settings_of(congestion, flow_control, loss_recovery)
    paused, clear = transfer(settings, "pauses"), transfer(settings, "clear")
    signals = paused.of(BtsReceived, "a")
    assert [event.obeyed for event in signals] == [False] * len(PAUSES["pauses"])
    assert paused.sent == clear.sent


@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), COMBINATIONS)
def test_only_flow_controls_that_obey_class_pauses_are_paused(
    congestion: str, flow_control: str, loss_recovery: str
) -> None:
    pause = (3_000, pack_frame(MAC_B, {3: 65535}))
    link = transferred(60_000, settings_of(congestion, flow_control, loss_recovery), arrivals=[pause])
    until_ns = 3_000 + quanta_ns(65535, link.rate_bps)
    is_paused = not [start for start, _ in _data_starts(link, destination_qpn=101) if 3_000 <= start < until_ns]
    assert is_paused == FLOW_CONTROLS[flow_control].obeys_class_pause
    assert len(link.of(MessageReceived, "b")) == 1


def _data_starts(link: FakeLink, destination_qpn: int) -> list[tuple[int, int]]:
    rows = []
    for end_ns, source, sent in link.sent:
        frame = plain(sent)
        header = parse_header(frame)
        if source == "a" and header is not None and header.destination_qpn == destination_qpn:
            rows.append((end_ns - len(sent) * 8 * NS_PER_S // link.rate_bps, header.psn_word(frame) & 0xFFFFFF))
    return rows


@pytest.mark.parametrize("loss_recovery", LOSS_RECOVERIES)
@pytest.mark.parametrize("flow_control", FLOW_CONTROLS)
@pytest.mark.parametrize("condition", ["clear", "pauses"])
def test_packets_in_flight_respect_the_window(flow_control: str, loss_recovery: str, condition: str) -> None:
    """Bytes sent and not acknowledged, observed on the wire, may exceed the window by one packet."""
    link = transfer(settings_of("window", flow_control, loss_recovery), condition)
    moves = [(start_ns, psn + 1, 0) for start_ns, psn in _data_starts(link, destination_qpn=101)]
    for arrival_ns, receiver, delivered in link.delivered:
        frame = plain(delivered)
        header = parse_header(frame)
        if receiver == "a" and header and (header.opcode, header.destination_qpn) == (Opcode.ACKNOWLEDGE, 1):
            moves.append((arrival_ns, 0, (header.psn_word(frame) & 0xFFFFFF) + 1))
    sent, acknowledged, max_in_flight = 0, 0, 0
    for _, sent_now, acknowledged_now in sorted(moves):
        sent, acknowledged = max(sent, sent_now), max(acknowledged, acknowledged_now)
        max_in_flight = max(max_in_flight, sent - acknowledged)
    assert WINDOW_BYTES / 2 < max_in_flight * 1000 <= WINDOW_BYTES + 1000


@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), COMBINATIONS)
def test_the_same_inputs_give_the_same_frames(congestion: str, flow_control: str, loss_recovery: str) -> None:
    settings = settings_of(congestion, flow_control, loss_recovery)
    first, second = transfer(settings, "storm"), transfer(settings, "storm")
    assert first.sent == second.sent
    assert first.events == second.events


@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), COMBINATIONS)
def test_dilation_scales_only_time(congestion: str, flow_control: str, loss_recovery: str) -> None:
    """The same packets leave ten times later at ten times the dilation, except for rounding."""
    settings = settings_of(congestion, flow_control, loss_recovery)
    fast, slow = FakeLink(settings, dilation=100), FakeLink(settings, dilation=1000)
    for link in (fast, slow):
        link.transfer(60_000)
        link.run()
    assert [plain(frame) for *_, frame in fast.sent] == [plain(frame) for *_, frame in slow.sent]
    for (early_ns, *_), (late_ns, *_) in zip(fast.sent, slow.sent, strict=True):
        assert late_ns == pytest.approx(early_ns * 10, abs=20)


def test_every_algorithm_has_a_docstring_and_frozen_parameters() -> None:
    for table in (CONGESTION_CONTROLS, FLOW_CONTROLS, LOSS_RECOVERIES):
        for name, algorithm in table.items():
            assert algorithm.__doc__, name
            assert algorithm.Parameters.__dataclass_params__.frozen, name


@pytest.mark.parametrize("algorithm", CONGESTION_CONTROLS.values())
def test_congestion_controls_start_with_a_positive_window_and_rate(algorithm: type[Any]) -> None:
    path = PathContext(100_000_000_000, 10_000, 1000, 125_000)
    control = algorithm(algorithm.resolve(algorithm.Parameters(), path), path)
    assert control.window_bytes > 0 and control.rate_bps > 0
    timer_ns = control.next_timer_ns()
    assert timer_ns is None or timer_ns > 0


@pytest.mark.parametrize("rate_bps", [0, -1])
def test_a_rate_below_1_is_an_error_that_names_the_class(rate_bps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stopped(FixedWindow):
        def on_sent(self, size_bytes: int, now_ns: int) -> None:
            self.rate_bps = rate_bps

    monkeypatch.setitem(CONGESTION_CONTROLS, "stopped", Stopped)
    link = FakeLink(TransportSettings(congestion="stopped"))
    link.transfer(10_000)
    with pytest.raises(ValueError, match=f"Stopped set rate_bps to {rate_bps}; the least is 1"):
        link.run()


@pytest.mark.parametrize("repaces", [True, False])
def test_a_new_rate_moves_the_waiting_packet_only_if_the_control_repaces(
    repaces: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HPCC does so in the HPCC simulator, and DCQCN does not. A frame of 1,062 B takes 8.5 us at 1 Gb/s."""

    class Hastening(FixedWindow):
        def __init__(self, parameters: Any, path: PathContext) -> None:
            super().__init__(parameters, path)
            self.rate_bps = 1_000_000_000
            self.timer_ns: int | None = 2_000

        def next_timer_ns(self) -> int | None:
            return self.timer_ns

        def on_timer(self, now_ns: int) -> None:
            self.timer_ns = None
            self.rate_bps = 10_000_000_000

    monkeypatch.setattr(Hastening, "repaces", repaces)
    monkeypatch.setitem(CONGESTION_CONTROLS, "hastening", Hastening)
    link = FakeLink(TransportSettings(congestion="hastening"))
    link.transfer(3_000)
    link.run()
    first_ns, second_ns, third_ns = (start_ns for start_ns, _, _ in link.data_sent())
    assert second_ns - first_ns == pytest.approx(2_000 if repaces else 8_496, abs=100)
    assert third_ns - second_ns == pytest.approx(850, abs=10)
