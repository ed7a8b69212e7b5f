# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the comparison of the completion times of dependent messages, in figures, table and page."""

from __future__ import annotations

import pytest

from analysis.metrics.flows import CompletionFigures
from analysis.report.page import comparison_tables
from analysis.report.tables import comparison_table
from analysis.results.comparison import compare
from analysis.results.result import RunResult, read_result
from tests.analysis.conftest import FolderMaker
from tests.analysis.narrow import printed

TITLE = "completion time of dependent messages"


@pytest.fixture
def result(make_run_folder: FolderMaker) -> RunResult:
    """Return the result of a run without dependent messages."""
    return read_result(make_run_folder("irn"))


def _run(result: RunResult, scheme: str, took_us: float | None, seed: int = 1) -> RunResult:
    slowdown = None if took_us is None else took_us / 100
    ring = CompletionFigures(took_us=took_us, ideal_us=100, slowdown=slowdown)
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
    assert " ".join(["ring", "sfc", "150", "µs", "(0.375x)", "100", "µs", "1.5"]) in text
    [table] = [table for table in comparison_tables(compare(runs), runs) if "dependent messages" in table.title]
    assert table.rows[1] == ("ring", "sfc", "150 µs", "100 µs", "1.5", "0.375x")


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
    assert f"{TITLE}, mean over seeds" in " ".join(_printed(runs).split())
    broken = compare([*runs[:3], _run(result, "sfc", None, 2)])
    assert (broken.completion[1].took_us, broken.completion[1].ratio) == (None, None)


def test_without_dependent_messages_there_is_no_table(result: RunResult) -> None:
    assert compare([result]).completion == ()
    assert TITLE not in _printed([result])
