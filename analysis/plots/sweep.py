# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A figure of one quantity over a swept setting, one line per scheme."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from analysis.plots.canvas import new_figure, say, share_legend, styled, visible_labels
from analysis.plots.palette import scheme_looks


@dataclass(frozen=True)
class SweepLine:
    """The values of one scheme at the places of the axis; None where the scheme has no value."""

    label: str
    scheme: str
    values: Sequence[float | None]


@styled
def plot_sweep(places: Sequence[object], lines: Sequence[SweepLine], *, x_label: str, y_label: str) -> Figure:
    """Plot the lines over the axis. Unless all places are numbers, they are drawn at equal distances."""
    figure, (axes,) = new_figure(1)
    numbers = [float(place) for place in places if isinstance(place, (int, float))]
    are_numbers = len(numbers) == len(places)
    ticks = numbers if are_numbers else [float(index) for index in range(len(places))]
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    for line, look in zip(lines, scheme_looks([line.scheme for line in lines]), strict=True):
        points = [(tick, value) for tick, value in zip(ticks, line.values, strict=True) if value is not None]
        if points:
            x, y = zip(*points, strict=True)
            axes.plot(x, y, color=look.color, linestyle=look.dashes, marker="o", markersize=5, label=line.label)
    if not axes.lines:
        say(axes, "no data")
        return figure
    axes.set_xticks(ticks, visible_labels(places))
    axes.set_ylim(bottom=0)
    share_legend(figure)
    return figure
