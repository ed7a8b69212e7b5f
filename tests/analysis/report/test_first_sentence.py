# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors

from __future__ import annotations

import polars as pl

from analysis.report.first_sentence import of_comparison, of_run
from analysis.report.pages import write_run_report
from analysis.results.comparison import compare
from analysis.results.result import RunResult
from analysis.results.stored import load_run
from telemetry.schema import FLOWS
from tests.analysis.conftest import FolderMaker


def test_run_summary_has_the_figures_of_the_result(make_run_folder: FolderMaker) -> None:
    run = load_run(make_run_folder("sfc"))
    assert of_run(run.result, run.flows.with_columns(paused_us=pl.lit(2.0))) == (
        "P99 slowdown of hadoop flows: 2.94 [2.72 to 3.11]. Peak buffer: 2.52 MB (tor2). "
        "2,238 of 2,256 flows completed in 3.77 ms. Mean pause per flow: 2 µs. 40 dropped packets. Wall time: 41.2 s. "
        "Verdict: faithful (Every one of 400,000 packets sent is accounted for)."
    )


def test_run_page_begins_with_the_summary(make_run_folder: FolderMaker) -> None:
    page = write_run_report(make_run_folder("sfc")).read_text()
    assert '<p class="first">P99 slowdown of hadoop flows: 2.94 [2.72 to 3.11]. Peak buffer: ' in page


def test_run_summary_names_what_was_not_measured(make_run_folder: FolderMaker) -> None:
    result = load_run(make_run_folder("sfc")).result
    changes = {
        "flows": result.flows.model_copy(update={"completed": 0}),
        "fct_slowdown": {},
        "buffer_bytes": {},
        "drops": None,
        "wall_s": None,
        "verdict": "invalid",
        "verdict_reasons": ("The runner was killed.", "Another."),
        "signals": result.signals.model_copy(update={"pause_obeyed_us": 0.0}),
    }
    assert of_run(result.model_copy(update=changes), FLOWS.empty()) == (
        "Peak buffer: not measured. None of 2,256 flows completed. No pauses. Drops: not counted. "
        "Wall time: not measured. Verdict: invalid (The runner was killed)."
    )


def test_comparison_summary_names_the_best_run(results: list[RunResult]) -> None:
    assert of_comparison(compare(results)) == (
        "P99 slowdown of hadoop flows: lowest with sfc, 1.97 [1.86 to 2.05] (irn: 4.87 [4.45 to 5.21]). "
        "Peak buffer: lowest with sfc, 1.68 MB (irn: 6.71 MB). Mean pause per flow in the run with BTS: 4.47 µs. "
        "80 dropped packets (irn 40, sfc 40). 2 runs of hadoop-50. Wall time: 82.5 s. Verdict: faithful (all runs)."
    )


def test_a_figure_that_is_printed_alike_is_not_lowest_with_one_run(results: list[RunResult]) -> None:
    irn, sfc = results
    alike = sfc.model_copy(update={"max_buffer_bytes": (irn.max_buffer_bytes or 0) + 1})
    assert "Peak buffer: the same with irn and sfc, 6.71 MB. " in of_comparison(compare([irn, alike]))
    third = sfc.model_copy(update={"scheme": "sfc-p"})
    text = of_comparison(compare([irn, sfc, third]))
    assert "Peak buffer: lowest with sfc and sfc-p, 1.68 MB (irn: 6.71 MB). " in text


def test_comparison_summary_names_degraded_runs(results: list[RunResult]) -> None:
    irn, sfc = results
    comparison = compare([irn, sfc.model_copy(update={"verdict": "degraded"})])
    assert of_comparison(comparison).endswith(" Verdict: degraded in 1 of 2 runs (sfc).")
