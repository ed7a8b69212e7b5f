# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Schemes over several seeds, and what a comparison means, in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from analysis.report.pages import write_comparison_report
from analysis.report.tables import format_estimate
from analysis.results.comparison import Comparison, compare
from analysis.results.over_seeds import Estimate
from analysis.results.result import RunResult, read_result
from tests.analysis.conftest import FolderMaker

Buffers = dict[tuple[str, int], int]


@pytest.fixture
def result(make_run_folder: FolderMaker) -> RunResult:
    """A run with an incast beside other flows."""
    return read_result(make_run_folder("irn"))


def _compared(result: RunResult, buffers: Buffers) -> Comparison:
    """Runs that differ in scheme, seed and peak buffer."""
    return compare(
        [
            result.model_copy(update={"scheme": scheme, "seed": seed, "max_buffer_bytes": held})
            for (scheme, seed), held in buffers.items()
        ]
    )


def test_ratios_are_taken_seed_by_seed(result: RunResult) -> None:
    """A scheme that holds half of whatever the other holds does so for certain, though both vary widely."""
    comparison = _compared(result, {("irn", 1): 100, ("sfc", 1): 50, ("irn", 2): 900, ("sfc", 2): 450})
    irn, sfc = comparison.over_seeds
    buffer, ratio = irn.figures["max_buffer_bytes"], sfc.ratios["max_buffer_bytes"]
    assert buffer and ratio and buffer.interval
    assert (buffer.mean, buffer.runs, irn.seeds) == (500, 2, (1, 2))
    assert buffer.interval[0] < 0 < 1000 < buffer.interval[1]
    assert (ratio.mean, ratio.interval) == (0.5, (0.5, 0.5))
    assert comparison.warnings == ()


def test_factors_that_cancel_are_no_difference(result: RunResult) -> None:
    """Half with one seed and double with another: the geometric mean is 1, and the sentence says that it shows none."""
    comparison = _compared(result, {("irn", 1): 100, ("sfc", 1): 50, ("irn", 2): 100, ("sfc", 2): 200})
    ratio = comparison.over_seeds[1].ratios["max_buffer_bytes"]
    assert ratio and ratio.mean == 1
    [said] = comparison.meaning
    assert said.startswith("sfc compared with irn, over 2 seeds")
    assert "the peak buffer shows no clear difference" in said


def test_only_runs_that_differ_in_nothing_else_are_averaged(result: RunResult) -> None:
    assert not _compared(result, {("irn", 1): 100, ("sfc", 2): 50}).over_seeds
    again = [result, result.model_copy(update={"seed": 8}), result]
    assert not compare(again).over_seeds
    elsewhere = [result, result.model_copy(update={"seed": 8, "clock": "virtual"})]
    assert not compare(elsewhere).over_seeds


def test_one_run_that_cannot_be_trusted_is_told(result: RunResult) -> None:
    """The worst verdict stands for the scheme, and the sentence begins with it."""
    runs = [result.model_copy(update={"scheme": scheme, "seed": seed}) for seed in (1, 2) for scheme in ("irn", "sfc")]
    runs[3] = runs[3].model_copy(update={"verdict": "invalid"})
    comparison = compare(runs)
    assert [each.verdict for each in comparison.over_seeds] == ["faithful", "invalid"]
    assert comparison.meaning[0].startswith("Not reliable (sfc is invalid): sfc compared with irn")


def test_the_sentence_follows_the_figures(make_run_folder: FolderMaker) -> None:
    """The same two runs in either order say the opposite."""
    irn = read_result(make_run_folder("irn", load=2.0, peak_bytes=8e6))
    sfc = read_result(make_run_folder("sfc", load=0.5, peak_bytes=2e6))
    [better], [worse] = compare([irn, sfc]).meaning, compare([sfc, irn]).meaning
    for text in (
        "the slowest hadoop flows finish earlier",
        "the peak buffer is smaller",
        "the incast completes earlier",
    ):
        assert text in better
        assert text not in worse
    for text in ("the slowest hadoop flows finish later", "the peak buffer is larger", "the incast completes later"):
        assert text in worse


def test_means_stand_in_table_page_and_file(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """The page begins with the sentence, has a table of means and plots of one seed."""
    folders = [
        make_run_folder(scheme, load=load, identity={"seed": seed})
        for seed in (1, 2)
        for scheme, load in (("irn", 2.0), ("sfc", 0.5))
    ]
    page = write_comparison_report(folders, tmp_path / "out")
    stored = Comparison.model_validate_json((tmp_path / "out" / "comparison.json").read_text())
    assert [each.scheme for each in stored.over_seeds] == ["irn", "sfc"]
    text = page.read_text()
    assert text.index("sfc compared with irn, over 2 seeds") < text.index("Means over seeds") < text.index("Overview")
    assert (tmp_path / "out" / "beside_incast.png").exists()


def test_a_program_of_ones_own_counts_for_itself(result: RunResult) -> None:
    classes = {name: result.fct_slowdown["hadoop"] for name in ("hadoop", "rpc")}
    runs = [
        result.model_copy(update={"seed": seed, "program": program, "fct_slowdown": classes})
        for seed in (1, 2)
        for program in (None, "mine")
    ]
    flows = 2 * classes["rpc"].flows
    rows = [(row.label, row.flows) for row in compare(runs).other_classes if row.traffic_class != "all"]
    assert rows == [("irn", flows), ("irn (mine)", flows)]


def test_half_of_an_interval_has_the_unit_of_its_mean() -> None:
    """701 ±12 KB, not 701 KB ±12000."""
    assert format_estimate("max_buffer_bytes", Estimate(mean=701e3, interval=(689e3, 713e3), runs=3)) == "701 ±12 KB"
    assert format_estimate("p99_slowdown", Estimate(mean=11.3, interval=None, runs=1)) == "11.3"
    assert format_estimate("p99_slowdown", None) == "-"
