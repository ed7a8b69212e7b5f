# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of writing and reading traces: round trips, interruptions and damaged files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.telemetry import reader
from sfc_testbed.telemetry.reader import TraceError, read_trace, scan_trace
from sfc_testbed.telemetry.rows import GoodputRow, SignalRow
from sfc_testbed.telemetry.schema import FLOWS, GOODPUT, QUEUES, SCHEMA_KEY, SIGNALS, VERSION_KEY, Column, TraceSchema
from sfc_testbed.telemetry.segments import join_segments, read_segments, segment_path, segment_paths
from sfc_testbed.telemetry.writer import SegmentWriter, write_trace

Read = Callable[[Path, TraceSchema], pl.DataFrame]


@pytest.fixture
def signal_row() -> SignalRow:
    """Return a row of the signals trace whose BTS was obeyed."""
    return SignalRow(
        sent_us=1.0,
        received_us=6.5,
        host="h1",
        flow_id=3,
        switch="tor1",
        cause="queue",
        pause_us=20.0,
        queue_depth_bytes=375_000,
        cacheable=True,
        obeyed=True,
        paused_until_us=26.5,
    )


@contextmanager
def writer_of(folder: Path, schema: TraceSchema, segment_rows: int = 16) -> Iterator[SegmentWriter]:
    """Provide a writer whose segments become a trace in the folder at the end."""
    writer = SegmentWriter(folder / "segments", schema, segment_rows=segment_rows)
    yield writer
    writer.flush()
    assert join_segments(writer.folder, schema, folder / schema.file_name) == []


@pytest.fixture(params=["at once", "when asked"])
def read(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Read:
    """Return a function for each way to read a trace. The second treats every file as long."""
    if request.param == "at once":
        return read_trace
    monkeypatch.setattr(reader, "_LONG_BYTES", -1)
    return lambda path, schema: scan_trace(path, schema).collect()


def test_rows_are_read_as_they_were_written(tmp_path: Path, signal_row: SignalRow, read: Read) -> None:
    """The second row has nulls."""
    unknown = replace(signal_row, flow_id=None, obeyed=False, paused_until_us=None)
    with writer_of(tmp_path, SIGNALS) as writer:
        writer.append(signal_row)
        writer.append(unknown)
    assert read(tmp_path / "signals.parquet", SIGNALS).to_dicts() == [asdict(signal_row), asdict(unknown)]


def test_a_file_contains_its_schema_and_version(tmp_path: Path) -> None:
    """Name and version are in the Parquet metadata, even if the trace has no rows."""
    with writer_of(tmp_path, FLOWS):
        pass
    metadata = pl.read_parquet_metadata(tmp_path / "flows.parquet")
    assert (metadata[SCHEMA_KEY], metadata[VERSION_KEY]) == ("flows", "1")
    assert read_trace(tmp_path / "flows.parquet", FLOWS).height == 0


def test_the_same_rows_are_the_same_file_wherever_segments_end(tmp_path: Path) -> None:
    """Segments also end after some wall time. The trace must not depend on how long the run took."""
    rows = pl.DataFrame({"from_us": range(200_000)}).select(
        pl.col("from_us").cast(pl.Float64),
        (pl.col("from_us") + 10.0).alias("until_us"),
        (pl.col("from_us") * 7919 % 1000).cast(pl.UInt32).alias("flow_id"),
        (pl.col("from_us") * 104_729 % 65_536).cast(pl.UInt64).alias("delivered_bytes"),
    )
    files = []
    for size in (16_384, 9_999):
        segments, path = tmp_path / f"segments-{size}", tmp_path / f"{size}.parquet"
        segments.mkdir()
        for number, first in enumerate(range(0, rows.height, size)):
            write_trace(segment_path(segments, number), GOODPUT, rows.slice(first, size))
        assert join_segments(segments, GOODPUT, path) == []
        files.append(path.read_bytes())
    assert files[0] == files[1]
    assert read_trace(path, GOODPUT).equals(rows)


@settings(deadline=None)
@given(segment_rows=st.integers(1, 7), rows=st.integers(0, 20), flush_after=st.integers(0, 20))
def test_segments_and_flushes_do_not_change_the_rows(
    tmp_path_factory: pytest.TempPathFactory, segment_rows: int, rows: int, flush_after: int
) -> None:
    """All rows are read in order. At most the rows of one segment are in memory."""
    folder = tmp_path_factory.mktemp("trace")
    path, segments = folder / "goodput.parquet", folder / "segments"
    with writer_of(folder, GOODPUT, segment_rows) as writer:
        for number in range(rows):
            if number == flush_after:
                writer.flush()
                assert read_segments(segments, GOODPUT)[0].height == number
            writer.append(GoodputRow(number, number + 1, flow_id=3, delivered_bytes=0))
            assert writer.rows_in_memory < segment_rows
        assert len(writer) == rows
    assert read_trace(path, GOODPUT)["from_us"].to_list() == [float(number) for number in range(rows)]
    assert len(segment_paths(segments)) == -(-rows // segment_rows)


def test_an_invalid_row_is_refused_and_the_others_are_kept(tmp_path: Path, signal_row: SignalRow) -> None:
    """The message contains the column."""
    path = tmp_path / "signals.parquet"
    with writer_of(tmp_path, SIGNALS) as writer:
        writer.append(signal_row)
        with pytest.raises(ValueError, match=r"signals\.pause_us cannot hold 'long'"):
            writer.append(replace(signal_row, pause_us="long"))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="not a row of signals: GoodputRow"):
            writer.append(GoodputRow(0.0, 1.0, flow_id=3, delivered_bytes=0))
        writer.append(signal_row)
    assert read_trace(path, SIGNALS).height == 2


def test_a_trace_without_a_row_class_accepts_only_data_frames(tmp_path: Path, signal_row: SignalRow) -> None:
    with writer_of(tmp_path, QUEUES) as writer, pytest.raises(ValueError, match="a row of queues"):
        writer.append(signal_row)


def test_data_frames_may_have_any_order_of_columns(tmp_path: Path, signal_row: SignalRow) -> None:
    """Rows and data frames may alternate. Rows are read in the order in which they were added."""
    frame = pl.DataFrame([asdict(replace(signal_row, host="h2"))]).select(reversed(SIGNALS.column_names))
    with writer_of(tmp_path, SIGNALS) as writer:
        writer.append(signal_row)
        writer.append_frame(frame)
        writer.append(signal_row)
    assert read_trace(tmp_path / "signals.parquet", SIGNALS)["host"].to_list() == ["h1", "h2", "h1"]


def test_data_frames_with_other_columns_or_nulls_are_refused(tmp_path: Path, signal_row: SignalRow) -> None:
    writer = SegmentWriter(tmp_path, SIGNALS)
    with pytest.raises(ValueError, match="missing cause"):
        writer.append_frame(pl.DataFrame([asdict(signal_row)]).drop("cause"))
    with pytest.raises(ValueError, match=r"signals\.host cannot hold null"):
        writer.append_frame(pl.DataFrame([asdict(signal_row) | {"host": None}]))
    assert len(writer) == 0


def test_a_missing_trace_is_named(tmp_path: Path, read: Read) -> None:
    with pytest.raises(TraceError, match=r"flows\.parquet: no such trace"):
        read(tmp_path / "flows.parquet", FLOWS)


def test_damage_of_a_long_trace_is_found_before_any_query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in the middle of a report would be too late."""
    path = tmp_path / "goodput.parquet"
    rows = [GoodputRow(number, number + 1, number, number) for number in range(5_000)]
    write_trace(path, GOODPUT, pl.DataFrame(rows, schema=dict(GOODPUT.dtypes)))
    content = bytearray(path.read_bytes())
    monkeypatch.setattr(reader, "_LONG_BYTES", len(content) - 1)
    assert scan_trace(path, GOODPUT).select(pl.len()).collect().item() == 5_000
    content[len(content) // 3 : len(content) // 2] = bytes(len(content) // 2 - len(content) // 3)
    path.write_bytes(content)
    with pytest.raises(TraceError, match="not a whole Parquet file"):
        scan_trace(path, GOODPUT)


@pytest.mark.parametrize("size_bytes", [0, 3, 60])
def test_a_truncated_file_is_an_error_and_not_a_short_trace(tmp_path: Path, size_bytes: int, read: Read) -> None:
    path = tmp_path / "flows.parquet"
    write_trace(path, FLOWS, FLOWS.empty())
    path.write_bytes(path.read_bytes()[:size_bytes])
    with pytest.raises(TraceError, match="not a whole Parquet file"):
        read(path, FLOWS)


def test_another_trace_or_version_is_refused(tmp_path: Path, read: Read) -> None:
    """The message contains the actual and the expected schema or version."""
    path = tmp_path / "x.parquet"
    write_trace(path, QUEUES, QUEUES.empty())
    with pytest.raises(TraceError, match="a queues trace, expected flows"):
        read(path, FLOWS)
    write_trace(path, TraceSchema("flows", 2, "", FLOWS.columns), FLOWS.empty())
    with pytest.raises(TraceError, match="flows version 2, this release reads 1; upgrade SFC Testbed"):
        read(path, FLOWS)
    FLOWS.empty().write_parquet(path)
    with pytest.raises(TraceError, match="not a trace of this testbed"):
        read(path, FLOWS)


def test_wrong_columns_are_named(tmp_path: Path, read: Read) -> None:
    """A column is missing, or has another type."""
    path = tmp_path / "queues.parquet"
    frame = QUEUES.empty()
    write_trace(path, QUEUES, frame.drop("port"))
    with pytest.raises(TraceError, match="column port is missing"):
        read(path, QUEUES)
    write_trace(path, QUEUES, frame.cast({"port": pl.Int64}))
    with pytest.raises(TraceError, match="column port is Int64, expected Int16"):
        read(path, QUEUES)


def test_an_unknown_column_is_ignored(tmp_path: Path, read: Read) -> None:
    """A newer release may have added it, between the others."""
    path = tmp_path / "queues.parquet"
    rows = pl.DataFrame([(1.0, "tor1", 1, 3, 9, 9)], schema=dict(QUEUES.dtypes), orient="row")
    write_trace(path, QUEUES, rows.clone().insert_column(2, pl.Series("packets", [7])))
    assert read(path, QUEUES).equals(rows)


def test_the_release_that_wrote_an_unreadable_file_is_named(tmp_path: Path, read: Read) -> None:
    """The release is in config.json. The message ends with the next step."""
    path = tmp_path / "queues.parquet"
    (tmp_path / "config.json").write_text('{"versions": {"sfc-testbed": "7.1.0"}}')
    write_trace(path, replace(QUEUES, version=2), QUEUES.empty())
    newer = r"queues version 2 \(written by SFC Testbed 7\.1\.0\), this release reads 1; upgrade SFC Testbed to read it"
    with pytest.raises(TraceError, match=newer):
        read(path, QUEUES)
    write_trace(path, replace(QUEUES, version=0), QUEUES.empty())
    with pytest.raises(TraceError, match=r"this release reads 1; read it with SFC Testbed 7\.1\.0"):
        read(path, QUEUES)
    write_trace(path, QUEUES, QUEUES.empty().drop("port"))
    with pytest.raises(TraceError, match=r"column port is missing \(written by SFC Testbed 7\.1\.0\)"):
        read(path, QUEUES)


def test_a_column_that_an_older_release_did_not_write_is_null(
    tmp_path: Path, signal_row: SignalRow, read: Read
) -> None:
    """Only a column that can be null: a stored run stays readable when its trace gets a new figure."""
    path = tmp_path / "signals.parquet"
    older = replace(SIGNALS, columns=tuple(column for column in SIGNALS.columns if column.name != "flow_id"))
    write_trace(
        path, older, pl.DataFrame([asdict(signal_row)]).select(older.column_names).cast(pl.Schema(older.dtypes))
    )
    rows = read(path, SIGNALS)
    assert tuple(rows.columns) == SIGNALS.column_names
    assert rows["flow_id"].to_list() == [None]


def test_nulls_in_a_column_without_nulls_are_named(tmp_path: Path, signal_row: SignalRow, read: Read) -> None:
    path = tmp_path / "signals.parquet"
    rows = pl.DataFrame([asdict(signal_row) | {"host": None, "flow_id": None}], schema=dict(SIGNALS.dtypes))
    rows.write_parquet(path, metadata=SIGNALS.metadata)
    with pytest.raises(TraceError, match="column host has 1 nulls, expected none"):
        read(path, SIGNALS)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "flows.parquet"
    write_trace(path, FLOWS, FLOWS.empty())
    before = path.read_bytes()
    bad = TraceSchema("flows", 1, "", (Column("x", "Object", "", "x"),))
    with pytest.raises(pl.exceptions.PolarsError):
        write_trace(path, bad, pl.DataFrame({"x": [object()]}, schema={"x": pl.Object}))
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
