# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The plot of equal-cost links over time: one panel per run, one line per link of the group that sent the most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sfc_testbed.analysis.metrics.links import LinkGroup, busiest_group, rates_gbps
from sfc_testbed.analysis.plots.description import TIME, Axis, Line, Plot, PlotPanel, fault_items, highest_fitted
from sfc_testbed.analysis.plots.palette import numbered_looks
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.plots.series import Points, thin_rates

MAXIMUM_PANELS = 4
MAXIMUM_LINES = 8
"""The most links that have a line of their own; the panel states how many others there are."""
_MAXIMUM_STEPS = 400
"""The most points of a line."""


def plot_uplinks(runs: Sequence[PlottedRun]) -> Plot | None:
    """Plot the rate of each link of each run's busiest group; None if no run has equal-cost links.

    All panels have the same axes.
    """
    plotted = list(runs)[:MAXIMUM_PANELS]
    groups = [busiest_group(run.links, run.equal_cost_ports) for run in plotted]
    if not any(groups):
        return None
    drawn = [_lines(run, group) for run, group in zip(plotted, groups, strict=True)]
    end_us, gbps = (highest_fitted(values) for values in _values(drawn))
    y = Axis("Rate of the link (Gb/s)", 0, gbps)
    panels = [
        PlotPanel(
            _title(run, group, len(plotted)), Axis(TIME, 0, end_us), y, (*lines, *fault_items(run.faults, end_us))
        )
        if group
        else PlotPanel(run.label, Axis(TIME, 0, end_us), y, text="no equal-cost links")
        for run, group, lines in zip(plotted, groups, drawn, strict=True)
    ]
    return Plot(panels, height_inches=3.6)


def _values(drawn: Sequence[Sequence[Line]]) -> tuple[list[Points], list[Points]]:
    lines = [line for of_run in drawn for line in of_run]
    return [line.x for line in lines], [line.y for line in lines]


def _title(run: PlottedRun, group: LinkGroup, runs: int) -> str:
    title = group.switch if runs == 1 else f"{run.label}: {group.switch}"
    return title if len(group.ports) <= MAXIMUM_LINES else f"{title}, {MAXIMUM_LINES} of {len(group.ports)} links"


def _lines(run: PlottedRun, group: LinkGroup | None) -> list[Line]:
    if group is None:
        return []
    ends_us, rates = rates_gbps(run.links, group)
    shown = _most_different(rates)
    looks = zip(shown, numbered_looks(len(shown)), strict=True)
    thinned = {port: thin_rates(ends_us, rates[port], _MAXIMUM_STEPS, are_ends=True) for port in shown}
    return [Line(f"port {port}", look, *thinned[port], "before", 1.4) for port, look in looks]


def _most_different(rates: Mapping[int, Points]) -> list[int]:
    """Return all links or, of many, as many as lines are possible, from the least to the most used in equal steps."""
    if len(rates) <= MAXIMUM_LINES:
        return list(rates)
    by_use = sorted(rates, key=lambda port: float(rates[port].sum()))
    return [by_use[place] for place in np.linspace(0, len(by_use) - 1, MAXIMUM_LINES).round().astype(int)]
