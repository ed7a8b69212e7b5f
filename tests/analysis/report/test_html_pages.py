# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for run folders, comparisons, terminal tables and report pages."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.formatting import format_bytes, format_number
from sfc_testbed.analysis.report.data_table import sort_value
from sfc_testbed.analysis.report.html_pages import write_comparison_report, write_run_report
from sfc_testbed.analysis.report.terminal_tables import comparison_table, run_table
from sfc_testbed.analysis.results.comparison import compare
from sfc_testbed.analysis.results.result import RunResult, counted, headline_class, read_result, write_result
from sfc_testbed.analysis.results.stored import Run, load_run
from sfc_testbed.telemetry import reader
from sfc_testbed.telemetry.schema import FLOWS
from tests.analysis.conftest import FolderMaker, make_flows
from tests.analysis.narrow import printed
from tests.analysis.report.reading import plots_of, without_scripts


class Page(HTMLParser):
    """The text, ids and addresses of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.words: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.tags: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))
        self.text = re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name == "id" and value:
                self.ids.append(value)
            if name in ("href", "src", "xlink:href") and value:
                self.addresses.append(value)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


# Run folders


def test_a_complete_folder_has_no_problems(make_run_folder: FolderMaker) -> None:
    run = load_run(make_run_folder("sfc"))
    assert run.problems == ()
    assert run.thresholds_bytes == {"Q_th": 250_000, "Q_tg": 125_000}
    assert run.command == "./runner.py run hadoop-50 --scheme sfc --seed 7 --set 'q th=2 BDP'"
    assert run.flows.height == 2256


def test_missing_and_truncated_files_are_reported_and_the_rest_is_read(make_run_folder: FolderMaker) -> None:
    folder = make_run_folder("sfc")
    (folder / "signals.parquet").unlink()
    (folder / "config.json").unlink()
    cut = (folder / "flows.parquet").read_bytes()[:1000]
    (folder / "flows.parquet").write_bytes(cut)
    run = load_run(folder)
    assert [problem.split()[0] for problem in run.problems] == ["config.json", "flows.parquet", "signals.parquet"]
    assert run.flows.height == run.signals.collect().height == 0
    assert run.queues.collect().height > 0
    assert run.command == (
        "./runner.py run hadoop-50 --scheme sfc --switch soft --clock real --dilation 10000 --scale ci --seed 7"
    )


# Comparisons


def test_ratios_are_relative_to_the_first_run(results: list[RunResult]) -> None:
    first, second = compare(results).rows
    assert set(first.ratios.values()) == {1.0}
    expected = counted(results[1].max_buffer_bytes) / counted(results[0].max_buffer_bytes)
    assert second.ratios["max_buffer_bytes"] == pytest.approx(expected)
    assert second.p99_slowdown == results[1].fct_slowdown["hadoop"].p99


def test_the_headline_class_is_the_traffic_beside_the_incast(results: list[RunResult]) -> None:
    assert headline_class(results[0]) == compare(results).traffic_class == "hadoop"
    incast = {"incast": results[0].fct_slowdown["incast"]}
    assert headline_class(results[0].model_copy(update={"fct_slowdown": incast})) == "incast"
    assert headline_class(results[0].model_copy(update={"fct_slowdown": {}})) == "all"


def test_differences_between_runs_give_warnings(results: list[RunResult]) -> None:
    assert compare(results).warnings == ()
    flows = results[1].flows.model_copy(update={"total": 3000})
    changes = {"seed": 8, "flows": flows, "verdict": "invalid", "verdict_reasons": ("Lost.",)}
    comparison = compare([results[0], results[1].model_copy(update=changes)])
    assert comparison.differences == ("The runs differ in seed: 7, 8.",)
    assert comparison.warnings == (
        "The runs have different numbers of flows.",
        "sfc is invalid: Lost.",
    )


def test_a_ratio_to_zero_is_none(results: list[RunResult]) -> None:
    idle = results[0].model_copy(update={"max_buffer_bytes": 0, "fct_slowdown": {}})
    row = compare([idle, results[1]]).rows[1]
    assert row.ratios["max_buffer_bytes"] is None
    assert row.ratios["p99_slowdown"] is None


# Terminal


def test_run_table_shows_the_figures(results: list[RunResult]) -> None:
    text = printed(run_table(results[1], None), 120)
    assert "faithful" in text
    assert results[1].verdict_reasons[0] in text
    assert format_bytes(results[1].max_buffer_bytes) in text
    assert format_number(results[1].fct_slowdown["hadoop"].p99) in text
    assert "tail_drop 38" in text


SMALL_WINDOW = "window_bytes was below one packet when 2,000 data packets were sent."


def with_small_window(result: RunResult) -> RunResult:
    """Return the result of the same run with a congestion control whose window is below one packet."""
    return result.model_copy(update={"host_events": {"small_window_packets": 2_000}})


def test_a_window_below_one_packet_is_a_warning_in_the_terminal(results: list[RunResult]) -> None:
    narrow = with_small_window(results[1])
    assert "!" not in printed(run_table(results[1], None), 120)
    assert f"! The congestion control's {SMALL_WINDOW}" in printed(run_table(narrow, None), 300)
    comparison = compare([results[0], narrow])
    assert [warning.partition(" Such")[0] for warning in comparison.warnings] == [
        f"sfc: The congestion control's {SMALL_WINDOW}"
    ]
    assert f"! sfc: The congestion control's {SMALL_WINDOW}" in printed(comparison_table(comparison), 300)


def test_a_window_below_one_packet_is_a_warning_on_the_pages(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    folder = make_run_folder("sfc")
    assert SMALL_WINDOW not in Page(write_run_report(folder)).text
    write_result(folder, with_small_window(read_result(folder)))
    assert SMALL_WINDOW in Page(write_run_report(folder)).text
    assert SMALL_WINDOW in Page(write_comparison_report([folder], tmp_path / "compared")).text


def test_comparison_table_fits_a_terminal(results: list[RunResult]) -> None:
    comparison = compare([results[0], results[1].model_copy(update={"seed": 8})])
    text = printed(comparison_table(comparison), 110)
    assert "…" not in text
    for row, result in zip(comparison.rows, results, strict=True):
        line = next(line for line in text.splitlines() if line.strip().startswith(row.scheme))
        assert format_bytes(result.max_buffer_bytes) in line
        assert format_number(row.p99_slowdown) in line
    assert text.startswith("The runs differ in seed: 7, 8.\n")


# Pages


def test_run_report_contains_the_figures_of_the_result(make_run_folder: FolderMaker) -> None:
    folder = make_run_folder("sfc")
    page = Page(write_run_report(folder))
    result = read_result(folder)
    assert re.sub(r"\s+", " ", result.to_json()).strip() in page.text
    assert result.verdict in page.text
    for reason in result.verdict_reasons:
        assert reason in page.text
    assert format_bytes(result.max_buffer_bytes) in page.text
    for name, figures in result.fct_slowdown.items():
        assert name in page.text
        assert format_number(figures.p99) in page.text
    assert "./runner.py run hadoop-50 --scheme sfc --seed 7 --set 'q th=2 BDP'" in page.text
    assert "topology_parameters.hosts_per_tor" in page.text


def test_run_report_is_self_contained(make_run_folder: FolderMaker) -> None:
    """The page has no address outside the folder, unique ids, and four plots. Every link leads to a file."""
    folder = make_run_folder("sfc")
    path = write_run_report(folder, pictures=True)
    page = Page(path)
    assert "://" not in without_scripts(path.read_text(encoding="utf-8"))
    assert "link" not in page.tags
    assert len(plots_of(path.read_text(encoding="utf-8"))) == 4
    assert len(page.ids) == len(set(page.ids))
    links = [address for address in page.addresses if not address.startswith("#")]
    assert {"result.json", "config.json", "flows.parquet", "buffer.png", "fct.png", "buffer.csv"} <= set(links)
    for link in links:
        assert (folder / link).exists()


def test_pictures_are_written_on_request(make_run_folder: FolderMaker) -> None:
    """The page links the picture files only if they exist."""
    folder = make_run_folder("sfc")
    without = Page(write_run_report(folder)).addresses
    assert not [address for address in without if address.endswith((".png", ".svg"))]
    with_them = Page(write_run_report(folder, pictures=True)).addresses
    pictures = {path.name for kind in ("png", "svg") for path in folder.glob(f"*.{kind}")}
    assert pictures == {
        f"{name}.{kind}" for name in ("buffer", "fct", "distributions", "goodput") for kind in ("png", "svg")
    }
    assert pictures <= set(with_them)
    first = {name: (folder / name).read_bytes() for name in pictures}
    write_run_report(folder, pictures=True)
    assert first == {name: (folder / name).read_bytes() for name in pictures}, "equal plots give equal files"


def test_long_traces_give_the_same_page_and_are_read_in_parts(
    make_run_folder: FolderMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Traces whose size grows with the packets are never completely in memory."""
    folder = make_run_folder("sfc")
    whole = {pl.read_parquet(folder / f"{name}.parquet").shape for name in ("queues", "signals", "goodput")}
    expected = write_run_report(folder).read_bytes()
    shapes: list[tuple[int, int]] = []
    collect = pl.LazyFrame.collect

    def record_shape(query: pl.LazyFrame, *arguments: Any, **options: Any) -> pl.DataFrame:
        frame: pl.DataFrame = collect(query, *arguments, **options)
        shapes.append(frame.shape)
        return frame

    monkeypatch.setattr(pl.LazyFrame, "collect", record_shape)
    monkeypatch.setattr(reader, "_LONG_BYTES", -1)
    assert write_run_report(folder).read_bytes() == expected
    assert shapes and not whole & set(shapes)


def test_an_empty_run_has_a_report(make_run_folder: FolderMaker) -> None:
    page = Page(write_run_report(make_run_folder("sfc", flows=FLOWS.empty())))
    assert "no flow completed" in page.text
    assert "No data." in page.text


def test_the_plotted_figures_are_written_as_csv(make_run_folder: FolderMaker) -> None:
    folder = make_run_folder("sfc")
    write_run_report(folder)
    with (folder / "fct_slowdown.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    result = read_result(folder)
    whole = next(row for row in rows if row["class"] == "hadoop" and not row["high_bytes"])
    assert float(whole["p99"]) == result.fct_slowdown["hadoop"].p99
    bins = [row for row in rows if row["class"] == "hadoop" and row["high_bytes"]]
    assert len(bins) == 10
    with (folder / "buffer.csv").open(newline="") as file:
        samples = list(csv.DictReader(file))
    assert max(int(row["high_water_bytes"]) for row in samples) == result.max_buffer_bytes


def test_comparison_report_shows_every_run(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    folders = [make_run_folder(scheme, load=load) for scheme, load in (("irn", 2.0), ("onramp", 1.0), ("sfc", 0.5))]
    for folder in folders:
        write_run_report(folder)
    out = tmp_path / "comparisons" / "first"
    path = write_comparison_report(folders, out, pictures=True)
    page = Page(path)
    assert "://" not in without_scripts(path.read_text(encoding="utf-8"))
    assert len(page.ids) == len(set(page.ids))
    comparison = compare([read_result(folder) for folder in folders])
    for row, folder in zip(comparison.rows, folders, strict=True):
        assert format_bytes(row.max_buffer_bytes) in page.text
        assert format_number(row.p99_slowdown) in page.text
        assert f"--scheme {row.scheme}" in page.text
        assert str(Path("..", "..", "runs", folder.name, "report.html")) in page.addresses
    for link in page.addresses:
        assert link.startswith("#") or (out / link).exists()
    assert {"beside_incast.png", "fct.png", "fct_by_size.png"} <= {file.name for file in out.iterdir()}
    stored = json.loads((out / "comparison.json").read_text())
    assert stored["rows"][2]["ratios"]["p99_slowdown"] == comparison.rows[2].ratios["p99_slowdown"]
    with (out / "comparison.csv").open(newline="") as file:
        assert [row["scheme"] for row in csv.DictReader(file)] == ["irn", "onramp", "sfc"]


def test_with_several_seeds_only_plotted_traces_stay_in_memory(
    make_run_folder: FolderMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dropped: list[tuple[str, int]] = []

    def without_traces(run: Run) -> Run:
        dropped.append((run.result.scheme, run.result.seed))
        bare = whole(run)
        assert bare.result is run.result and not bare.flows.height and not bare.signals.collect().height
        return bare

    whole = Run.without_traces
    monkeypatch.setattr(Run, "without_traces", without_traces)
    flows = make_flows(count=100, incast=10)
    folders = [make_run_folder(name, flows=flows, config={"seed": seed}) for seed in (7, 8) for name in ("irn", "sfc")]
    write_run_report(folders[0])
    page = Page(write_comparison_report(folders, tmp_path / "out"))
    assert dropped == [("irn", 8), ("sfc", 8)]
    [link] = [address for address in page.addresses if address.endswith("report.html")]
    assert link == f"../runs/{folders[0].name}/report.html"
    assert all(folder.name in page.text for folder in folders[1:])


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12.5 KB", 12_500.0),
        ("4 ms", 4_000.0),
        ("1,234", 1234.0),
        ("4.99 (4.76 to 6.85)", 4.99),
        ("8 / 10", 8.0),
        ("1.0e-04", 1e-4),
        ("62 % queue of tor2", 62.0),
        ("-3 µs", -3.0),
        ("17", None),
        ("-", None),
        ("tor10", None),
    ],
)
def test_cells_are_sorted_by_their_first_number_in_one_unit(cell: str, value: float | None) -> None:
    assert sort_value(cell) == value
