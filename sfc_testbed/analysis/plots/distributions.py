# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The paper's distribution plots of one or more runs: shared buffers, receiver throughput, BTS feedback delay."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.buffers import whole_buffers
from sfc_testbed.analysis.metrics.goodput import receiver_throughput_gbps
from sfc_testbed.analysis.metrics.percentiles import Values
from sfc_testbed.analysis.metrics.signals import delays_us
from sfc_testbed.analysis.plots.description import Axis, Line, Plot, PlotPanel, highest_fitted
from sfc_testbed.analysis.plots.palette import DASH_CYCLE, LineLook, different_looks, scheme_looks
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.plots.series import cumulative_shares
from sfc_testbed.telemetry.reader import Rows

NEAR_CAUSES = ("cache", "estimator")
"""Causes of BTS that come from the sender's own ToR; all others come from the congested switch."""


def buffer_samples(queues: Rows) -> Values:
    """Return the high-water marks of all switches' shared buffers in all intervals, in bytes, ascending."""
    values: Values = whole_buffers(queues)["high_water_bytes"].sort().to_numpy().astype(np.float64)
    return values


def feedback_delays_us(signals: Rows, *, near: bool) -> Values:
    """Return the delays of BTS from sending to receipt, ascending.

    `near`: whether to select the BTS from the sender's own ToR (True) or from congested switches (False).
    """
    return np.sort(delays_us(signals, pl.col("cause").is_in(NEAR_CAUSES) == near))


def plot_distributions(runs: Sequence[PlottedRun]) -> Plot:
    """Plot the CDFs of buffer occupancy per switch, receiver throughput, and feedback delay (near and remote).

    The throughput panel is left out if no run has several receivers, the delay panel if no BTS reached a host.
    """
    labelled = list(zip(runs, scheme_looks([run.scheme for run in runs]), strict=True))
    buffers = [(run.label, look, buffer_samples(run.queues) / 1e6) for run, look in labelled]
    panels = [_panel("Shared buffers", buffers, "Buffer used (MB)", "nothing was queued")]
    means = [
        (run.label, look, receiver_throughput_gbps(run.goodput, run.flows, run.window_us)) for run, look in labelled
    ]
    if any(values.size > 1 for *_, values in means):
        panels.append(_panel("Receivers", means, "Throughput (Gb/s)", "nothing was delivered"))
    delays = _delay_lines(labelled)
    if delays:
        lowest = min(float(values[0]) for *_, values in delays)
        highest = max(float(values[-1]) for *_, values in delays)
        x = Axis("Delay (model µs)", max(0.1, lowest / 1.2), max(highest * 1.2, 1.0), is_log=True)
        panels.append(replace(_panel("BTS feedback", delays, x.label, ""), x=x))
    return Plot(panels, height_inches=3.8, legend_columns=4)


def _delay_lines(labelled: Sequence[tuple[PlottedRun, LineLook]]) -> list[tuple[str, LineLook, Values]]:
    """Return a line for the remote and a line for the near delays of each run that has any."""
    looks = [look for _, look in labelled]
    near_looks = different_looks([LineLook(look.color, DASH_CYCLE[2]) for look in looks], looks)
    lines = [
        line
        for (run, look), near_look in zip(labelled, near_looks, strict=True)
        for line in (
            (run.label, look, feedback_delays_us(run.signals, near=False)),
            (f"{run.label}, near source", near_look, feedback_delays_us(run.signals, near=True)),
        )
    ]
    return [line for line in lines if line[-1].size]


def _panel(title: str, lines: Sequence[tuple[str, LineLook, Values]], name: str, empty: str) -> PlotPanel:
    y = Axis("Share", 0, 1.02)
    drawn = [
        Line(label, look, *cumulative_shares(values, values.size), "after")
        for label, look, values in lines
        if values.size
    ]
    if not drawn:
        return PlotPanel(title, Axis(name), y, text=empty)
    return PlotPanel(title, Axis(name, 0, highest_fitted(line.x for line in drawn)), y, drawn)
