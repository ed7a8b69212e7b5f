# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""FCTs of the same flows in our virtual clock and in another simulator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from matplotlib.figure import Figure

from analysis.plots.canvas import MUTED, log_x, log_y, new_figure, say, share_legend, styled
from analysis.plots.palette import OTHER_COLORS
from simulators.comparison import PeerRun

_MARGIN = 1.2
_MARKERS = ("o", "^")
"""The marker changes when the colors begin again."""


@styled
def plot_fcts(runs: Sequence[PeerRun], peer: str) -> Figure:
    """Plot a point for each stored flow, on logarithmic axes, with the line of equal FCTs."""
    figure, (axes,) = new_figure(1, height_inches=6.0)
    axes.set_title(f"FCTs of the same flows, ours and the {peer}'s")
    points = [point for run in runs for point in run.points_us]
    if not points:
        say(axes, "no data")
        return figure
    low, high = min(map(min, points)) / _MARGIN, max(map(max, points)) * _MARGIN
    log_x(axes, low, high)
    log_y(axes, low, high)
    axes.set_xlabel(f"FCT in the {peer} (µs)")
    axes.set_ylabel("Our FCT (µs)")
    axes.axline((low, low), (high, high), color=MUTED, linewidth=1.0)
    for run, (marker, color) in zip(runs, product(_MARKERS * len(runs), OTHER_COLORS), strict=False):
        ours, theirs = zip(*run.points_us, strict=True)
        axes.scatter(theirs, ours, s=10, marker=marker, linewidths=0, color=color, label=run.label)
    share_legend(figure, columns=2)
    return figure
