# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the page of a sweep."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from matplotlib.collections import LineCollection

from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.analysis.plots.over_axes import AxisLine, plot_over_axis
from sfc_testbed.analysis.report.first_sentence import of_sweep
from sfc_testbed.analysis.report.sweep import write_sweep_page
from sfc_testbed.analysis.results.comparison import result_row
from sfc_testbed.analysis.results.over_seeds import estimate_of
from sfc_testbed.analysis.results.result import ResultError, read_result
from sfc_testbed.analysis.results.swept import SWEEP_FILE, TABLE_FILE, is_sweep, read_sweep_results, shared_runs
from tests.analysis.conftest import FolderMaker
from tests.analysis.report.reading import legend_of, plots_of


def sweep_folder(make_run_folder: FolderMaker, tmp_path: Path) -> Path:
    """Create the folder `sweep` with a sweep over two thresholds and two degrees. The threshold does not affect irn."""
    folder, rows = tmp_path / "sweep", []
    for degree, load in ((8, 1.0), (16, 2.0)):
        results = {
            "irn": read_result(make_run_folder("irn", load=2 * load, peak_bytes=4e6 * load)),
            "sfc": read_result(make_run_folder("sfc", load=load, peak_bytes=1e6 * load)),
        }
        for threshold in (250_000, 500_000):
            for scheme, result in results.items():
                name = f"irn,{degree}" if scheme == "irn" else f"sfc,{degree},{threshold}"
                place = {"axis.degree": degree, "axis.switch.q_th_bytes": threshold}
                rows.append({"job": name, **place, **result_row(result)})
    folder.mkdir()
    pl.DataFrame(rows).write_parquet(folder / TABLE_FILE)
    (folder / SWEEP_FILE).write_text('{"name": "thresholds", "scenario": "incast", "seeds": [1]}')
    return folder


def test_a_sweep_has_a_page_with_a_figure_for_each_axis(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    folder = sweep_folder(make_run_folder, tmp_path)
    assert is_sweep(folder)
    page = write_sweep_page(folder, ["sfc degree=32: no room"], pictures=True).read_text()
    assert "8 jobs (6 distinct runs) of incast were executed." in page
    assert "The peak buffer is " in page
    assert "(sfc, degree 8, q_th_bytes 250000) to" in page
    assert "(irn, degree 16)" in page
    assert "switch.q_th_bytes does not affect irn: its 4 jobs share 2 runs." in page
    assert "sfc degree=32: no room" in page
    assert page.count("<figure>") == 2
    assert {"over-degree.png", "over-switch-q_th_bytes.png", "results.csv"} <= {path.name for path in folder.iterdir()}
    over_degree, over_threshold = map(legend_of, plots_of(page))
    assert over_degree == ["irn", "sfc, q_th_bytes 250,000", "sfc, q_th_bytes 500,000"]
    assert over_threshold == ["irn, degree 8", "sfc, degree 8", "irn, degree 16", "sfc, degree 16"]
    assert page.count("jobs/irn,8") == 2


def test_bars_of_a_sweep_are_confidence_intervals_beside_each_other() -> None:
    lines = [
        AxisLine(name, name, [estimate_of([mean - 1.0, mean + 1.0, mean]), None], [estimate_of([mean]), None])
        for name, mean in (("irn", 10.0), ("sfc", 20.0))
    ]
    left, right = draw(plot_over_axis("degree", [8, 16], lines, slowdown_title="P99")).axes
    [low, high] = lines[0].slowdowns[0].interval  # type: ignore[union-attr,misc]
    bars = [collection for collection in left.collections if isinstance(collection, LineCollection)]
    assert bars[0].get_segments()[0][:, 1] == pytest.approx([low, high])
    places = [bar.get_transform().transform(bar.get_segments()[0])[0, 0] for bar in bars]
    assert places[1] - places[0] > 5
    assert left.get_xlim()[0] < 8 < 16 < left.get_xlim()[1]
    assert left.get_ylim()[1] < 2 * 20.0 * 1.1
    [single] = [bar for bar in right.collections if isinstance(bar, LineCollection)][:1]
    assert not any(segment.size and np.isfinite(segment).all() for segment in single.get_segments())


def test_a_sweep_says_that_the_seed_changes_nothing(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    folder = sweep_folder(make_run_folder, tmp_path)
    once = pl.read_parquet(folder / TABLE_FILE)
    assert "The seed changes nothing" not in of_sweep(read_sweep_results(folder))
    again = once.with_columns(job=once["job"] + ",8", seed=once["seed"] + 1, wall_s=once["wall_s"] + 1)
    pl.concat([once, again]).write_parquet(folder / TABLE_FILE)
    assert "The seed changes nothing." in of_sweep(read_sweep_results(folder))
    assert "The seed changes nothing." in write_sweep_page(folder).read_text()
    pl.concat([once, again]).with_columns(verdict=pl.lit("invalid")).write_parquet(folder / TABLE_FILE)
    assert "The seed changes nothing" not in of_sweep(read_sweep_results(folder))
    pl.concat([once, again.with_columns(max_buffer_bytes=pl.col("max_buffer_bytes") + 1)]).write_parquet(
        folder / TABLE_FILE
    )
    assert "The seed changes nothing" not in of_sweep(read_sweep_results(folder))


def test_shared_runs_are_reported_only_for_schemes_that_share(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    """A sweep with a damaged table cannot be read."""
    table = pl.read_parquet(sweep_folder(make_run_folder, tmp_path) / TABLE_FILE)
    assert shared_runs(table.filter(pl.col("scheme") == "sfc")) == ()
    (tmp_path / "sweep" / TABLE_FILE).write_bytes(b"PAR1")
    with pytest.raises(ResultError, match="the sweep is not readable"):
        write_sweep_page(tmp_path / "sweep")


def test_unfinished_runs_are_first_in_the_summary_and_crosses_in_the_plot(
    make_run_folder: FolderMaker, tmp_path: Path
) -> None:
    """The run that finished least has neither a P99 nor the lowest peak buffer."""
    rows = []
    for degree, peak, unfinished in ((8, 2e6, 0.0), (16, 4e6, 0.0), (32, 1e5, 0.9)):
        result = read_result(make_run_folder("irn", peak_bytes=peak, unfinished=unfinished))
        rows.append({"job": f"irn,{degree}", "axis.degree": degree, **result_row(result)})
    folder = tmp_path / "sweep"
    folder.mkdir()
    pl.DataFrame(rows).write_parquet(folder / TABLE_FILE)
    (folder / SWEEP_FILE).write_text('{"name": "degrees", "scenario": "incast", "seeds": [1]}')
    completed = rows[2]["flows_completed"]
    text = of_sweep(read_sweep_results(folder))
    assert text.startswith(f"1 of 3 runs did not finish all flows (irn, degree 32: {completed} of 2,256 flows). ")
    assert "The P99 slowdown of the 2 runs that finished is " in text
    assert "The peak buffer of the 2 runs that finished is 1.68 MB (irn, degree 8) to 3.35 MB (irn, degree 16)." in text
    page = write_sweep_page(folder).read_text()
    assert f">{completed} / 2,256</td>" in page
    assert "A cross marks runs that did not finish all flows; they have no figures." in page
