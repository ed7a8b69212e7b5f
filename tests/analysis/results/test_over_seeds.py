# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for schemes over several seeds, and for the sentences about a comparison."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.analysis.report.first_sentence import of_comparison
from sfc_testbed.analysis.report.html_pages import write_comparison_report
from sfc_testbed.analysis.report.terminal_tables import comparison_table, format_estimate
from sfc_testbed.analysis.results.comparison import Comparison, compare, read_comparison
from sfc_testbed.analysis.results.over_seeds import Estimate
from sfc_testbed.analysis.results.result import RunResult, read_result
from tests.analysis.conftest import FolderMaker
from tests.analysis.narrow import printed

Buffers = dict[tuple[str, int], int]


@pytest.fixture
def result(make_run_folder: FolderMaker) -> RunResult:
    return read_result(make_run_folder("irn"))


def _compared(result: RunResult, buffers: Buffers) -> Comparison:
    """Compare runs that differ in scheme, seed and peak buffer."""
    return compare(
        [
            result.model_copy(update={"scheme": scheme, "seed": seed, "max_buffer_bytes": peak_bytes})
            for (scheme, seed), peak_bytes in buffers.items()
        ]
    )


def test_ratios_are_computed_for_each_seed(result: RunResult) -> None:
    """If a scheme has half of the other's buffer for every seed, the ratio is certain, although both vary widely."""
    comparison = _compared(result, {("irn", 1): 100, ("sfc", 1): 50, ("irn", 2): 900, ("sfc", 2): 450})
    irn, sfc = comparison.over_seeds
    buffer, ratio = irn.figures["max_buffer_bytes"], sfc.ratios["max_buffer_bytes"]
    assert buffer and ratio and buffer.interval
    assert (buffer.mean, buffer.runs, irn.seeds) == (500, 2, (1, 2))
    assert buffer.interval[0] < 0 < 1000 < buffer.interval[1]
    assert (ratio.mean, ratio.interval, ratio.is_constant) == (0.5, None, True)
    assert "0.5x with every seed" in comparison.meaning[0]
    assert comparison.warnings == ()


def test_figures_that_are_the_same_with_every_seed_have_no_interval(result: RunResult) -> None:
    """The terminal, the page's first sentence, the sentences about schemes and comparison.json say so."""
    comparison = _compared(result, dict.fromkeys([("irn", 1), ("sfc", 1), ("irn", 2), ("sfc", 2)], 100))
    assert comparison.warnings == (
        "The seed changes nothing: seeds 1, 2 gave the same figures to the last digit. "
        "They count as one run, so there is no confidence interval.",
    )
    assert [scheme.is_constant for scheme in comparison.over_seeds] == [True, True]
    [sentence] = comparison.meaning
    assert sentence.startswith("sfc compared with irn, the same with each of 2 seeds: ")
    assert "no clear difference" in sentence and "peak buffer 100 B vs. 100 B, 1x;" in sentence
    shown = printed(comparison_table(comparison))
    assert "the same with each of 2 seeds" in shown and "The seed changes nothing" in shown
    assert "The seed changes nothing." in of_comparison(comparison)
    assert "±" not in shown and "[" not in sentence
    estimates = [estimate for scheme in comparison.over_seeds for estimate in scheme.figures.values() if estimate]
    assert all(estimate.interval is None for estimate in estimates)


@pytest.mark.parametrize("failure", [{"verdict": "invalid"}, {"unfinished": True}], ids=str)
def test_runs_that_failed_alike_do_not_show_that_the_seed_changes_nothing(
    result: RunResult, failure: dict[str, str | bool]
) -> None:
    if "unfinished" in failure:
        flows = result.flows.model_copy(update={"completed": result.flows.total - 1})
        failed = result.model_copy(update={"flows": flows, "has_fixed_duration": False})
    else:
        failed = result.model_copy(update=failure)
    comparison = _compared(failed, dict.fromkeys([("irn", 1), ("sfc", 1), ("irn", 2), ("sfc", 2)], 100))
    assert not [warning for warning in comparison.warnings if "The seed changes nothing" in warning]
    assert "The seed changes nothing" not in printed(comparison_table(comparison)) + of_comparison(comparison)


def test_a_scheme_that_no_seed_changes_is_named(result: RunResult) -> None:
    comparison = _compared(result, {("irn", 1): 100, ("sfc", 1): 50, ("irn", 2): 100, ("sfc", 2): 60})
    [warning] = comparison.warnings
    assert warning.startswith("The seed changes nothing for irn: seeds 1, 2 gave")
    assert "Without ±: the same with every seed." in printed(comparison_table(comparison))


def test_an_interval_that_is_printed_as_1_to_1_is_no_difference(result: RunResult) -> None:
    """Two seeds with the ratios 1.00011 and 1.00012 have the interval 1.00005 to 1.00018."""
    million = 1_000_000
    buffers = {("irn", 1): million, ("sfc", 1): million + 110, ("irn", 2): million, ("sfc", 2): million + 120}
    [sentence] = _compared(result, buffers).meaning
    assert "the peak buffer shows no clear difference" in sentence
    assert "1x [1 to 1]" in sentence


def test_ratios_that_cancel_are_no_difference(result: RunResult) -> None:
    """Half with one seed and double with another give a geometric mean of 1 and no clear difference."""
    comparison = _compared(result, {("irn", 1): 100, ("sfc", 1): 50, ("irn", 2): 100, ("sfc", 2): 200})
    ratio = comparison.over_seeds[1].ratios["max_buffer_bytes"]
    assert ratio and ratio.mean == 1
    [sentence] = comparison.meaning
    assert sentence.startswith("sfc compared with irn, over 2 seeds")
    assert "the peak buffer shows no clear difference" in sentence


def test_only_runs_that_differ_in_scheme_and_seed_alone_are_averaged(result: RunResult) -> None:
    assert not _compared(result, {("irn", 1): 100, ("sfc", 2): 50}).over_seeds
    again = [result, result.model_copy(update={"seed": 8}), result]
    assert not compare(again).over_seeds
    elsewhere = [result, result.model_copy(update={"seed": 8, "clock": "virtual"})]
    assert not compare(elsewhere).over_seeds
    assert [row.label for row in compare(elsewhere).rows] == ["clock real", "clock virtual"]


def test_a_scheme_has_the_worst_verdict_of_its_runs(result: RunResult) -> None:
    runs = [result.model_copy(update={"scheme": scheme, "seed": seed}) for seed in (1, 2) for scheme in ("irn", "sfc")]
    runs[3] = runs[3].model_copy(update={"verdict": "invalid"})
    comparison = compare(runs)
    assert [scheme.verdict for scheme in comparison.over_seeds] == ["faithful", "invalid"]
    assert comparison.meaning[0].startswith("Not reliable (sfc is invalid): sfc compared with irn")


def test_the_sentence_follows_the_figures(results: list[RunResult]) -> None:
    """The same two runs in reverse order give the opposite statements."""
    irn, sfc = results
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


def test_means_are_in_page_and_file(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """The page begins with the sentence, and has a table of means and plots of one seed."""
    folders = [
        make_run_folder(scheme, load=load, peak_bytes=1e6 * seed, config={"seed": seed})
        for seed in (1, 2)
        for scheme, load in (("irn", 2.0), ("sfc", 0.5))
    ]
    page = write_comparison_report(folders, tmp_path / "out", pictures=True)
    stored, _ = read_comparison(tmp_path / "out")
    assert [scheme.scheme for scheme in stored.over_seeds] == ["irn", "sfc"]
    text = page.read_text()
    assert text.index("sfc compared with irn, over 2 seeds") < text.index("Means over seeds") < text.index("Overview")
    assert (tmp_path / "out" / "beside_incast.png").exists()


def test_runs_with_a_user_program_are_a_separate_scheme(result: RunResult) -> None:
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
    assert format_estimate("max_buffer_bytes", Estimate(mean=701e3, interval=(689e3, 713e3), runs=3)) == "701 ±12 KB"
    assert format_estimate("took_us", Estimate(mean=1500, interval=(1234, 1766), runs=3)) == "1.5 ±0.27 ms"
    assert format_estimate("p99_slowdown", Estimate(mean=11.3, interval=None, runs=1)) == "11.3"
    assert format_estimate("p99_slowdown", None) == "-"


def test_a_comparison_needs_a_run() -> None:
    with pytest.raises(ValueError, match="no runs to compare"):
        compare([])


def test_a_mean_over_the_seeds_that_finished_does_not_hide_the_others(make_run_folder: FolderMaker) -> None:
    """One of three seeds of a scheme left most flows unfinished, so the scheme has neither a mean nor a ratio."""
    whole = read_result(make_run_folder("irn"))
    dead = read_result(make_run_folder("irn", unfinished=0.9))
    runs = [whole.model_copy(update={"scheme": scheme, "seed": seed}) for seed in (1, 2) for scheme in ("irn", "sfc")]
    runs += [whole.model_copy(update={"seed": 3}), dead.model_copy(update={"scheme": "sfc", "seed": 3})]
    irn, sfc = compare(runs).over_seeds
    assert irn.figures["p99_slowdown"] and irn.figures["p99_slowdown"].runs == 3
    assert (sfc.figures["p99_slowdown"], sfc.ratios["p99_slowdown"]) == (None, None)
    assert sfc.figures["max_buffer_bytes"]
    assert (irn.flows_unfinished, sfc.flows_unfinished) == (0, dead.unfinished)
    [sentence] = compare(runs).meaning
    assert sentence.startswith(f"sfc did not finish {dead.unfinished:,} of 6,768 flows (irn finished all flows).")
    reverse = compare([*runs[1::2], *runs[::2]])
    assert reverse.over_seeds[1].ratios["p99_slowdown"] is None
