# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Timelines of whole runs: they contain the traces' data; damaged runs are refused or exported in part."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.telemetry.schema import FLOWS, QUEUES, SIGNALS, TraceSchema
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.execute import StoredRun
from sfc_testbed.testbed.execution.perfetto_export import TIMELINE_FILE, export_perfetto
from tests.analysis.timeline.reading import Timeline, read_timeline
from tests.testbed.incasts import run_incast

SMALL = ("degree=4", "message_bytes=100000", "switch.q_th_bytes=60000", "switch.q_tg_bytes=30000")


def _timeline(run: StoredRun, out: Path) -> Timeline:
    exported = export_perfetto(run.folder, out)
    assert exported.problems == []
    assert [path.name for path in out.iterdir()] == [TIMELINE_FILE]
    return read_timeline(exported.path)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> StoredRun:
    """Execute an incast that SFC pauses."""
    return run_incast(tmp_path_factory.mktemp("runs"), "sfc", *SMALL, "transport.cc_trace_ns=2000")


def test_the_timeline_has_every_flow_bts_and_pause_of_the_traces(finished: StoredRun, tmp_path: Path) -> None:
    timeline = _timeline(finished, tmp_path / "out")
    flows = pl.read_parquet(finished.folder / FLOWS.file_name)
    slices = {
        flow.arguments["flow_id"]: flow
        for flow in timeline.named("incast ")
        if flow.depth == 0 and flow.arguments.get("flow_id")
    }
    assert {number: (flow.place[1], flow.begin_ns, flow.end_ns) for number, flow in slices.items()} == {
        row["flow_id"]: (row["src"], round(row["start_us"] * 1000), round(row["finish_us"] * 1000))
        for row in flows.iter_rows(named=True)
    }
    signals = pl.read_parquet(finished.folder / SIGNALS.file_name)
    bts = [signal for signal in timeline.slices if signal.place[-1] == "BTS"]
    assert sorted((signal.place[1], signal.begin_ns) for signal in bts) == sorted(
        (row["switch"], round(row["sent_us"] * 1000)) for row in signals.iter_rows(named=True)
    )
    assert len(bts) > 0
    targets = {target.arrows_to[0]: target for target in timeline.slices if target.arrows_to}
    for signal in bts:
        [arrow] = signal.arrows_from
        assert targets[arrow].begin_ns == round(signal.arguments["received_us"] * 1000)
        assert targets[arrow].place[1] == signal.arguments["host"]
    for row in flows.iter_rows(named=True):
        track = slices[row["flow_id"]].track
        pauses = [pause for pause in timeline.named("paused") if pause.track == track and pause.depth == 1]
        paused_ns = sum(pause.end_ns - pause.begin_ns for pause in pauses if pause.end_ns is not None)
        assert paused_ns == pytest.approx(1000 * row["paused_us"], rel=0.01)


def test_the_highest_count_of_a_buffer_is_that_of_the_result(finished: StoredRun, tmp_path: Path) -> None:
    timeline = _timeline(finished, tmp_path / "out")
    for switch, figures in finished.result.buffer_bytes.items():
        [root] = {place[0] for place in timeline.counters}
        assert max(value for _, value in timeline.counters[root, switch, "buffer"]) == figures.max
    assert (root, "tor2", "port 8 to h16") in timeline.counters


@pytest.mark.parametrize("scheme", ["irn", "gbn", "pfc", "sfc-p", "ndp", "irn+qcn"])
def test_every_kind_of_scheme_has_a_timeline(scheme: str, tmp_path: Path) -> None:
    run = run_incast(tmp_path, scheme, *SMALL, "switch.pfc_alpha=0.001", captures=("tor1",))
    timeline = _timeline(run, tmp_path / "out")
    flows = [flow for flow in timeline.slices if flow.place[-1] == "flows" and flow.depth == 0]
    assert len(flows) == 4
    pfc = [pause for pause in timeline.slices if "PFC" in pause.place[-1]]
    assert bool(pfc) == (scheme in ("pfc", "sfc-p"))


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (FLOWS, pl.lit(float("nan")).alias("start_us")),
        (FLOWS, pl.lit(1e300).alias("finish_us")),
        (SIGNALS, pl.lit(float("inf")).alias("received_us")),
        (QUEUES, pl.lit(-1e300).alias("time_us")),
    ],
)
def test_impossible_times_are_refused_and_no_file_is_written(
    schema: TraceSchema, values: pl.Expr, finished: StoredRun, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    frame = pl.read_parquet(folder / schema.file_name).with_columns(values)
    frame.write_parquet(folder / schema.file_name, metadata=schema.metadata)
    with pytest.raises(UsageError, match="cannot be exported: damaged values in a trace"):
        export_perfetto(folder, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_an_existing_timeline_is_replaced_in_one_step(
    finished: StoredRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    before = export_perfetto(finished.folder, out).path.read_bytes()

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sfc_testbed.analysis.timeline.timeline.write_queues", interrupted)
    with pytest.raises(KeyboardInterrupt):
        export_perfetto(finished.folder, out)
    assert [(path.name, path.read_bytes()) for path in out.iterdir()] == [(TIMELINE_FILE, before)]
