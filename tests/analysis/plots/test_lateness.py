# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the plot of lateness over time, and for the pages with it."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.analysis.plots.lateness import plot_lateness
from sfc_testbed.analysis.report.html_pages import write_run_report
from sfc_testbed.analysis.results.limits import DEGRADED_ABOVE, INVALID_ABOVE
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.request.spec import FaultSpan
from sfc_testbed.telemetry.schema import LATENESS
from sfc_testbed.telemetry.writer import write_trace
from tests.analysis.conftest import FolderMaker, frame_of

ROWS = frame_of(
    LATENESS,
    [
        (10.0, "host", "agent1", 5, 0.1), (10.0, "host", "agent2", 5, 0.3), (10.0, "switch", "tor1", 9, 0.02),
        (20.0, "host", "agent1", 5, 6.0), (20.0, "switch", "tor1", 9, 0.04), (20.0, "switch", "tor2", 9, 0.03),
    ],
)  # fmt: skip


def test_the_highest_lateness_of_hosts_and_switches_is_drawn_with_the_limits() -> None:
    [axes] = draw(
        plot_lateness(ROWS, base_rtt_us=10.0, faults=[FaultSpan(spec="", label="down", begin_us=5, end_us=8)])
    ).axes
    curves = {line.get_label(): np.asarray(line.get_ydata()).tolist() for line in axes.lines}
    assert curves["hosts"] == pytest.approx([3, 60])
    assert curves["switches"] == pytest.approx([0.2, 0.4])
    levels = {values[0] for values in curves.values() if len(values) == 2 and values[0] == values[1]}
    assert levels == {100 * DEGRADED_ABOVE, 100 * INVALID_ABOVE}
    assert axes.get_ylim()[1] > 60


def test_a_page_shows_lateness_over_time_if_it_was_recorded(make_run_folder: FolderMaker) -> None:
    folder = make_run_folder()
    (folder / "lateness.parquet").unlink(missing_ok=True)
    assert load_run(folder).problems == ()
    assert "Lateness over time" not in write_run_report(folder).read_text()
    write_trace(folder / "lateness.parquet", LATENESS, ROWS)
    assert "Lateness over time" in write_run_report(folder, pictures=True).read_text()
    assert (folder / "lateness.png").exists()
    shutil.copy(folder / "goodput.parquet", folder / "lateness.parquet")
    assert any("lateness.parquet cannot be read" in problem for problem in load_run(folder).problems)
