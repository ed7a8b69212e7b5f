# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the plot of equal-cost links over time."""

from __future__ import annotations

import numpy as np

from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.analysis.plots.links import MAXIMUM_LINES, plot_uplinks
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.telemetry.schema import FLOWS, LINKS
from tests.analysis.conftest import frame_of
from tests.analysis.plots.looks import assert_curves_differ


def _run(label: str, links: int) -> PlottedRun:
    """Return a run in which port n of tor1 sends n KB in each of two intervals."""
    rows = [(time_us, "tor1", port, 1_000 * port, 0, 0) for time_us in (20.0, 40.0) for port in range(1, links + 1)]
    frame = frame_of(LINKS, rows)
    ports = {"tor1": [tuple(range(1, links + 1))]}
    return PlottedRun(label, "irn", FLOWS.empty(), links=frame, equal_cost_ports=ports)


def test_each_link_of_the_busiest_group_has_a_line() -> None:
    plot = plot_uplinks([_run("irn", 3)])
    assert plot is not None
    [axes] = draw(plot).axes
    assert axes.get_title(loc="left") == "tor1"
    lines = {line.get_label(): np.asarray(line.get_ydata()).tolist() for line in axes.lines}
    assert lines == {"port 1": [0.4, 0.4], "port 2": [0.8, 0.8], "port 3": [1.2, 1.2]}
    assert_curves_differ(draw(plot))


def test_of_many_links_the_least_and_the_most_used_are_drawn() -> None:
    plot = plot_uplinks([_run("irn", 20), _run("spray", 2)])
    assert plot is not None
    many, few = plot.panels
    assert many.title == f"irn: tor1, {MAXIMUM_LINES} of 20 links"
    assert len(many.lines) == MAXIMUM_LINES
    assert {many.lines[0].label, many.lines[-1].label} == {"port 1", "port 20"}
    assert len(few.lines) == 2
    assert many.y == few.y


def test_without_equal_cost_links_there_is_no_plot() -> None:
    run = PlottedRun("irn", "irn", FLOWS.empty(), links=_run("irn", 2).links)
    assert plot_uplinks([run]) is None
    both = plot_uplinks([run, _run("spray", 2)])
    assert both is not None
    assert both.panels[0].text == "no equal-cost links"
