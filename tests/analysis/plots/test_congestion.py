# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Congestion controls over time: what is drawn of a traced run, and on its page."""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.plots.congestion import MAXIMUM_FLOWS, plot_congestion
from analysis.report.pages import write_run_report
from analysis.results.stored import load_run
from telemetry.schema import CONGESTION, FLOWS
from telemetry.writer import write_trace
from tests.analysis.conftest import FolderMaker
from tests.analysis.plots.looks import assert_curves_differ

ROWS = pl.DataFrame(
    [
        (10.0, 1, 125_000, 100_000_000_000, 10.0), (12.0, 1, 60_000, 48_000_000_000, 15.0),
        (11.0, 2, None, 100_000_000_000, None), (14.0, 2, None, 50_000_000_000, 18.0),
    ],
    schema=dict(CONGESTION.dtypes),
    orient="row",
)  # fmt: skip


def test_each_flow_has_a_line_in_every_panel_that_it_has_values_for() -> None:
    """A flow without a window has none; units are those of the titles."""
    panels = plot_congestion(ROWS, FLOWS.empty()).axes
    drawn = [{line.get_label(): np.asarray(line.get_ydata()).tolist() for line in axes.lines} for axes in panels]
    assert [axes.get_title(loc="left") for axes in panels] == ["Window (KB)", "Rate (Gb/s)", "Round trip (model µs)"]
    assert drawn[0] == {"flow 1": [125, 60]}
    assert drawn[1] == {"flow 1": [100, 48], "flow 2": [100, 50]}
    assert drawn[2] == {"flow 1": [10, 15], "flow 2": [18]}


def test_the_largest_flows_are_drawn() -> None:
    """The first of equals; more would be a thicket."""
    sizes = {1: 10, 2: 99, 3: 50, 4: 50, 5: 60, 6: 70, 7: 80, 8: 20}
    flows = pl.DataFrame({"flow_id": list(sizes), "size_bytes": list(sizes.values())}, schema_overrides=FLOWS.dtypes)
    rows = [(1.0, flow_id, 1, 1, 1.0) for flow_id in sizes]
    traced = pl.DataFrame(rows, schema=dict(CONGESTION.dtypes), orient="row")
    labels = [line.get_label() for line in plot_congestion(traced, flows).axes[0].lines]
    assert labels == [f"flow {flow_id}" for flow_id in (2, 7, 6, 5, 3, 4)]
    assert len(labels) == MAXIMUM_FLOWS
    assert_curves_differ(plot_congestion(traced, flows))


def test_a_page_shows_them_where_the_run_was_asked(make_run_folder: FolderMaker) -> None:
    """Others have no such trace, and lack nothing."""
    folder = make_run_folder()
    assert load_run(folder).congestion.collect().is_empty()
    write_trace(folder / CONGESTION.file_name, CONGESTION, ROWS)
    assert load_run(folder).problems == ()
    assert "Congestion control of the largest flows" in write_run_report(folder).read_text()
