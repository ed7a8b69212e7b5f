# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The contract every row of every algorithm table keeps, alone and in every combination, on a hostile link."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import pytest

from hosts.transport.congestion import CONGESTION_CONTROLS, PathContext
from hosts.transport.congestion.window import FixedWindow
from hosts.transport.flow_control import FLOW_CONTROLS
from hosts.transport.loss_recovery import LOSS_RECOVERIES
from hosts.transport.loss_recovery.base import NEVER
from hosts.transport.messages import BtsReceived, MessageCompleted, MessageReceived
from hosts.transport.settings import TransportSettings
from tests.hosts.transport.fake_link import MAC_B, FakeLink, plain
from tests.hosts.transport.fake_star import with_record, with_tos
from wire.constants import ECN_CONGESTION_EXPERIENCED, INT_FLAG_ECHO, INT_UDP_PORT, ROCE_UDP_PORT
from wire.int_header import HopRecord, has_telemetry
from wire.pfc import pack_frame, quanta_ns
from wire.roce.decoder import parse_header
from wire.roce.packets import Opcode
from wire.units import NS_PER_S

COMBINATIONS = list(itertools.product(CONGESTION_CONTROLS, FLOW_CONTROLS, LOSS_RECOVERIES))
OBEYING = [row for row in COMBINATIONS if FLOW_CONTROLS[row[1]].obeys_signals]
IGNORING = [row for row in COMBINATIONS if not FLOW_CONTROLS[row[1]].obeys_signals]
WINDOW_BYTES = 20_000


@dataclass(frozen=True)
class Weather:
    """What the link does to frames, and when pauses come."""

    link: dict[str, Any] = field(default_factory=dict)
    pauses: tuple[tuple[int, int], ...] = ()
    """(arrival, pause) in us, for the first flow."""


def congested(number: int, name: str, frame: bytes) -> bytes:
    """Every third ECN-capable packet is marked; packets that ask for telemetry get a record of a long queue."""
    if frame[15] & 0x3 and number % 3 == 0:
        frame = with_tos(frame, frame[15] | ECN_CONGESTION_EXPERIENCED)
    if has_telemetry(frame) and not frame[43] & INT_FLAG_ECHO:
        frame = with_record(frame, HopRecord(100_000_000, number, number * 1000, 200_000))
    return frame


WEATHERS = {
    "clear": Weather(),
    "loss": Weather({"loss": 0.05}),
    "heavy loss": Weather({"loss": 0.3}),
    "reorder": Weather({"reorder": 0.1}),
    "duplicate": Weather({"duplicate": 0.2}),
    "pauses": Weather(pauses=((3, 30), (8, 5), (20, 40), (25, 60))),
    "congestion": Weather({"change": congested}),
    "storm": Weather({"loss": 0.05, "reorder": 0.05, "duplicate": 0.05}, ((3, 30), (8, 5), (20, 40), (25, 60))),
}


def settings_of(congestion: str, flow_control: str, loss_recovery: str) -> TransportSettings:
    """Small timeouts, so that heavy loss ends soon."""
    window = {"window_bytes": WINDOW_BYTES} if congestion == "window" else {}
    return TransportSettings(
        congestion=congestion,
        flow_control=flow_control,
        loss_recovery=loss_recovery,
        congestion_parameters=window,
        rto_ns=200_000,
    )


def _data_port(settings: TransportSettings) -> int:
    """Return the UDP port of a flow's data packets, which a BTS about the flow repeats."""
    congestion = CONGESTION_CONTROLS[settings.congestion]
    wants_delay = congestion.wants_delay or FLOW_CONTROLS[settings.flow_control].wants_delay
    has_shim = congestion.wants_telemetry or wants_delay
    return INT_UDP_PORT if has_shim else ROCE_UDP_PORT


def transfer(settings: TransportSettings, weather: Weather, seed: int = 7) -> FakeLink:
    """Two messages one way on their own QPs, two on one QP the other way, until nothing is left to do."""
    link = FakeLink(settings, seed=seed, **weather.link)
    for flow in (link.transfer(60_000), link.transfer(25_001, ready_ns=4_000)):
        assert flow > 0
    link.transfer(9_999, backwards=True, qpn=9)
    link.transfer(1, backwards=True, qpn=9)
    for arrival_us, pause_us in weather.pauses:
        link.inject(arrival_us * 1000, link.a, link.bts(1, pause_us, destination_port=_data_port(settings)))
    link.run()
    return link


@pytest.mark.parametrize("weather", WEATHERS)
@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), COMBINATIONS)
def test_everything_arrives_once_and_whole(
    congestion: str, flow_control: str, loss_recovery: str, weather: str
) -> None:
    """Whatever the link does: each message completes once at either end, uncorrupted."""
    link = transfer(settings_of(congestion, flow_control, loss_recovery), WEATHERS[weather])
    received = link.of(MessageReceived, "b") + link.of(MessageReceived, "a")
    completed = link.of(MessageCompleted, "a") + link.of(MessageCompleted, "b")
    assert sorted(event.flow_id for event in received) == [1, 2, 3, 4]
    assert sorted(event.report.message.flow_id for event in completed) == [1, 2, 3, 4]
    assert not any(event.corrupted for event in received)
    for event in completed:
        assert event.finish_ns > event.report.message.ready_ns
        assert 0 <= event.report.paused_ns <= event.finish_ns - event.report.message.ready_ns
        assert event.report.counts.packets_sent - event.report.counts.packets_resent == -(
            -event.report.message.size_bytes // 1000
        )
    assert not link.a.unfinished_messages()
    assert link.a.next_timer_ns() is None


@pytest.mark.parametrize("weather", ["pauses", "storm"])
@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), OBEYING)
def test_no_packet_starts_while_its_flow_is_paused(
    congestion: str, flow_control: str, loss_recovery: str, weather: str
) -> None:
    """A newer BTS replaces the end; between its arrival and that end the flow is silent, and later it goes on."""
    link = transfer(settings_of(congestion, flow_control, loss_recovery), WEATHERS[weather])
    signals = link.of(BtsReceived, "a")
    assert [event.obeyed for event in signals] == [True] * len(WEATHERS[weather].pauses)
    starts = [start_ns for start_ns, _ in _data_starts(link, destination_qpn=101)]
    replaced = [event.received_ns for event in signals[1:]] + [NEVER]
    for event, replaced_ns in zip(signals, replaced, strict=True):
        assert event.paused_until_ns is not None
        until_ns = min(event.paused_until_ns, replaced_ns)
        assert not [start for start in starts if event.received_ns <= start < until_ns]
    second_end_ns = signals[1].paused_until_ns
    assert second_end_ns is not None
    assert max(starts) >= second_end_ns, "the second pause ends before the message does"


@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), IGNORING)
def test_a_bts_changes_nothing_for_rows_that_ignore_it(congestion: str, flow_control: str, loss_recovery: str) -> None:
    """It is received and recorded; the frames are those of a run without it."""
    settings = settings_of(congestion, flow_control, loss_recovery)
    paused, clear = transfer(settings, WEATHERS["pauses"]), transfer(settings, WEATHERS["clear"])
    signals = paused.of(BtsReceived, "a")
    assert [event.obeyed for event in signals] == [False] * len(WEATHERS["pauses"].pauses)
    assert paused.sent == clear.sent


@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), COMBINATIONS)
def test_only_rows_that_obey_class_pauses_do(congestion: str, flow_control: str, loss_recovery: str) -> None:
    """An 802.1Qbb frame stops all data of those that listen, and only of those."""
    link = FakeLink(settings_of(congestion, flow_control, loss_recovery))
    link.transfer(60_000)
    link.inject(3_000, link.a, pack_frame(MAC_B, {3: 65535}))
    link.run()
    until_ns = 3_000 + quanta_ns(65535, link.rate_bps)
    held = not [start for start, _ in _data_starts(link, destination_qpn=101) if 3_000 <= start < until_ns]
    assert held == FLOW_CONTROLS[flow_control].obeys_class_pause
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
@pytest.mark.parametrize("weather", ["clear", "pauses"])
def test_packets_in_flight_respect_the_window(flow_control: str, loss_recovery: str, weather: str) -> None:
    """Seen from the wire: bytes sent and not acknowledged stay within the window and one packet."""
    link = transfer(settings_of("window", flow_control, loss_recovery), WEATHERS[weather])
    moves = [(start_ns, psn + 1, 0) for start_ns, psn in _data_starts(link, destination_qpn=101)]
    for arrival_ns, receiver, delivered in link.delivered:
        frame = plain(delivered)
        header = parse_header(frame)
        if (
            receiver == "a"
            and header is not None
            and (header.opcode, header.destination_qpn) == (Opcode.ACKNOWLEDGE, 1)
        ):
            moves.append((arrival_ns, 0, (header.psn_word(frame) & 0xFFFFFF) + 1))
    sent, acknowledged, most = 0, 0, 0
    for _, sent_now, acknowledged_now in sorted(moves):
        sent, acknowledged = max(sent, sent_now), max(acknowledged, acknowledged_now)
        most = max(most, sent - acknowledged)
    assert WINDOW_BYTES / 2 < most * 1000 <= WINDOW_BYTES + 1000


@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), COMBINATIONS)
def test_the_same_inputs_give_the_same_frames(congestion: str, flow_control: str, loss_recovery: str) -> None:
    """Deterministic to the byte and the nanosecond."""
    settings = settings_of(congestion, flow_control, loss_recovery)
    first, second = transfer(settings, WEATHERS["storm"]), transfer(settings, WEATHERS["storm"])
    assert first.sent == second.sent
    assert first.events == second.events


@pytest.mark.parametrize(("congestion", "flow_control", "loss_recovery"), COMBINATIONS)
def test_dilation_stretches_time_and_nothing_else(congestion: str, flow_control: str, loss_recovery: str) -> None:
    """Ten times the factor: the same packets leave ten times later (to the rounding of a frame's time)."""
    settings = settings_of(congestion, flow_control, loss_recovery)
    fast, slow = FakeLink(settings, dilation=100), FakeLink(settings, dilation=1000)
    for link in (fast, slow):
        link.transfer(60_000)
        link.run()
    assert [plain(frame) for *_, frame in fast.sent] == [plain(frame) for *_, frame in slow.sent]
    for (early_ns, *_), (late_ns, *_) in zip(fast.sent, slow.sent, strict=True):
        assert late_ns == pytest.approx(early_ns * 10, abs=20)


def test_every_row_documents_its_parameters() -> None:
    """A frozen dataclass; durations and rates carry their unit in their name."""
    for table in (CONGESTION_CONTROLS, FLOW_CONTROLS, LOSS_RECOVERIES):
        for name, row in table.items():
            assert row.__doc__, name
            assert row.Parameters.__dataclass_params__.frozen, name


@pytest.mark.parametrize(("name", "row"), CONGESTION_CONTROLS.items())
def test_congestion_controls_start_with_room_to_send(name: str, row: type[Any]) -> None:
    """Positive window and rate."""
    path = PathContext(100_000_000_000, 10_000, 1000, 125_000)
    control = row(row.resolve(row.Parameters(), path), path)
    assert control.window_bytes > 0
    assert control.rate_bps > 0
    timer_ns = control.next_timer_ns()
    assert timer_ns is None or timer_ns > 0


@pytest.mark.parametrize("rate_bps", [0, -1])
def test_a_rate_at_which_nothing_is_sent_is_refused(rate_bps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the name of the class, which somebody may have just written."""

    class Stubborn(FixedWindow):
        def on_sent(self, size_bytes: int, now_ns: int) -> None:
            self.rate_bps = rate_bps

    monkeypatch.setitem(CONGESTION_CONTROLS, "stubborn", Stubborn)
    link = FakeLink(TransportSettings(congestion="stubborn"))
    link.transfer(10_000)
    with pytest.raises(ValueError, match=f"Stubborn set rate_bps to {rate_bps}; the least is 1"):
        link.run()
