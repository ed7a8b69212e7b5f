# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What congestion controls did: window, rate and round trip of a few flows over time, from the trace `cc`."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.plots.canvas import byte_axis, new_figure, say, share_legend, styled
from analysis.plots.palette import numbered_looks
from analysis.plots.series import Points
from telemetry.reader import Rows, answer

MAXIMUM_FLOWS = 6
MAXIMUM_POINTS = 500
"""Of a line: more than the pixels that a panel is wide."""


@styled
def plot_congestion(congestion: Rows, flows: pl.DataFrame) -> Figure:
    """A panel each for window, rate and round trip; a line for each of the largest flows, the first of equals."""
    figure, (window, rate, round_trip) = new_figure(3, height_inches=3.6)
    shown = _largest(congestion, flows)
    traced = answer(congestion.lazy().filter(pl.col("flow_id").is_in(shown)))
    highest = traced["cwnd_bytes"].drop_nulls().to_numpy().max(initial=0)
    scale, unit = byte_axis(window, float(highest))
    _panel(window, f"Window ({unit})", traced, shown, pl.col("cwnd_bytes") / scale, "no flow had a limit")
    _panel(rate, "Rate (Gb/s)", traced, shown, pl.col("rate_bps") / 1e9, "")
    _panel(round_trip, "Round trip (model µs)", traced, shown, pl.col("rtt_us"), "no round trip was measured")
    share_legend(figure)
    return figure


def _largest(congestion: Rows, flows: pl.DataFrame) -> list[int]:
    """Flows of the trace by their sizes; their ids where the flows trace does not know them."""
    ids = answer(congestion.lazy().select(pl.col("flow_id").unique()))
    sized = ids.join(flows.select("flow_id", "size_bytes"), on="flow_id", how="left")
    ordered = sized.sort("size_bytes", "flow_id", descending=[True, False], nulls_last=True)
    return ordered["flow_id"].head(MAXIMUM_FLOWS).to_list()


def _panel(axes: Axes, title: str, traced: pl.DataFrame, shown: list[int], value: pl.Expr, empty: str) -> None:
    axes.set_title(title)
    axes.set_xlabel("Time (model µs)")
    drawn = False
    for flow_id, look in zip(shown, numbered_looks(len(shown)), strict=True):
        rows = traced.filter(pl.col("flow_id") == flow_id).select("time_us", value=value).drop_nulls()
        times_us, values = (_thinned(rows[name].to_numpy()) for name in ("time_us", "value"))
        if values.size:
            style: dict[str, Any] = {"color": look.color, "linestyle": look.dashes, "label": f"flow {flow_id}"}
            axes.step(times_us, values, where="post", linewidth=1.4, **style)
            drawn = True
    if not drawn:
        say(axes, empty)
        return
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)


def _thinned(values: Points) -> Points:
    """At most so many of them, evenly chosen, the last among them."""
    if values.size <= MAXIMUM_POINTS:
        return values
    return values[np.linspace(0, values.size - 1, MAXIMUM_POINTS).astype(np.int64)]
