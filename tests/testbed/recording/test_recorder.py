# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the recorder: every flow of the plan has a row in the trace with its number, ends, size, start and tag."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from sfc_testbed.hosts.build import build_nics
from sfc_testbed.hosts.protocol import FlowReceived, FlowSent, Goodput, Record
from sfc_testbed.hosts.records import RecordWriter
from sfc_testbed.telemetry.figures import ReceiverFigures, SenderFigures
from sfc_testbed.telemetry.reader import read_trace
from sfc_testbed.telemetry.schema import FLOWS, GOODPUT, SIGNALS
from sfc_testbed.testbed.flows import planned
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.captures import make_way
from sfc_testbed.testbed.recording.recorder import Recorder
from tests.hosts.test_protocol import SIGNAL
from tests.testbed.incasts import plan_virtual

PLANNED = ("flow_id", "src", "dst", "size_bytes", "tag")


@pytest.fixture
def plan() -> RunPlan:
    """Return a plan with two kinds of traffic: hadoop and incast."""
    return plan_virtual("datacentre", seed=3)


def recorded(plan: RunPlan, folder: Path, *records: Record) -> pl.DataFrame:
    """Return the flows trace of a run with these records."""
    with Recorder(plan, folder) as recorder:
        for record in records:
            recorder.take(record)
    return read_trace(folder / "flows.parquet", FLOWS)


def test_the_trace_has_every_flow_of_the_plan(plan: RunPlan, tmp_path: Path) -> None:
    flows = recorded(plan, tmp_path)
    expected = [tuple(getattr(flow, name) for name in PLANNED) for flow in plan.flows]
    assert len({flow.tag for flow in plan.flows}) == 2
    assert flows.select(PLANNED).rows() == expected
    assert flows["start_us"].to_list() == [flow.start_ns / 1000 for flow in plan.flows]
    assert flows["finish_us"].null_count() == flows["slowdown"].null_count() == len(plan.flows)
    assert flows["packets_sent"].sum() == 0


def test_the_trace_is_the_same_in_one_part_and_in_many(
    plan: RunPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = [FlowSent(number, 1e9, SenderFigures(number), False, None) for number in range(len(plan.flows), 1, -3)]
    received = [FlowReceived(number, ReceiverFigures(corrupted=False)) for number in range(1, len(plan.flows), 2)]
    frames = []
    for size in (len(plan.flows), 7):
        monkeypatch.setattr(planned, "PART_FLOWS", size)
        folder = tmp_path / str(size)
        folder.mkdir()
        frames.append(recorded(plan, folder, *ends, *received))
    assert frames[0]["finish_us"].count() == len(ends)
    assert_frame_equal(*frames)


def test_nics_know_flows_by_the_plans_numbers(plan: RunPlan, tmp_path: Path) -> None:
    nics = build_nics(plan.topology, plan.flows, plan.transport, plan.dilation)
    last_ns = plan.dilation.wall_ns(max(flow.start_ns for flow in plan.flows))
    records: list[Record] = []
    writer = RecordWriter(records.append, plan.dilation, 0, {})
    for nic in nics:
        nic.frames_to_send(last_ns + 1)
        writer.write_rest(nic)
    sent = {record.flow_id: record for record in records if isinstance(record, FlowSent)}
    assert sent.keys() == {flow.flow_id for flow in plan.flows}
    flows = recorded(plan, tmp_path, *records)
    assert flows["packets_sent"].to_list() == [sent[flow.flow_id].figures.packets_sent for flow in plan.flows]
    assert flows["packets_sent"].sum() > 0


def test_the_row_of_a_flow_joins_the_records_of_sender_and_receiver(plan: RunPlan, tmp_path: Path) -> None:
    flow = plan.flows[1]
    finish_us = flow.start_ns / 1000 + 80
    counts = {"packets_sent": 7, "packets_resent": 2, "bytes_resent": 2000, "timeouts": 1, "naks": 4}
    sent = FlowSent(flow.flow_id, finish_us, SenderFigures(**counts, paused_us=2.5))
    row = recorded(plan, tmp_path, sent, FlowReceived(flow.flow_id, ReceiverFigures(corrupted=True))).row(1, named=True)
    assert (row["flow_id"], row["finish_us"], row["paused_us"], row["corrupted"]) == (2, finish_us, 2.5, True)
    assert row["fct_us"] == pytest.approx(80)
    assert row["slowdown"] == row["fct_us"] / row["ideal_fct_us"]
    assert {name: row[name] for name in counts} == counts


def test_a_run_is_complete_when_both_ends_of_all_flows_are_done(plan: RunPlan, tmp_path: Path) -> None:
    with Recorder(plan, tmp_path) as recorder:
        for flow in plan.flows:
            recorder.take(FlowReceived(flow.flow_id, ReceiverFigures(corrupted=False)))
        for flow in plan.flows[1:]:
            recorder.take(FlowSent(flow.flow_id, 1e6, SenderFigures()))
        assert (recorder.ends.completed, recorder.ends.is_complete) == (len(plan.flows) - 1, False)
        recorder.take(FlowSent(1, None, SenderFigures()))
        assert not recorder.ends.is_complete
        recorder.take(FlowSent(1, 1e6, SenderFigures()))
        assert recorder.ends.is_complete


def test_a_flow_given_up_is_not_waited_for(plan: RunPlan, tmp_path: Path) -> None:
    early, late, never, *others = plan.flows
    with Recorder(plan, tmp_path) as recorder:
        for flow in (early, *others):
            recorder.take(FlowReceived(flow.flow_id, ReceiverFigures(corrupted=False)))
        for flow in others:
            recorder.take(FlowSent(flow.flow_id, 1e6, SenderFigures()))
        for flow in (early, late, never):
            assert not recorder.ends.is_complete
            recorder.take(FlowSent(flow.flow_id, None, SenderFigures(timeouts=9), gave_up=True))
        recorder.take(FlowReceived(late.flow_id, ReceiverFigures(corrupted=False)))
        assert recorder.ends.is_complete
        assert (recorder.ends.completed, recorder.ends.undelivered) == (len(others), 0)
    flows = read_trace(tmp_path / "flows.parquet", FLOWS)
    assert flows["finish_us"].null_count() == 3
    assert flows["timeouts"].to_list()[:4] == [9, 9, 9, 0]


def test_an_acknowledged_flow_without_a_receivers_record_is_undelivered(plan: RunPlan, tmp_path: Path) -> None:
    first, second, *others = plan.flows
    with Recorder(plan, tmp_path) as recorder:
        for flow in others:
            recorder.take(FlowReceived(flow.flow_id, ReceiverFigures(corrupted=False)))
        for flow in plan.flows:
            recorder.take(FlowSent(flow.flow_id, 1e6, SenderFigures()))
        assert (recorder.ends.is_complete, recorder.ends.undelivered) == (False, 2)
        recorder.take(FlowReceived(first.flow_id, ReceiverFigures(corrupted=False)))
        assert (recorder.ends.is_complete, recorder.ends.undelivered) == (False, 1)
        recorder.take(FlowReceived(second.flow_id, ReceiverFigures(corrupted=True)))
        assert (recorder.ends.is_complete, recorder.ends.undelivered) == (True, 0)


def test_goodput_and_signal_records_are_written_unchanged(plan: RunPlan, tmp_path: Path) -> None:
    goodput = Goodput(from_us=0.0, until_us=100.0, flow_id=4, delivered_bytes=10)
    recorded(plan, tmp_path, goodput, SIGNAL)
    assert read_trace(tmp_path / "goodput.parquet", GOODPUT).rows() == [(0.0, 100.0, 4, 10)]
    (row,) = read_trace(tmp_path / "signals.parquet", SIGNALS).rows(named=True)
    assert row == {name: getattr(SIGNAL, name) for name in SIGNALS.column_names}


def test_an_existing_capture_is_renamed_with_a_number(tmp_path: Path) -> None:
    path = tmp_path / "h1-eth0.pcapng"
    for number in range(3):
        make_way(path)
        path.write_text(str(number))
    contents = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert contents == {"h1-eth0-1.pcapng": "0", "h1-eth0-2.pcapng": "1", "h1-eth0.pcapng": "2"}
