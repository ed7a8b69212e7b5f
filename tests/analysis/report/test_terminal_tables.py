# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the tables of runs and comparisons on the terminal."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.analysis.formatting import format_interval, format_number
from sfc_testbed.analysis.life.events import LifeEvent
from sfc_testbed.analysis.metrics.flows import ReorderingFigures
from sfc_testbed.analysis.metrics.links import LinkBalance
from sfc_testbed.analysis.report.page_tables import overview_table
from sfc_testbed.analysis.report.terminal_tables import (
    comparison_table,
    format_estimate,
    key_figures,
    life_table,
    run_table,
)
from sfc_testbed.analysis.results.comparison import compare
from sfc_testbed.analysis.results.result import ResentCounts, RunResult, read_result, write_result
from tests.analysis.conftest import FolderMaker, make_flows
from tests.analysis.narrow import lost, printed

EXPECTED = Path(__file__).parents[1] / "results" / "expected-result.json"


def test_trimmed_packets_are_reported_if_switches_trim(tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text(EXPECTED.read_text())
    result = read_result(tmp_path)
    assert "packets trimmed" not in dict(key_figures(result))
    write_result(tmp_path, result.model_copy(update={"switch_events": {"trimmed": 1_234}}))
    assert dict(key_figures(read_result(tmp_path)))["packets trimmed"] == "1,234"


@pytest.mark.parametrize("width", [80, 60])
def test_a_comparison_over_seeds_shows_every_figure_on_a_narrow_terminal(
    make_run_folder: FolderMaker, width: int
) -> None:
    first = read_result(make_run_folder("irn"))
    buffers = {("egress-bts+dcqcn", 1): 1_230_000, ("egress-bts+dcqcn", 2): 4_560_000, ("irn", 1): 1, ("irn", 2): 2}
    comparison = compare(
        [
            first.model_copy(update={"scheme": scheme, "seed": seed, "max_buffer_bytes": peak_bytes})
            for (scheme, seed), peak_bytes in buffers.items()
        ]
    )
    table = (
        printed(comparison_table(comparison), width)
        .partition("egress-bts+dcqcn compared")[0]
        .partition("irn compared")[0]
    )
    words = table.split()
    assert "…" not in table and words.count("faithful") == 2
    for scheme in comparison.over_seeds:
        assert scheme.scheme in words
        for name in ("p50_slowdown", "p99_slowdown", "max_buffer_bytes", "incast_p50_slowdown", "incast_last_slowdown"):
            estimate = format_estimate(name, scheme.figures[name]).split()
            assert all(word in words for word in estimate), (name, estimate)


@pytest.mark.parametrize("width", [80, 60])
def test_tables_of_a_run_and_of_a_comparison_show_every_word(make_run_folder: FolderMaker, width: int) -> None:
    alone = make_flows().with_columns(tag=pl.lit("hadoop"))
    for flows in (make_flows(), alone):
        results = [
            read_result(make_run_folder(scheme, flows=flows)) for scheme in ("irn", "egress-bts+dcqcn-no-window")
        ]
        assert lost(comparison_table(compare(results)), width) == []
        assert lost(run_table(results[1], None), width) == []


def test_every_class_is_in_the_table_of_a_comparison(make_run_folder: FolderMaker) -> None:
    third = (
        pl.when((pl.col("tag") == "hadoop") & (pl.col("flow_id") % 3 == 0)).then(pl.lit("rpc")).otherwise(pl.col("tag"))
    )
    flows = make_flows().with_columns(tag=third)
    results = [read_result(make_run_folder(scheme, flows=flows)) for scheme in ("irn", "sfc")]
    lines = printed(comparison_table(compare(results))).splitlines()
    rows = [line.split() for line in lines if line.split()[:1] == ["rpc"] and "finish" not in line]
    slowdown = results[0].fct_slowdown["rpc"]
    percentiles = [format_number(value) for value in (slowdown.p50, slowdown.p95, slowdown.p99)]
    interval = format_interval(slowdown.p99_interval).split()
    cells = [f"{slowdown.completed}/{slowdown.flows}", *percentiles, *interval]
    assert rows == [["rpc", scheme, *cells] for scheme in ("irn", "sfc")]
    assert not compare([read_result(make_run_folder("irn"))]).other_classes


def test_a_p99_has_its_interval_in_the_terminal(results: list[RunResult]) -> None:
    """It is below the table, in the sentence and in the table of a run. Too few flows give none, which is shown."""
    irn, sfc = results
    figures = [result.fct_slowdown["hadoop"] for result in results]
    shown = [f"{format_number(each.p99)}{format_interval(each.p99_interval)}" for each in figures]
    assert all("[" in text for text in shown)
    comparison = compare(results)
    text = printed(comparison_table(comparison), 200)
    assert f"P99 [95 % interval]: irn {shown[0]}, sfc {shown[1]}\n" in text
    assert f"P99 slowdown of hadoop flows {shown[1]} vs. {shown[0]}, " in comparison.meaning[0]
    assert shown[1] in printed(run_table(sfc, None), 120)
    few = sfc.fct_slowdown | {"hadoop": figures[1].model_copy(update={"p99_interval": None})}
    text = printed(comparison_table(compare([irn, sfc.model_copy(update={"fct_slowdown": few})])), 200)
    assert f"sfc {format_number(figures[1].p99)} [none: too few flows]" in text


def test_a_difference_of_overlapping_intervals_may_be_chance(results: list[RunResult]) -> None:
    irn, sfc = results
    assert "by chance" not in compare(results).meaning[0]
    wide = sfc.fct_slowdown["hadoop"].model_copy(update={"p99_interval": (1.0, 100.0)})
    unsure = sfc.model_copy(update={"fct_slowdown": sfc.fct_slowdown | {"hadoop": wide}})
    [sentence] = compare([irn, unsure]).meaning
    assert "the slowest hadoop flows finish earlier (perhaps by chance: the intervals overlap); " in sentence


FLOW = {
    "flow_id": 3,
    "tag": "incast",
    "src": "h1",
    "dst": "h4",
    "size_bytes": 9000,
    "fct_us": 89.0,
    "slowdown": 10.0,
    "packets_sent": 12,
    "packets_resent": 3,
    "paused_us": 40.0,
}


@pytest.mark.parametrize("width", [80, 60])
def test_the_life_of_a_flow_loses_no_word_on_a_narrow_terminal(make_run_folder: FolderMaker, width: int) -> None:
    detail = "for 12.5 us, 310 KB in the queue, Q_th is 250 KB; the older end, 96.00, no longer holds"
    events = [LifeEvent(12_345.67, "tor2", "BTS", detail), LifeEvent(12_348.67, "h1", "paused", "until 12,361.17")]
    assert lost(life_table(read_result(make_run_folder("sfc")), FLOW, events), width) == []


BALANCE = LinkBalance(groups=2, sent_bytes=1_000, jain_index=0.951, largest_over_mean=1.254, spread_100us=0.9)
REORDERED = ReorderingFigures(packets=1_234, largest=37, mean=4.25)


def test_a_run_reports_equal_cost_links_and_overtaken_packets(results: list[RunResult]) -> None:
    plain = results[0]
    assert {"equal-cost links", "packets overtaken"}.isdisjoint(dict(key_figures(plain)))
    figures = dict(key_figures(plain.model_copy(update={"link_balance": BALANCE, "reordering": REORDERED})))
    assert figures["equal-cost links"] == "Jain's index 0.951, largest/mean 1.25, spread 0.9"
    assert figures["packets overtaken"] == "1,234, by 4.25 on average, 37 packets at most"


@pytest.mark.parametrize(("jain_index", "is_shown"), [(0.999, True), (0.96, False)])
def test_the_use_of_links_is_a_column_where_runs_differ(
    results: list[RunResult], jain_index: float, is_shown: bool
) -> None:
    other = BALANCE.model_copy(update={"jain_index": jain_index})
    balances = [BALANCE, other]
    comparison = compare(
        [result.model_copy(update={"link_balance": balance}) for result, balance in zip(results, balances, strict=True)]
    )
    assert [row.link_largest_over_mean for row in comparison.rows] == [1.254, 1.254]
    assert ("Jain" in printed(comparison_table(comparison))) == is_shown
    page = overview_table(comparison)
    assert [row[page.headings.index("links")] for row in page.rows] == ["0.951 / 1.25", f"{jain_index} / 1.25"]


def test_a_comparison_names_reasons_and_distances(results: list[RunResult]) -> None:
    resent = ResentCounts(packets=30, timeout=10, trimmed=0, loss=5, reordering=15)
    one = results[0].model_copy(update={"reordering": REORDERED, "resent": resent})
    comparison = compare([one, results[1]])
    text = " ".join(printed(comparison_table(comparison)).split())
    assert "Packets overtaken by later ones: irn 1,234 (by 37 packets at most)." in text
    page = overview_table(comparison)
    cells = [[row[page.headings.index(name)] for row in page.rows] for name in ("resent because of", "overtaken")]
    assert cells == [["timeout 10, loss 5, reordering 15", "-"], ["1,234 / 37", "0 / 0"]]
