# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lateness over time: what is drawn of a live run, and on its page."""

from __future__ import annotations

import shutil

import numpy as np
import polars as pl
import pytest

from analysis.plots.faults import FaultMark
from analysis.plots.lateness import plot_lateness
from analysis.report.pages import write_run_report
from analysis.results.limits import DEGRADED_ABOVE, INVALID_ABOVE
from analysis.results.stored import load_run
from telemetry.schema import LATENESS
from telemetry.writer import write_trace
from tests.analysis.conftest import FolderMaker

ROWS = pl.DataFrame(
    [
        (10.0, "host", "agent1", 5, 0.1), (10.0, "host", "agent2", 5, 0.3), (10.0, "switch", "tor1", 9, 0.02),
        (20.0, "host", "agent1", 5, 6.0), (20.0, "switch", "tor1", 9, 0.04), (20.0, "switch", "tor2", 9, 0.03),
    ],
    schema=dict(LATENESS.dtypes),
    orient="row",
)  # fmt: skip


def test_the_latest_of_hosts_and_of_switches_is_drawn_with_the_limits() -> None:
    [axes] = plot_lateness(ROWS, base_rtt_us=10.0, faults=[FaultMark("down", 5, 8)]).axes
    curves = {line.get_label(): np.asarray(line.get_ydata()).tolist() for line in axes.lines}
    assert curves["hosts"] == pytest.approx([3, 60])
    assert curves["switches"] == pytest.approx([0.2, 0.4])
    levels = {each[0] for each in curves.values() if len(each) == 2 and each[0] == each[1]}
    assert levels == {100 * DEGRADED_ABOVE, 100 * INVALID_ABOVE}
    assert axes.get_ylim()[1] > 60


def test_a_page_shows_when_its_run_was_late(make_run_folder: FolderMaker) -> None:
    folder = make_run_folder()
    (folder / "lateness.parquet").unlink(missing_ok=True)
    assert load_run(folder).problems == ()
    assert "Lateness over time" not in write_run_report(folder).read_text()
    write_trace(folder / "lateness.parquet", LATENESS, ROWS)
    assert "Lateness over time" in write_run_report(folder, pictures=True).read_text()
    assert (folder / "lateness.png").exists()
    shutil.copy(folder / "goodput.parquet", folder / "lateness.parquet")
    assert any("lateness.parquet cannot be read" in each for each in load_run(folder).problems)
