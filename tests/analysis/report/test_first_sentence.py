# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a page begins with says what happened, what it cost, and whether to believe it."""

from __future__ import annotations

import polars as pl

from analysis.formatting import format_bytes, format_number, format_us
from analysis.metrics.flows import active_span_us
from analysis.report.first_sentence import of_comparison, of_run
from analysis.report.pages import write_run_report
from analysis.results.comparison import compare
from analysis.results.result import RunResult, counted
from analysis.results.stored import load_run
from telemetry.schema import FLOWS
from tests.analysis.conftest import FolderMaker


def test_of_a_run_it_has_the_figures_of_the_result(make_run_folder: FolderMaker) -> None:
    """Finish, tail, peak; pauses, drops and wall time; the verdict with its first reason. It stands on the page."""
    folder = make_run_folder("sfc")
    run = load_run(folder)
    result, flows = run.result, run.flows.with_columns(paused_us=pl.lit(2.0))
    assert of_run(result, flows) == (
        f"{result.flows.completed:,} of 2,256 flows finished within {format_us(active_span_us(flows))}, 99 % of the "
        f"hadoop flows in at most {format_number(result.fct_slowdown['hadoop'].p99)}x of their ideal time, and the "
        f"fullest switch, tor2, held up to {format_bytes(result.max_buffer_bytes)}, at the cost of pauses of 2 µs a "
        "flow, 40 dropped packets and 41.2 s of wall time; believe it: it is faithful, for "
        f"{result.verdict_reasons[0][:1].lower()}{result.verdict_reasons[0][1:]}"
    )
    assert of_run(result, run.flows).split(",")[0] in write_run_report(folder).read_text()


def test_of_a_run_that_went_wrong_it_says_so(make_run_folder: FolderMaker) -> None:
    """Nothing finished, nothing was counted, and why it cannot be believed."""
    result = load_run(make_run_folder("sfc")).result
    nothing = {
        "flows": result.flows.model_copy(update={"completed": 0}),
        "fct_slowdown": {},
        "buffer_bytes": {},
        "drops": None,
        "wall_s": None,
        "verdict": "invalid",
        "verdict_reasons": ("The runner was killed.", "Another."),
        "signals": result.signals.model_copy(update={"pause_obeyed_us": 0.0}),
    }
    assert of_run(result.model_copy(update=nothing), FLOWS.empty()) == (
        "None of 2,256 flows finished, and no switch left a sample of its buffer, at the cost of no pauses, drops that "
        "nobody counted and wall time that nobody took; do not believe it: it is invalid, for the runner was killed."
    )


def _results(make_run_folder: FolderMaker) -> list[RunResult]:
    folders = [make_run_folder("irn", load=2.0, peak_bytes=8e6), make_run_folder("sfc", load=0.5, peak_bytes=2e6)]
    return [load_run(folder).result for folder in folders]


def test_of_a_comparison_it_names_who_did_best(make_run_folder: FolderMaker) -> None:
    """Against the first, by buffer and by tail; a run that is not faithful is named."""
    irn, sfc = _results(make_run_folder)
    said = of_comparison(compare([irn, sfc]))
    p99 = [format_number(each.fct_slowdown["hadoop"].p99) for each in (sfc, irn)]
    assert said.startswith(
        f"Of 2 runs of hadoop-50, sfc had the smallest peak buffer ({format_bytes(sfc.max_buffer_bytes)}, irn "
        f"{format_bytes(irn.max_buffer_bytes)}) and sfc had the lowest P99 slowdown of hadoop flows "
        f"({p99[0]}, irn {p99[1]})"
    )
    pause_us = sfc.signals.pause_obeyed_us / sfc.flows.total
    assert f"pauses of {format_us(pause_us)} a flow in the run with BTS" in said
    assert f"{counted(irn.dropped) + counted(sfc.dropped)} dropped packets (irn 40, sfc 40)" in said
    assert "believe it: all runs are faithful" in said
    late = compare([irn, sfc.model_copy(update={"verdict": "degraded"})])
    assert "believe it with care: 1 of 2 runs is degraded (sfc)" in of_comparison(late)
