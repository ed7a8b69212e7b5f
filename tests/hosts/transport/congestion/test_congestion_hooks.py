# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the hooks of congestion controls and of the limits that they set, with a probe in the table."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest

from sfc_testbed.contract.frames import with_ttl
from sfc_testbed.contract.link import FakeLink, transferred
from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS, AckSample, CongestionControl, PathContext
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.hosts.transport.transmission import Transmission


class Probe(CongestionControl):
    """A congestion control that records every call, can pace, and has a timer every 3 us."""

    __slots__ = ("_timer_ns",)

    ecn_capable = True
    calls: list[tuple[Any, ...]]

    @dataclass(frozen=True)
    class Parameters:
        pace_bps: int = 0
        """Pacing rate; 0: line rate."""
        period_ns: int = 3_000
        """Time between timers."""
        gain: float = 0.5
        """Value without a unit."""

    def __init__(self, parameters: Parameters, path: PathContext) -> None:
        super().__init__(parameters, path)
        type(self).calls.append(("init", parameters, path))
        self.rate_bps = parameters.pace_bps or path.line_rate_bps
        self._timer_ns = parameters.period_ns

    def on_sent(self, size_bytes: int, now_ns: int) -> None:
        type(self).calls.append(("sent", size_bytes, now_ns))

    def on_ack(self, sample: AckSample, now_ns: int) -> None:
        type(self).calls.append(("ack", sample, now_ns))

    def on_loss(self, size_bytes: int, now_ns: int) -> None:
        type(self).calls.append(("loss", size_bytes, now_ns))

    def on_timer(self, now_ns: int) -> None:
        type(self).calls.append(("timer", now_ns))
        self._timer_ns = now_ns + 3_000

    def next_timer_ns(self) -> int | None:
        return self._timer_ns


@pytest.fixture
def probe(monkeypatch: pytest.MonkeyPatch) -> type[Probe]:
    """Add the probe to the table for one test."""
    Probe.calls = []
    monkeypatch.setitem(CONGESTION_CONTROLS._rows, "probe", Probe)
    return Probe


def of(kind: str) -> list[tuple[Any, ...]]:
    return [call for call in Probe.calls if call[0] == kind]


def test_parameters_and_path_are_in_wall_units(probe: type[Probe]) -> None:
    settings = TransportSettings(congestion="probe", congestion_parameters={"pace_bps": 50_000_000_000, "gain": 0.25})
    transferred(1_000, settings, dilation=1000)
    ((_, parameters, path),) = of("init")
    assert (parameters.pace_bps, parameters.period_ns, parameters.gain) == (50_000_000, 3_000_000, 0.25)
    assert path == PathContext(100_000_000, 10_000_000, 1000, 125_000, 310_000_000)


def test_every_acknowledgement_gives_a_sample_with_rtt_and_byte_counts(probe: type[Probe]) -> None:
    transferred(2_500, TransportSettings(congestion="probe"))
    samples = [call[1] for call in of("ack")]
    assert [sample.acked_bytes for sample in samples] == [1000, 1000, 500]
    assert [sample.cumulative_bytes for sample in samples] == [1000, 2000, 2500]
    assert [sample.in_flight_bytes for sample in samples] == [2000, 1000, 0]
    assert {sample.sent_bytes for sample in samples} == {2500}
    assert samples[0].rtt_ns == 84 + 5_000 + 5 + 5_000 or samples[0].rtt_ns == 84 + 5_000 + 4 + 5_000
    assert [call[1] for call in of("sent")] == [1000, 1000, 500]


def test_samples_of_resent_packets_have_no_rtt(probe: type[Probe]) -> None:
    """The acknowledgement may be for either transmission (Karn's rule)."""
    transferred(
        1_000, TransportSettings(congestion="probe", rto_ns=50_000), drop=lambda number, name, frame: number == 0
    )
    (sample,) = [call[1] for call in of("ack")]
    assert sample.rtt_ns is None
    assert of("loss") == [("loss", 1000, 50_000)]


def test_packets_are_paced_by_their_size(probe: type[Probe]) -> None:
    settings = TransportSettings(congestion="probe", congestion_parameters={"pace_bps": 50_000_000_000})
    transferred(10_000, settings)
    starts = [call[2] for call in of("sent")]
    assert [late - early for early, late in pairwise(starts)] == [1058 * 8 // 50] * 9


def test_timers_fire_at_their_time_until_the_flow_ends(probe: type[Probe]) -> None:
    link = transferred(1_000, TransportSettings(congestion="probe"))
    finish_ns = link.of(Transmission, "a")[0].finish_ns
    assert of("timer") == [("timer", time) for time in range(3_000, finish_ns, 3_000)]
    assert link.a.next_timer_ns() is None


def test_ecn_capable_controls_send_ecn_capable_data_packets(probe: type[Probe]) -> None:
    link = transferred(1_000, TransportSettings(congestion="probe"))
    assert {(name, frame[15]) for _, name, frame in link.sent} == {("a", 26 << 2 | 2), ("b", 48 << 2)}


@pytest.mark.parametrize("flow_control", ["none", "sfc", "onramp"])
def test_the_one_way_delay_is_measured_with_any_flow_control(
    probe: type[Probe], monkeypatch: pytest.MonkeyPatch, flow_control: str
) -> None:
    """The one-way delay has a resolution of 1 us of wall time."""
    monkeypatch.setattr(probe, "wants_delay", True)
    transferred(20_000, TransportSettings(congestion="probe", flow_control=flow_control), dilation=1000)
    samples = [call[1] for call in of("ack")]
    assert len(samples) == 20
    for sample in samples:
        assert sample.one_way_delay_ns == pytest.approx(1000 * (5_000 + 1058 * 8 // 100 + 1), abs=2_000)
        assert sample.rtt_ns > sample.one_way_delay_ns + 1000 * 5_000


class _Narrow(CongestionControl):
    """A congestion control with a window and a rate that the test sets."""

    __slots__ = ()

    window: int
    is_paced: bool

    def __init__(self, parameters: Any, path: PathContext) -> None:
        super().__init__(parameters, path)
        self.window_bytes = self.window
        self.rate_bps = path.line_rate_bps // 4 if self.is_paced else path.line_rate_bps


@pytest.mark.parametrize(
    ("window_bytes", "is_paced", "expected_count"),
    [(0, False, 5), (-1, True, 5), (10, False, 5), (999, False, 5), (999, True, 0), (1_000, False, 0)],
)
def test_packets_sent_with_a_window_below_one_packet_are_counted(
    monkeypatch: pytest.MonkeyPatch, window_bytes: int, is_paced: bool, expected_count: int
) -> None:
    monkeypatch.setattr(_Narrow, "window", window_bytes, raising=False)
    monkeypatch.setattr(_Narrow, "is_paced", is_paced, raising=False)
    monkeypatch.setitem(CONGESTION_CONTROLS._rows, "narrow", _Narrow)
    link = transferred(5_000, TransportSettings(congestion="narrow"))
    assert link.a.statistics().small_window_packets == expected_count
    starts = [time_ns for time_ns, name, _ in link.sent if name == "a"]
    assert len(starts) == 5
    assert all(later - earlier >= 2 * 5_000 for earlier, later in pairwise(starts))  # one packet per RTT


def test_a_window_of_one_bdp_is_not_counted_where_a_bdp_is_less_than_a_packet() -> None:
    link = transferred(5_000, TransportSettings(congestion="window", bdp_bytes=500))
    assert link.a.statistics().small_window_packets == 0


@pytest.mark.parametrize("switches", [0, 3])
def test_a_sample_has_the_number_of_switches_from_the_ttl_of_the_acknowledgement(
    probe: type[Probe], switches: int
) -> None:
    def forwarded(number: int, name: str, frame: bytes) -> bytes:
        return with_ttl(frame, 64 - switches)

    link = FakeLink(TransportSettings(congestion="probe"), change=forwarded)
    link.transfer(1_000)
    link.run()
    assert [call[1].switches for call in of("ack")] == [switches]
