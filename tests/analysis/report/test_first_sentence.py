# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors

from __future__ import annotations

import polars as pl

from sfc_testbed.analysis.report.first_sentence import of_comparison, of_run
from sfc_testbed.analysis.report.html_pages import write_run_report
from sfc_testbed.analysis.report.page_tables import run_cards
from sfc_testbed.analysis.report.terminal_tables import comparison_table, key_figures, run_table
from sfc_testbed.analysis.results.comparison import compare, result_row
from sfc_testbed.analysis.results.result import ResentCounts, RunResult, read_result
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.telemetry.schema import FLOWS
from tests.analysis.conftest import FolderMaker
from tests.analysis.narrow import printed


def test_run_summary_has_the_figures_of_the_result(make_run_folder: FolderMaker) -> None:
    run = load_run(make_run_folder("sfc"))
    assert of_run(run.result, run.flows.with_columns(paused_us=pl.lit(2.0))) == (
        "The P99 slowdown of hadoop flows is 2.93 [2.72 to 3.11]. The peak buffer is 2.52 MB (tor2). "
        "All 2,256 flows completed in 3.77 ms. "
        "The mean pause per flow is 2 µs. 40 packets were dropped. The wall time was 41.2 s. "
        "The verdict is faithful (Every one of 400,000 packets sent is accounted for)."
    )


def test_run_page_begins_with_the_summary(make_run_folder: FolderMaker) -> None:
    page = write_run_report(make_run_folder("sfc")).read_text()
    assert '<p class="first">The P99 slowdown of hadoop flows is 2.93 [2.72 to 3.11]. The peak buffer is ' in page


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
        "2,256 of 2,256 flows did not finish. The peak buffer was not measured. No flow was paused. "
        "Drops were not counted. "
        "The wall time was not measured. The verdict is invalid (The runner was killed)."
    )


def test_comparison_summary_names_the_best_run(results: list[RunResult]) -> None:
    assert of_comparison(compare(results)) == (
        "The P99 slowdown of hadoop flows is lowest with sfc, 1.97 [1.86 to 2.05] (irn: 4.87 [4.45 to 5.21]). "
        "The peak buffer is lowest with sfc, 1.68 MB (irn: 6.71 MB). "
        "The mean pause per flow in the run with BTS is 4.47 µs. "
        "80 packets were dropped (irn 40, sfc 40). 2 runs of hadoop-50 were compared. The wall time was 82.5 s. "
        "The verdict is faithful for all runs."
    )


def test_a_figure_that_is_printed_alike_is_not_lowest_with_one_run(results: list[RunResult]) -> None:
    irn, sfc = results
    alike = sfc.model_copy(update={"max_buffer_bytes": (irn.max_buffer_bytes or 0) + 1})
    assert "The peak buffer is the same with irn and sfc, 6.71 MB. " in of_comparison(compare([irn, alike]))
    third = sfc.model_copy(update={"scheme": "sfc-p"})
    text = of_comparison(compare([irn, sfc, third]))
    assert "The peak buffer is lowest with sfc and sfc-p, 1.68 MB (irn: 6.71 MB). " in text


def test_comparison_summary_names_degraded_runs(results: list[RunResult]) -> None:
    irn, sfc = results
    comparison = compare([irn, sfc.model_copy(update={"verdict": "degraded"})])
    assert of_comparison(comparison).endswith(" The verdict is degraded in 1 of 2 runs (sfc).")


def test_unfinished_work_comes_first_on_terminal_and_page(make_run_folder: FolderMaker) -> None:
    """A dead job can be faithful. Its page begins with the dead job, and so does its terminal output."""
    folder = make_run_folder("sfc", unfinished=0.9)
    run = load_run(folder)
    counts = run.result.flows
    sentence = f"{counts.total - counts.completed:,} of 2,256 flows did not finish"
    assert of_run(run.result, run.flows).startswith(f"{sentence}. The peak buffer is ")
    assert f"The other {counts.completed} completed in " in of_run(run.result, run.flows)
    page = write_run_report(folder).read_text()
    assert f'<p class="first">{sentence}.' in page
    assert '<span class="verdict invalid">unfinished</span>' in page
    lines = printed(run_table(run.result, run.config)).splitlines()
    assert (lines[1].strip(), lines[2].strip()) == (f"{sentence}.", "faithful")


def test_flows_that_a_scenario_cuts_off_intentionally_are_not_unfinished(make_run_folder: FolderMaker) -> None:
    run = load_run(make_run_folder("sfc", unfinished=0.9, config={"has_fixed_duration": True}))
    assert run.result.did_finish
    assert run.result.flows.completed < run.result.flows.total
    assert "did not finish" not in of_run(run.result, run.flows)
    assert f"{run.result.flows.completed:,} of 2,256 flows completed in " in of_run(run.result, run.flows)


def test_a_run_with_unfinished_flows_is_never_the_best(make_run_folder: FolderMaker) -> None:
    """The dead job has the smallest buffer, and its few flows that finished had an empty network."""
    dead = read_result(make_run_folder("dead", load=0.1, peak_bytes=1e5, unfinished=0.9))
    irn, sfc = (read_result(make_run_folder(scheme, peak_bytes=peak)) for scheme, peak in (("irn", 8e6), ("sfc", 2e6)))
    text = of_comparison(compare([irn, sfc, dead]))
    assert text.startswith(f"1 of 3 runs did not finish all flows (dead: {dead.flows.completed:,} of 2,256 flows). ")
    assert "The peak buffer is lowest with sfc among the 2 that finished, 1.68 MB (irn: 6.71 MB)." in text
    assert "The P99 slowdown of hadoop flows is the same with irn and sfc among the 2 that finished, " in text
    assert "No run finished, so none is the best." in of_comparison(compare([dead, dead]))
    first = compare([irn, dead]).meaning[0]
    assert first.startswith(f"dead did not finish {dead.unfinished:,} of 2,256 flows (irn finished all flows).")
    assert "finish earlier" not in first
    table = printed(comparison_table(compare([irn, dead])))
    assert table.splitlines()[0].startswith("1 of 2 runs did not finish all flows (dead: ")


def test_packets_sent_again_are_shown_with_the_reasons(make_run_folder: FolderMaker) -> None:
    folder = make_run_folder(
        "irn", counters={"resent": ResentCounts(packets=9, timeout=2, trimmed=0, loss=3, reordering=4)}
    )
    result = read_result(folder)
    flows = result.flows.model_copy(update={"packets_resent": 9})
    result = result.model_copy(update={"flows": flows})
    assert "40 packets were dropped. 9 packets were sent again (timeout 2, loss 3, reordering 4)." in of_run(
        result, FLOWS.empty()
    )
    assert dict(key_figures(result))["sent again"] == "9 (timeout 2, loss 3, reordering 4)"
    [card] = [card for card in run_cards(result) if card.name == "Packets sent again"]
    assert (card.value, card.detail) == ("9", "timeout 2, loss 3, reordering 4")
    comparison = compare([result, result.model_copy(update={"scheme": "sfc"})])
    assert "18 packets were sent again (irn 9: mostly reordering; sfc 9: mostly reordering)." in of_comparison(
        comparison
    )
    assert printed(comparison_table(comparison)).count(" 40/9 ") == 2
    row = result_row(result)
    assert (row["resent"], row["resent_loss"], row["resent_reordering"]) == (9, 3, 4)
