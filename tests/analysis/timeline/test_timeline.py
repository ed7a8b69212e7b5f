# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the tracks, slices, counters and arrows of small traces."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.results.stored import Run, load_run
from sfc_testbed.analysis.timeline.pause_frames import CapturedPort
from sfc_testbed.analysis.timeline.timeline import write_timeline
from sfc_testbed.request.spec import FaultSpan
from sfc_testbed.telemetry.captures.clock import CaptureClock
from sfc_testbed.telemetry.captures.pcapng import CaptureWriter, Direction
from sfc_testbed.telemetry.schema import CONGESTION, FLOWS, GOODPUT, LATENESS, QUEUES, SIGNALS, WHOLE_BUFFER
from sfc_testbed.wire.pfc import pack_frame, quanta_ns
from tests.analysis.conftest import CONFIG, FolderMaker, trace_of
from tests.analysis.timeline.reading import Slice, Timeline, read_timeline

Draw = Callable[..., Timeline]

ROOT = "hadoop-50 sfc"


def _flows(*rows: dict[str, Any]) -> pl.DataFrame:
    numbered = [{"flow_id": number, **row} for number, row in enumerate(rows, 1)]
    return trace_of(
        FLOWS, numbered, src="h1", dst="h9", tag="incast", size_bytes=2000, ideal_fct_us=4.0, corrupted=False
    )


def _signals(*rows: dict[str, Any]) -> pl.DataFrame:
    usual = {"host": "h1", "flow_id": 1, "switch": "tor2", "cause": "queue", "pause_us": 5.0, "queue_depth_bytes": 9000}
    return trace_of(SIGNALS, rows, cacheable=True, obeyed=True, **usual)


def _queues(*rows: tuple[float, int, int, int, int]) -> pl.DataFrame:
    """Return queue rows of tor2 from (time, port, class, depth, high-water mark)."""
    names = ("time_us", "port", "class", "depth_bytes", "high_water_bytes")
    return trace_of(QUEUES, [dict(zip(names, row, strict=True)) for row in rows], switch="tor2")


@pytest.fixture
def stored(make_run_folder: FolderMaker) -> Run:
    """Return a run without traces."""
    run = load_run(make_run_folder("sfc", flows=_flows({"start_us": 0.0})))
    return replace(run.without_traces(), config=None)


@pytest.fixture
def draw(stored: Run, tmp_path: Path) -> Draw:
    """Return a function that writes a run with a test's traces as a timeline and reads it back."""

    def make(
        *,
        peers: dict[tuple[str, int], str] | None = None,
        captures: Sequence[CapturedPort] = (),
        **traces: pl.DataFrame,
    ) -> Timeline:
        lazy = {name: frame if name in ("flows", "lateness") else frame.lazy() for name, frame in traces.items()}
        path, problems = _written(replace(stored, **lazy), tmp_path, peers, captures)  # type: ignore[arg-type]
        assert problems == []
        return read_timeline(path)

    return make


def _written(
    run: Run, folder: Path, peers: dict[tuple[str, int], str] | None = None, captures: Sequence[CapturedPort] = ()
) -> tuple[Path, list[str]]:
    """Write a run as a timeline, and return the file and the problems."""
    path = folder / "timeline"
    with path.open("wb") as file:
        return path, write_timeline(run, file, peers=peers or {}, captures=captures)


def _spans(slices: Sequence[Slice]) -> list[tuple[int, int | None]]:
    return [(piece.begin_ns, piece.end_ns) for piece in slices]


def test_a_flow_is_a_slice_from_its_start_to_its_end_with_its_figures(draw: Draw) -> None:
    row = {"start_us": 1.5, "finish_us": 9.25, "fct_us": 7.75, "slowdown": 1.9375, "packets_resent": 3, "timeouts": 0}
    [flow] = draw(flows=_flows(row)).at(ROOT, "h1", "flows")
    assert (flow.begin_ns, flow.end_ns, flow.name) == (1500, 9250, "incast 1 to h9")
    planned = {"flow_id": 1, "dst": "h9", "tag": "incast", "size_bytes": 2000, "ideal_fct_us": 4.0, "corrupted": False}
    measured = {name: row[name] for name in ("fct_us", "slowdown", "packets_resent", "timeouts")}
    assert flow.arguments == planned | measured


def test_overlapping_flows_are_on_different_tracks(draw: Draw) -> None:
    spans = [(0.0, 10.0), (4.0, 6.0), (5.0, 7.0), (6.0, 9.0), (10.0, 12.0), (11.0, 13.0)]
    rows = [{"start_us": begin, "finish_us": end} for begin, end in reversed(spans)]
    flows = draw(flows=_flows(*rows)).at(ROOT, "h1", "flows")
    assert _spans(flows) == [(1000 * begin, 1000 * end) for begin, end in spans]
    assert {flow.depth for flow in flows} == {0}
    assert len({flow.track for flow in flows}) == 3


def test_a_flow_that_did_not_finish_has_no_end_and_keeps_its_track(draw: Draw) -> None:
    first, second = draw(flows=_flows({"start_us": 1.0}, {"start_us": 5.0, "finish_us": 6.0})).at(ROOT, "h1", "flows")
    assert _spans([first, second]) == [(1000, None), (5000, 6000)]
    assert first.track != second.track


def test_a_flow_that_never_started_is_not_drawn(draw: Draw) -> None:
    timeline = draw(flows=_flows({}, {"start_us": 5.0, "finish_us": 6.0}))
    assert [flow.name for flow in timeline.at(ROOT, "h1", "flows")] == ["incast 2 to h9"]


def test_a_bts_is_at_its_switch_with_an_arrow_to_the_pause_that_it_set(draw: Draw) -> None:
    signals = _signals({"sent_us": 2.0, "received_us": 3.0, "paused_until_us": 8.0})
    timeline = draw(flows=_flows({"start_us": 1.0, "finish_us": 20.0}), signals=signals)
    [bts] = timeline.at(ROOT, "tor2", "BTS")
    assert (bts.begin_ns, bts.is_instant, bts.name) == (2000, True, "BTS to h1 (queue)")
    assert bts.arguments == {
        "flow_id": 1, "host": "h1", "cause": "queue", "pause_us": 5.0, "queue_depth_bytes": 9000, "cacheable": True,
        "obeyed": True, "received_us": 3.0,
    }  # fmt: skip
    flow, pause = timeline.at(ROOT, "h1", "flows")
    assert (pause.name, pause.begin_ns, pause.end_ns) == ("paused by tor2 (queue)", 3000, 8000)
    assert (pause.track, pause.depth) == (flow.track, 1)
    assert bts.arrows_from == pause.arrows_to != []


def test_a_bts_that_found_nothing_left_to_send_is_no_pause(draw: Draw) -> None:
    signals = _signals({"sent_us": 2.0, "received_us": 3.0, "paused_until_us": 3.0})
    timeline = draw(flows=_flows({"start_us": 1.0, "finish_us": 20.0}), signals=signals)
    bts = timeline.at(ROOT, "h1", "flows")[1]
    assert (bts.name, bts.begin_ns, bts.is_instant) == ("BTS from tor2 (queue), nothing left to send", 3000, True)


def test_a_newer_pause_ends_the_older_and_no_pause_outlives_its_flow(draw: Draw) -> None:
    signals = _signals(
        {"sent_us": 5.0, "received_us": 6.0, "paused_until_us": 7.0},
        {"sent_us": 2.0, "received_us": 3.0, "paused_until_us": 9.0},
        {"sent_us": 9.0, "received_us": 10.0, "paused_until_us": 40.0},
    )
    timeline = draw(flows=_flows({"start_us": 1.0, "finish_us": 20.0}), signals=signals)
    assert _spans(timeline.named("paused")) == [(3000, 6000), (6000, 7000), (10_000, 20_000)]
    assert _spans(timeline.named("incast")) == [(1000, 20_000)]
    arrows = [bts.arrows_from for bts in timeline.at(ROOT, "tor2", "BTS")]
    assert [pause.arrows_to for pause in timeline.named("paused")] == arrows


def test_a_signal_that_sets_no_pause_is_an_instant_at_the_host(draw: Draw) -> None:
    signals = _signals(
        {"sent_us": 2.0, "received_us": 3.0, "obeyed": False},
        {"sent_us": 3.0, "received_us": 4.0, "cause": "feedback", "pause_us": 0.0},
    )
    timeline = draw(flows=_flows({"start_us": 1.0, "finish_us": 20.0}), signals=signals)
    ignored, slowed = timeline.named("BTS from")[0], timeline.named("slowed down")[0]
    assert (ignored.name, ignored.begin_ns, ignored.is_instant) == ("BTS from tor2 ignored", 3000, True)
    assert (slowed.name, slowed.begin_ns, slowed.is_instant) == ("slowed down by tor2", 4000, True)
    assert [ignored.arrows_to, slowed.arrows_to] == [bts.arrows_from for bts in timeline.at(ROOT, "tor2", "BTS")]


@pytest.mark.parametrize("flow_id", [1, 7, None])
def test_a_signal_outside_active_flows_has_its_own_track(draw: Draw, flow_id: int | None) -> None:
    signals = _signals({"sent_us": 20.0, "received_us": 21.0, "flow_id": flow_id, "obeyed": False})
    timeline = draw(flows=_flows({"start_us": 1.0, "finish_us": 20.0}), signals=signals)
    [outside] = timeline.at(ROOT, "h1", "BTS outside flows")
    [bts] = timeline.at(ROOT, "tor2", "BTS")
    assert bts.arrows_from == outside.arrows_to != []
    assert _spans(timeline.at(ROOT, "h1", "flows")) == [(1000, 20_000)]


def test_a_counter_holds_the_peak_of_each_sampling_interval(draw: Draw) -> None:
    """A queue without a row in an interval was empty; after the last interval a counter has the last depth."""
    whole = WHOLE_BUFFER
    queues = _queues(
        (10.0, whole, whole, 500, 900),
        (10.0, 3, 3, 500, 900),
        (20.0, whole, whole, 0, 500),
        (20.0, 3, 3, 0, 500),
        (30.0, whole, whole, 0, 0),
        (40.0, whole, whole, 200, 700),
        (40.0, 3, 3, 200, 700),
    )
    timeline = draw(queues=queues, peers={("tor2", 3): "h9"})
    expected = [(0, 900), (10_000, 500), (20_000, 0), (30_000, 700), (40_000, 200)]
    assert timeline.counters[ROOT, "tor2", "buffer"] == [(0, 0), *expected]
    assert timeline.counters[ROOT, "tor2", "port 3 to h9"] == [(0, 0), *expected]


def test_counters_name_the_class_if_there_are_several(draw: Draw) -> None:
    timeline = draw(queues=_queues((10.0, -1, -1, 0, 9), (10.0, 3, 3, 0, 8), (10.0, 3, 7, 0, 1), (10.0, 4, 7, 0, 1)))
    names = [place[-1] for place in timeline.counters]
    assert names == ["buffer", "port 3, class 3", "port 3, class 7", "port 4, class 7"]


def test_goodput_is_zero_where_an_interval_has_no_row(draw: Draw) -> None:
    flows = _flows({"start_us": 0.0, "finish_us": 9.0}, {"start_us": 0.0, "finish_us": 9.0, "src": "h2"})
    usual = {"from_us": 2.0, "until_us": 4.0, "flow_id": 1, "delivered_bytes": 12_500}
    goodput = trace_of(GOODPUT, [usual, usual | {"flow_id": 2}, usual | {"from_us": 6.0, "until_us": 8.0}])
    counters = draw(flows=flows, goodput=goodput).counters
    assert counters[ROOT, "h1", "goodput sent"] == [
        (0, 0), (0, 0), (2000, 50.0), (4000, 0), (6000, 50.0), (8000, 0)
    ]  # fmt: skip
    assert [value for _, value in counters[ROOT, "h9", "goodput received"]] == [0, 0, 100.0, 0, 50.0, 0]


def test_a_congestion_control_has_counters_of_its_traced_columns(draw: Draw) -> None:
    rows = [
        {"time_us": 1.0, "rate_bps": 50_000_000_000},
        {"time_us": 2.0, "rate_bps": 25_000_000_000, "rtt_us": 12.5},
    ]
    timeline = draw(flows=_flows({"start_us": 0.0}), congestion=trace_of(CONGESTION, rows, flow_id=1))
    group = (ROOT, "h1", "congestion control")
    assert timeline.counters == {
        (*group, "flow 1 rate"): [(1000, 50.0), (2000, 25.0)],
        (*group, "flow 1 round trip"): [(2000, 12.5)],
    }


def test_lateness_of_a_switch_is_at_the_switch_and_of_hosts_at_the_run(draw: Draw) -> None:
    rows = [
        {"time_us": 10.0, "part": "switch", "node": "tor2", "max_us": 0.5},
        {"time_us": 10.0, "part": "host", "node": "agent1", "max_us": 1.5},
    ]
    timeline = draw(queues=_queues((10.0, -1, -1, 0, 0)), lateness=trace_of(LATENESS, rows, departures=1))
    assert timeline.counters[ROOT, "tor2", "lateness"] == [(10_000, 0.5)]
    assert timeline.counters[ROOT, "lateness of agent1"] == [(10_000, 1.5)]


def test_switches_come_before_hosts_and_10_after_9(draw: Draw) -> None:
    flows = _flows({"start_us": 1.0, "finish_us": 2.0, "src": "h10"}, {"start_us": 1.0, "finish_us": 2.0, "src": "h2"})
    timeline = draw(flows=flows, queues=_queues((10.0, -1, -1, 0, 0)))
    assert [place[1] for place in timeline.places if len(place) == 2] == ["tor2", "h2", "h9", "h10"]


def test_the_run_is_a_slice_with_its_verdict_and_totals(draw: Draw, stored: Run) -> None:
    [run] = draw(flows=_flows({"start_us": 1.0, "finish_us": 20.0})).at(ROOT)
    assert (run.begin_ns, run.end_ns) == (0, 20_000)
    assert run.arguments["verdict"] == stored.result.verdict
    assert run.arguments["drops.tail_drop"] == 38


def test_faults_are_slices(stored: Run, tmp_path: Path) -> None:
    """A fault without an end lasts as long as the run."""
    spans = (
        FaultSpan(spec="link:a-b,down=2us,up=5us", label="a-b down", begin_us=2.0, end_us=5.0),
        FaultSpan(spec="loss:all,rate=1%", label="loss", begin_us=0.0, end_us=None),
    )
    run = replace(stored, config=replace(CONFIG, fault_spans=spans), flows=_flows({"start_us": 1.0, "finish_us": 20.0}))
    faults = read_timeline(_written(run, tmp_path)[0]).at(ROOT, "faults")
    assert [(fault.name, fault.begin_ns, fault.end_ns) for fault in faults] == [
        ("loss", 0, 20_000),
        ("a-b down", 2000, 5000),
    ]
    assert {fault.depth for fault in faults} == {0}


def test_captured_pfc_frames_are_pauses_until_the_next_frame_or_their_end(draw: Draw, tmp_path: Path) -> None:
    """Times in a capture are wall times, here ten times the model times. A resume ends only the pause of its class."""
    frames = [(0, {3: 1000, 4: 1000}), (20_000, {3: 1000}), (30_000, {3: 0}), (900_000, {3: 10})]
    with CaptureWriter(tmp_path / "h1.pcapng", "h1-eth0", CaptureClock(10, 0)) as capture:
        for time_ns, quanta in frames:
            capture.write(time_ns, pack_frame(1, quanta), Direction.IN)
    port = CapturedPort("h1", 0, "tor1", 100_000_000_000, tmp_path / "h1.pcapng")
    pauses = draw(captures=[port]).at(ROOT, "h1", "PFC received from tor1")
    assert sorted((pause.name, pause.begin_ns, pause.end_ns) for pause in pauses) == [
        ("class 3 paused", 0, 2000),
        ("class 3 paused", 2000, 3000),
        ("class 3 paused", 90_000, 90_000 + quanta_ns(10, port.rate_bps)),
        ("class 4 paused", 0, quanta_ns(1000, port.rate_bps)),
    ]
    assert {pause.depth for pause in pauses} == {0}


def test_a_capture_that_cannot_be_read_is_a_problem(stored: Run, tmp_path: Path) -> None:
    (tmp_path / "h2.pcapng").write_bytes(b"not a capture at all")
    ports = [CapturedPort(name, 0, "tor1", 1, tmp_path / f"{name}.pcapng") for name in ("h1", "h2")]
    assert _written(stored, tmp_path, captures=ports)[1] == [
        f"{tmp_path / 'h1.pcapng'} cannot be read (No such file or directory).",
        f"{tmp_path / 'h2.pcapng'}: not a pcapng file.",
    ]


def test_pieces_of_any_size_make_the_same_timeline(
    make_run_folder: FolderMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Flows and rows are read in pieces, so that a long run does not have to fit into memory."""
    run = load_run(make_run_folder("sfc"))
    written = []
    for pieces in (1_000_000, 97):
        monkeypatch.setattr("sfc_testbed.analysis.timeline.flows._FLOWS_AT_ONCE", pieces)
        monkeypatch.setattr("sfc_testbed.analysis.timeline.rows._BATCH_ROWS", pieces)
        written.append(_written(run, tmp_path)[0].read_bytes())
    assert written[0] == written[1]
    timeline = read_timeline(tmp_path / "timeline")
    assert len(timeline.named("incast") + timeline.named("hadoop ")) == run.flows.height
