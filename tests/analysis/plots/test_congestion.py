# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the plots of congestion controls over time, and for the pages with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.analysis.plots.congestion import MAXIMUM_FLOWS, plot_congestion, plot_congestion_compared, plot_control
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.report.html_pages import write_comparison_report, write_run_report
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.documents import controls
from sfc_testbed.telemetry.schema import CONGESTION, FLOWS, QUEUES
from sfc_testbed.telemetry.writer import write_trace
from tests.analysis.conftest import FolderMaker, frame_of
from tests.analysis.plots.looks import assert_curves_differ

ROWS = frame_of(
    CONGESTION,
    [
        (10.0, 1, 125_000, 100_000_000_000, 10.0), (12.0, 1, 60_000, 48_000_000_000, 15.0),
        (11.0, 2, None, 100_000_000_000, None), (14.0, 2, None, 50_000_000_000, 18.0),
    ],
)  # fmt: skip


def test_each_flow_has_a_line_in_every_panel_for_which_it_has_values() -> None:
    panels = draw(plot_congestion(ROWS, FLOWS.empty())).axes
    drawn = [{line.get_label(): np.asarray(line.get_ydata()).tolist() for line in axes.lines} for axes in panels]
    assert [axes.get_title(loc="left") for axes in panels] == ["Window (KB)", "Rate (Gb/s)", "Round trip (model µs)"]
    assert drawn[0] == {"flow 1": [125, 60]}
    assert drawn[1] == {"flow 1": [100, 48], "flow 2": [100, 50]}
    assert drawn[2] == {"flow 1": [10, 15], "flow 2": [18]}


def test_the_largest_flows_are_drawn() -> None:
    """Flows of equal size are drawn in order of their IDs."""
    sizes = {1: 10, 2: 99, 3: 50, 4: 50, 5: 60, 6: 70, 7: 80, 8: 20}
    flows = pl.DataFrame({"flow_id": list(sizes), "size_bytes": list(sizes.values())}, schema_overrides=FLOWS.dtypes)
    traced = frame_of(CONGESTION, [(1.0, flow_id, 1, 1, 1.0) for flow_id in sizes])
    labels = [line.get_label() for line in draw(plot_congestion(traced, flows)).axes[0].lines]
    assert labels == [f"flow {flow_id}" for flow_id in (2, 7, 6, 5, 3, 4)]
    assert len(labels) == MAXIMUM_FLOWS
    assert_curves_differ(draw(plot_congestion(traced, flows)))


def test_compared_runs_are_side_by_side_on_one_scale_with_the_same_flows() -> None:
    slower = ROWS.with_columns(pl.col("rate_bps") // 2, pl.col("time_us") * 2)
    traces = {"irn": ROWS, "irn+mine": slower, "sfc": CONGESTION.empty()}
    runs = [PlottedRun(name, name, FLOWS.empty(), congestion=trace) for name, trace in traces.items()]
    figures = {name: draw(plot) for name, plot in plot_congestion_compared(runs).items()}
    assert list(figures) == ["window", "rate", "round_trip"]
    for figure in figures.values():
        assert [axes.get_title(loc="left") for axes in figure.axes] == ["irn", "irn+mine", "sfc"]
        assert [text.get_text() for text in figure.axes[2].texts] == ["nothing was traced"]
        assert_curves_differ(figure)
    first, second, _ = figures["rate"].axes
    assert first.get_ylabel() == second.get_ylabel() == "Rate (Gb/s)"
    assert first.get_xlim() == second.get_xlim() and first.get_ylim() == second.get_ylim()
    assert [np.asarray(line.get_ydata()).tolist() for line in second.lines] == [[50, 24], [50, 25]]
    [legend] = figures["rate"].legends
    assert [text.get_text() for text in legend.get_texts()] == ["flow 1", "flow 2"]


def test_a_control_has_a_column_for_each_run_and_rows_for_what_changes() -> None:
    """The last row is the longest queue, in the unit that suits the run."""
    unpaced = ROWS.with_columns(pl.lit(100_000_000_000, pl.UInt64).alias("rate_bps"))
    runs = [
        PlottedRun(name, "irn+mine", FLOWS.empty(), queues=_queue_of(peak_bytes), congestion=unpaced)
        for name, peak_bytes in (("few", 2_000), ("many", 3_000_000))
    ]
    axes = draw(plot_control(runs)).axes
    assert [cell.get_title(loc="left") for cell in axes] == ["few", "many", "", ""]
    labels = ["Window (KB)", "Window (KB)", "Longest queue (KB)", "Longest queue (MB)"]
    assert [cell.get_ylabel() for cell in axes] == labels
    assert {cell.get_xlim() for cell in axes} == {(0.0, 20.0)}


def _queue_of(peak_bytes: int) -> pl.DataFrame:
    return frame_of(QUEUES, [(time_us, "tor1", 2, 0, 0, peak_bytes) for time_us in (10.0, 20.0)])


def test_the_command_writes_a_picture_for_each_scheme(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    runs = make_run_folder("irn+hpcc").parent
    pictures = tmp_path / "pictures"
    assert controls.main([str(runs)], pictures) == 0
    [picture] = pictures.iterdir()
    assert picture.name == "hpcc.png" and picture.stat().st_size > 1_000
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "result.json").write_text("{}")
    assert controls.main([str(tmp_path / "damaged")], pictures) == 2


@pytest.mark.parametrize("count", [1, 4, 5, 12])
def test_many_compared_runs_have_a_panel_each(count: int) -> None:
    runs = [PlottedRun(f"irn #{number}", "irn", FLOWS.empty(), congestion=ROWS) for number in range(count)]
    assert [len(draw(plot).axes) for plot in plot_congestion_compared(runs).values()] == [count] * 3


def test_a_comparison_page_shows_congestion_control_of_traced_runs(
    make_run_folder: FolderMaker, tmp_path: Path
) -> None:
    folders = [make_run_folder(scheme) for scheme in ("irn", "sfc")]
    assert (
        "Congestion window of the largest flows" not in write_comparison_report(folders, tmp_path / "plain").read_text()
    )
    write_trace(folders[1] / CONGESTION.file_name, CONGESTION, ROWS)
    page = write_comparison_report(folders, tmp_path / "traced", pictures=True)
    for words in (
        "Congestion window of the largest flows",
        "Sending rate of the largest flows",
        "RTT of the largest flows",
    ):
        assert words in page.read_text()
    assert {"cc_window.png", "cc_rate.png", "cc_round_trip.png"} <= {path.name for path in page.parent.iterdir()}


def test_a_run_page_shows_congestion_control_if_the_run_was_traced(make_run_folder: FolderMaker) -> None:
    """A missing trace `cc` is not a problem, because it is optional."""
    folder = make_run_folder()
    assert load_run(folder).congestion.collect().is_empty()
    write_trace(folder / CONGESTION.file_name, CONGESTION, ROWS)
    assert load_run(folder).problems == ()
    assert "Congestion control of the largest flows" in write_run_report(folder).read_text()
