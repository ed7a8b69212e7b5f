# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the result of a run whose counters were not read: figures from counters are missing and never zero."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.analysis.formatting import NOT_MEASURED
from sfc_testbed.analysis.report.page_tables import overview_table, packet_table, run_cards, switch_table
from sfc_testbed.analysis.report.terminal_tables import key_figures
from sfc_testbed.analysis.results.build import build_result, build_unfinished_result
from sfc_testbed.analysis.results.comparison import compare, result_row
from sfc_testbed.analysis.results.result import ResultError, RunResult, counted, read_result
from sfc_testbed.telemetry.journal import JOURNAL_FOLDER
from sfc_testbed.telemetry.schema import FLOWS, QUEUES, SIGNALS
from tests.analysis.conftest import CONFIG, COUNTERS, make_flows, make_queues, make_signals

UNCOUNTED = ("packets", "drops", "resent", "unexplained_loss", "kernel_drops", "bts", "pfc", "switch_events", "wall_s")


@pytest.fixture
def unfinished() -> RunResult:
    """Return the result of a run that was killed after it had written traces."""
    return build_unfinished_result(
        CONFIG, ["The runner was killed."], flows=make_flows(), queues=make_queues(), signals=make_signals()
    )


def test_figures_from_traces_exist_and_figures_from_counters_do_not(unfinished: RunResult) -> None:
    whole = build_result(CONFIG, COUNTERS, flows=make_flows(), queues=make_queues(), signals=make_signals())
    for name in (
        "fct_slowdown",
        "fct_slowdown_by_size",
        "buffer_bytes",
        "max_buffer_bytes",
        "throughput_gbps",
        "signals",
    ):
        assert getattr(unfinished, name) == getattr(whole, name)
    assert {getattr(unfinished, name) for name in UNCOUNTED} == {None}
    assert (unfinished.flows.timeouts, unfinished.flows.packets_resent, unfinished.dropped) == (None, None, None)
    assert (unfinished.verdict, unfinished.interrupted) == ("invalid", True)
    assert unfinished.verdict_reasons == ("The runner was killed.",)
    assert unfinished.unfinished_work == "18 of 2,256 flows did not finish"


def test_tables_show_missing_figures_as_not_measured(unfinished: RunResult) -> None:
    """A table of many runs has an empty cell."""
    cards = {card.name: card.value for card in run_cards(unfinished)}
    assert (cards["Drops"], cards["BTS sent"], cards["Wall time"]) == (NOT_MEASURED,) * 3
    terminal = dict(key_figures(unfinished))
    assert {terminal[name] for name in ("drops", "BTS sent", "PFC sent", "wall time")} == {NOT_MEASURED}
    for table in (packet_table(unfinished), switch_table(unfinished)):
        assert {cell for _, cell in table.rows} == {NOT_MEASURED}
    row = result_row(unfinished)
    assert (row["drops"], row["bts_sent"], row["pfc_sent"], row["wall_s"]) == (None,) * 4


def test_an_unfinished_result_can_be_compared_with_complete_ones(unfinished: RunResult) -> None:
    whole = build_result(CONFIG, COUNTERS, flows=make_flows(), queues=QUEUES.empty(), signals=SIGNALS.empty())
    comparison = compare([whole, unfinished])
    assert any("The runner was killed." in warning for warning in comparison.warnings)
    overview = overview_table(comparison)
    assert list(overview.rows[1][-4:]) == ["- / -", "-", "-", "-"]
    assert "-" not in overview.rows[0][-4]


def test_missing_counters_give_no_figures() -> None:
    unmeasured = build_unfinished_result(
        CONFIG, ["Killed."], flows=FLOWS.empty(), queues=QUEUES.empty(), signals=SIGNALS.empty()
    )
    assert unmeasured.max_buffer_bytes is None
    assert {card.name: card.value for card in run_cards(unmeasured)}["Peak buffer"] == "-"
    with pytest.raises(ResultError, match="killed before"):
        counted(unmeasured.max_buffer_bytes)


def test_the_error_for_a_folder_without_a_result_names_the_command_that_finishes_it(tmp_path: Path) -> None:
    with pytest.raises(ResultError, match="ended before it had a result"):
        read_result(tmp_path)
    (tmp_path / JOURNAL_FOLDER).mkdir()
    with pytest.raises(ResultError, match="report` finishes it"):
        read_result(tmp_path)
