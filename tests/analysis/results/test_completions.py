# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the comparison of completion times, in figures, sentences, table and page."""

from __future__ import annotations

import polars as pl
import pytest

from sfc_testbed.analysis.metrics.flows import CompletionFigures, completion_by_class
from sfc_testbed.analysis.report.first_sentence import of_comparison
from sfc_testbed.analysis.report.page_tables import completion_tables
from sfc_testbed.analysis.report.terminal_tables import comparison_table
from sfc_testbed.analysis.results.comparison import compare
from sfc_testbed.analysis.results.result import RunResult, read_result
from tests.analysis.conftest import FolderMaker, make_flows
from tests.analysis.narrow import printed

TITLE = "completion time"


@pytest.fixture
def result(make_run_folder: FolderMaker) -> RunResult:
    """Return the result of a run without an incast and without dependent messages."""
    return read_result(make_run_folder("irn", flows=make_flows(count=100, incast=0)))


def _run(
    result: RunResult, scheme: str, took_us: float | None, seed: int = 1, ideal_us: float | None = 100
) -> RunResult:
    slowdown = None if took_us is None or ideal_us is None else took_us / ideal_us
    ring = CompletionFigures(took_us=took_us, ideal_us=ideal_us, slowdown=slowdown)
    return result.model_copy(update={"scheme": scheme, "seed": seed, "completion": {"ring": ring}})


def _printed(results: list[RunResult]) -> str:
    return printed(comparison_table(compare(results)))


def test_completion_times_have_ratios_to_the_first_run(result: RunResult) -> None:
    runs = [_run(result, "irn", 400), _run(result, "sfc", 150)]
    first, second = compare(runs).completion
    assert (first.label, first.took_us, first.ratio) == ("irn", 400, 1)
    assert (second.label, second.ideal_us, second.slowdown, second.ratio) == ("sfc", 100, 1.5, 0.375)
    text = " ".join(_printed(runs).split())
    assert TITLE in text
    assert " ".join(["ring", "sfc", "150", "µs", "0.375x", "100", "µs", "1.5"]) in text
    [table] = completion_tables(compare(runs))
    assert table.rows[1] == ("ring", "sfc", "150 µs", "0.375x", "100 µs", "1.5")


@pytest.mark.parametrize("ideal_us", [None, 100])
def test_completion_counts_in_summaries(result: RunResult, ideal_us: float | None) -> None:
    comparison = compare([_run(result, "irn", 400, ideal_us=ideal_us), _run(result, "sfc", 357, ideal_us=ideal_us)])
    [sentence] = comparison.meaning
    assert "sfc compared with irn: ring completes earlier; " in sentence
    assert "(completion of ring 357 µs vs. 400 µs, 0.892x; " in sentence
    assert "The completion time of ring is lowest with sfc, 357 µs (irn: 400 µs). " in of_comparison(comparison)
    [alike] = compare([_run(result, "irn", 400), _run(result, "sfc", 401)]).meaning
    assert "the completion of ring shows no clear difference; " in alike


def test_messages_that_do_not_wait_have_a_completion_without_an_ideal(result: RunResult) -> None:
    """It lasts from the first start to the last finish. With several classes, all flows together have one, too."""
    flows = make_flows(count=50, incast=5).with_columns(pl.col("finish_us").fill_null(9000.0))
    completion = completion_by_class(flows, {"incast": 50.0})
    assert list(completion) == ["all", "hadoop", "incast"]
    took_us = float(flows["finish_us"].max()) - float(flows["start_us"].min())  # type: ignore[arg-type]
    assert completion["all"] == CompletionFigures(took_us=took_us, ideal_us=None, slowdown=None)
    assert completion["incast"].slowdown == pytest.approx((completion["incast"].took_us or 0) / 50)
    runs = [_run(result, "irn", 400, ideal_us=None), _run(result, "sfc", 150, ideal_us=None)]
    text = " ".join(_printed(runs).split())
    assert "ring sfc 150 µs 0.375x" in text
    assert "ideal" not in text


def test_beside_an_incast_only_dependent_messages_have_a_completion_in_the_table(results: list[RunResult]) -> None:
    assert TITLE not in _printed(results)
    assert "completion of" not in compare(results).meaning[0]
    assert len(compare(results).completion) == 6


def test_unfinished_runs_have_no_ratio(result: RunResult) -> None:
    runs = [_run(result, "irn", None), _run(result, "sfc", 150)]
    assert [row.ratio for row in compare(runs).completion] == [None, None]
    assert "did not finish" in _printed(runs)


def test_over_seeds_times_are_means_and_ratios_are_geometric_means(result: RunResult) -> None:
    """Half with one seed and double with another cancel. With an unfinished seed there is no mean."""
    runs = [
        _run(result, "irn", 100, 1),
        _run(result, "sfc", 50, 1),
        _run(result, "irn", 200, 2),
        _run(result, "sfc", 400, 2),
    ]
    irn, sfc = compare(runs).completion
    assert (irn.took_us, sfc.took_us) == (150, 225)
    assert sfc.ratio == pytest.approx(1)
    assert sfc.took and sfc.took.interval and sfc.ratio_over_seeds and sfc.ratio_over_seeds.interval
    text = " ".join(_printed(runs).split())
    assert f"{TITLE}, mean over seeds ± 95 % interval" in text
    assert "225 ±2,200 µs" in text
    [table] = completion_tables(compare(runs))
    assert table.rows[1][2].startswith("225 µs (-2 ms to ")
    assert "the completion of ring shows no clear difference" in compare(runs).meaning[0]
    broken = compare([*runs[:3], _run(result, "sfc", None, 2)])
    assert (broken.completion[1].took_us, broken.completion[1].ratio) == (None, None)


def test_results_of_older_releases_have_no_table(result: RunResult) -> None:
    older = result.model_copy(update={"completion": {}})
    assert compare([older]).completion == ()
    assert TITLE not in _printed([older])
