# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""docs/traces.md describes the files of a run correctly: names, types and units of every column, and result.json."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.metrics.buffers import BufferFigures
from sfc_testbed.analysis.metrics.figures import Figures
from sfc_testbed.analysis.metrics.flows import CompletionFigures, ReorderingFigures, SlowdownFigures
from sfc_testbed.analysis.metrics.iterations import JobFigures
from sfc_testbed.analysis.metrics.links import LinkBalance
from sfc_testbed.analysis.metrics.signals import SignalFigures
from sfc_testbed.analysis.results import result as stored
from sfc_testbed.scenarios.traffic.flow_file import FILE_NAME
from sfc_testbed.telemetry.flow_parts import PLANNED, RECEIVED, SENT
from sfc_testbed.telemetry.journal import HEAD_FILE
from sfc_testbed.telemetry.schema import (
    CONGESTION,
    GOODPUT,
    LATENESS,
    OPTIONAL_SCHEMAS,
    SCHEMA_KEY,
    SCHEMAS,
    SIGNALS,
    VERSION_KEY,
    WHOLE_BUFFER,
)
from sfc_testbed.testbed.execution.network_export import NETWORK_FILE
from sfc_testbed.testbed.execution.perfetto_export import TIMELINE_FILE
from sfc_testbed.wire.constants import BtsCause
from tests.tree import ROOT

PAGE = (ROOT / "docs" / "traces.md").read_text(encoding="utf-8")
_TRACE = re.compile(r"<!-- begin (\w+) -->\n`(\S+)`, version (\d+)\..*?\|---\|\n(.*?)\n<!-- end \1 -->", re.DOTALL)
_ROW = re.compile(r"^\| (.+?) \| (.+) \|$", re.MULTILINE)
_CODE = re.compile(r"`([^`]+)`")


def _rows(text: str) -> list[tuple[str, str]]:
    """Return the first cell and the rest of each row, without the header."""
    return [(first, rest) for first, rest in _ROW.findall(text) if "`" in first]


def _section(name: str) -> str:
    return PAGE.partition(f"\n## {name}\n")[2].partition("\n## ")[0]


TRACES = {name: (file, version, rows) for name, file, version, rows in _TRACE.findall(PAGE)}
"""File, version and rows of each trace, as the page describes them."""


@pytest.fixture(scope="module")
def frames(stored_run: Path) -> Mapping[str, pl.DataFrame]:
    """Return the traces as they are on disk, without our own reader."""
    return {name: pl.read_parquet(stored_run / file) for name, (file, _, _) in TRACES.items()}


@pytest.fixture(scope="module")
def config(stored_run: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((stored_run / "config.json").read_text())
    return content


@pytest.fixture(scope="module")
def result(stored_run: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((stored_run / "result.json").read_text())
    return content


def test_every_trace_has_its_table() -> None:
    """Optional traces have a table too."""
    assert set(TRACES) == {*SCHEMAS, *OPTIONAL_SCHEMAS}


@pytest.mark.parametrize("name", TRACES)
def test_columns_of_the_file_are_those_of_the_page(
    name: str, stored_run: Path, frames: dict[str, pl.DataFrame]
) -> None:
    """Order and types agree, nulls occur only where the page says so, and the metadata has name and version."""
    file, version, text = TRACES[name]
    described = [(_CODE.findall(first)[0], rest.split(" | ")) for first, rest in _rows(text)]
    frame = frames[name]
    assert [column for column, _ in described] == frame.columns
    for column, (kind, unit, _) in described:
        dtype, _, null = kind.partition(" or ")
        assert str(frame.schema[column]) == dtype, column
        assert null == "null" or frame[column].null_count() == 0, column
        assert (unit == "µs") == column.endswith("_us"), column
    metadata = pl.read_parquet_metadata(stored_run / file)
    assert (metadata[SCHEMA_KEY], metadata[VERSION_KEY]) == (name, version)
    assert frame.height > 0 or name == "lateness"


def test_flows_have_numbers_from_1_and_times_in_model_microseconds(
    frames: dict[str, pl.DataFrame], config: dict[str, Any]
) -> None:
    """No flow takes less than its bytes at line rate. FCT and slowdown agree with their definitions on the page."""
    flows = frames["flows"]
    assert flows["flow_id"].to_list() == list(range(1, flows.height + 1))
    assert ((flows["finish_us"] - flows["start_us"] - flows["fct_us"]).abs() < 1e-6).all()
    assert ((flows["fct_us"] / flows["ideal_fct_us"] - flows["slowdown"]).abs() < 1e-6).all()
    line_us = flows["size_bytes"] * 8e6 / config["physics"]["bottleneck_bps"]
    base_rtt_us = config["physics"]["base_rtt_ns"] / 1000
    assert ((line_us < flows["ideal_fct_us"]) & (flows["ideal_fct_us"] < 1.2 * line_us + 2 * base_rtt_us)).all()
    assert (flows["finish_us"] <= 1000 * config["duration_ms"]).all()
    assert flows["tag"].unique().to_list() == ["incast"]
    assert (flows["paused_us"] > 0).any()
    assert not flows["corrupted"].any()


def test_queues_have_a_row_for_every_interval_of_a_buffer(
    frames: dict[str, pl.DataFrame], config: dict[str, Any], result: dict[str, Any]
) -> None:
    """Port and class are both -1 for the whole buffer. Ports count from 1. An empty queue has no row."""
    queues = frames["queues"]
    whole = queues.filter(pl.col("port") == WHOLE_BUFFER)
    single = queues.filter(pl.col("port") != WHOLE_BUFFER)
    assert (whole["class"] == WHOLE_BUFFER).all()
    assert single["port"].min() == 1
    assert set(single["class"]) <= set(range(8))
    assert (single["high_water_bytes"] > 0).all()
    assert (queues["depth_bytes"] <= queues["high_water_bytes"]).all()
    assert set(whole["switch"]) == set(result["buffer_bytes"])
    for _, own in whole.group_by("switch"):
        apart_us = own["time_us"].sort().diff().drop_nulls()
        assert apart_us.n_unique() == 1 or (apart_us - apart_us[0]).abs().max() < 1e-6
    assert whole["high_water_bytes"].max() == result["max_buffer_bytes"] <= config["switch_settings"]["buffer_bytes"]


def test_links_have_the_interval_and_the_sums_that_the_page_names(frames: dict[str, pl.DataFrame]) -> None:
    """Empty intervals are left out. What a switch sends to a host is what the host receives."""
    links = frames["links"]
    [interval_us] = map(int, re.findall(r"An interval is (\d+) µs", _section("links")))
    assert ((links["time_us"] % interval_us).abs() < 1e-6).all()
    assert (links["sent_bytes"] + links["received_bytes"] > 0).all()
    assert links.select("time_us", "switch", "port").is_duplicated().sum() == 0
    assert links["sent_bytes"].sum() > frames["flows"]["size_bytes"].sum()


def test_signals_are_of_the_causes_that_the_page_names(frames: dict[str, pl.DataFrame]) -> None:
    """The page lists the causes of the wire format. A BTS is sent before it is received, by the flow's sender."""
    _, _, text = TRACES["signals"]
    [cause] = [rest for first, rest in _rows(text) if first == "`cause`"]
    assert set(_CODE.findall(cause)) == {member.name.lower() for member in BtsCause}
    signals = frames["signals"]
    assert {"queue", "cache"} <= set(signals["cause"]) <= set(_CODE.findall(cause))
    assert (signals["sent_us"] < signals["received_us"]).all()
    senders = frames["flows"].select("flow_id", "src")
    assert (signals.join(senders, on="flow_id").select(pl.col("host") == pl.col("src")).to_series()).all()
    paused = signals.filter(pl.col("paused_until_us") > pl.col("received_us"))
    assert paused.height > 0
    assert paused["obeyed"].all()
    assert ((paused["received_us"] + paused["pause_us"] - paused["paused_until_us"]).abs() < 1e-6).all()


def test_goodput_intervals_begin_at_0_and_add_up(frames: dict[str, pl.DataFrame], config: dict[str, Any]) -> None:
    """All flows have the intervals of config.json, and the bytes of a flow's intervals sum to its message."""
    goodput = frames["goodput"]
    interval_us = config["transport_settings"]["goodput_interval_ns"] / 1000
    assert ((goodput["until_us"] - goodput["from_us"] - interval_us).abs() < 1e-6).all()
    begins = goodput["from_us"] / interval_us
    assert ((begins - begins.round()).abs() < 1e-6).all()
    assert (goodput["delivered_bytes"] > 0).all()
    delivered = goodput.group_by("flow_id").agg(pl.col("delivered_bytes").sum())
    both = frames["flows"].join(delivered, on="flow_id", how="left")
    assert both["delivered_bytes"].to_list() == both["size_bytes"].to_list()


def test_congestion_rows_keep_their_distance_and_units(frames: dict[str, pl.DataFrame], config: dict[str, Any]) -> None:
    """Rows have at least the requested distance. No rate exceeds the wire's, and no round trip is below the path's."""
    rows = frames["cc"]
    for _, own in rows.group_by("flow_id"):
        assert (own["time_us"].sort().diff().drop_nulls() >= config["transport_settings"]["cc_trace_ns"] / 1000).all()
    assert 0 < rows["rate_bps"].min() <= rows["rate_bps"].max() <= config["physics"]["bottleneck_bps"]  # type: ignore[operator]
    assert rows["rtt_us"].min() >= config["physics"]["base_rtt_ns"] / 2000
    assert set(rows["flow_id"]) == set(frames["flows"]["flow_id"])


def test_the_virtual_clock_is_never_late(frames: dict[str, pl.DataFrame], result: dict[str, Any]) -> None:
    """The trace exists and has no rows."""
    assert frames["lateness"].height == 0
    assert result["lateness"] == {"host": None, "switch": None}


def test_the_folder_has_the_files_that_the_page_lists(stored_run: Path) -> None:
    """The folder has all listed files after `report`, except files of `export` and of live runs, and no others."""
    listed = {name.removesuffix("/") for first, _ in _rows(PAGE.partition("\n## ")[0]) for name in _CODE.findall(first)}
    pictures = {name.removesuffix(".png") for name in listed if name.endswith(".png")}
    listed = listed - {".svg"} | {f"{name}.svg" for name in pictures}
    files = {path.name for path in stored_run.iterdir()}
    assert files | {"hpcc", TIMELINE_FILE, NETWORK_FILE} == listed - {"lateness.png", "lateness.svg"}
    assert FILE_NAME in files


@pytest.mark.parametrize("name", ["fct_slowdown.csv", "buffer.csv"])
def test_tables_beside_the_page_have_the_columns_that_it_names(name: str, stored_run: Path) -> None:
    [description] = [rest for first, rest in _rows(PAGE.partition("\n## ")[0]) if first == f"`{name}`"]
    assert _CODE.findall(description) == (stored_run / name).read_text().splitlines()[0].split(",")


FIELDS: Mapping[str, type[Figures]] = {
    "buffer_bytes": BufferFigures,
    "bfc": stored.BfcFigures,
    "bts": stored.BtsCounts,
    "completion": CompletionFigures,
    "fct_slowdown": SlowdownFigures,
    "flows": stored.FlowCounts,
    "jobs": JobFigures,
    "lateness": stored.LatenessFigures,
    "link_balance": LinkBalance,
    "packets": stored.PacketCounts,
    "pfc": stored.PfcCounts,
    "reordering": ReorderingFigures,
    "resent": stored.ResentCounts,
    "signals": SignalFigures,
    "spacing": stored.SpacingFigures,
}


def test_every_field_of_the_result_is_explained(result: dict[str, Any]) -> None:
    """Nested fields are explained too, and no field is listed that does not exist."""
    described = {name: rest for first, rest in _rows(_section("result.json")) for name in _CODE.findall(first)}
    assert {*described, "schema", "schema_version"} == {
        *result,
        "bfc",
        "jobs",
        "has_fixed_duration",
        "reordering",
        "setting_warnings",
        "overridden",
    }
    for name, model in FIELDS.items():
        missing = set(model.model_fields) - set(_CODE.findall(described[name]))
        assert not missing, f"{name}: {sorted(missing)}"


def test_the_journal_has_the_parts_that_the_page_lists() -> None:
    listed = {
        name.removesuffix("/") for first, _ in _rows(_section("A run that was killed")) for name in _CODE.findall(first)
    }
    schemas = (PLANNED, SENT, RECEIVED, SIGNALS, GOODPUT, LATENESS, CONGESTION)
    assert listed == {HEAD_FILE, *(schema.name for schema in schemas)}


def test_the_snippet_of_the_page_runs(stored_run: Path) -> None:
    """The folder in the snippet is replaced by the test's run."""
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    [folder] = re.findall(r"runs/[\w-]+", code)
    output = io.StringIO()
    with redirect_stdout(output):
        exec(code.replace(folder, str(stored_run)), {})
    assert "incast" in output.getvalue()
