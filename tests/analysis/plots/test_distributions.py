# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the distributions over switches, receivers and signals, and for their plots."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sfc_testbed.analysis.plots.canvas import draw
from sfc_testbed.analysis.plots.distributions import buffer_samples, feedback_delays_us, plot_distributions
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.telemetry.schema import FLOWS
from tests.analysis.conftest import make_flows, make_goodput, make_queues, make_signals
from tests.analysis.plots.looks import MANY_SCHEMES, assert_curves_differ


def test_near_and_remote_feedback_are_told_apart() -> None:
    """BTS from cache and estimator come from near the source, all others from the congested switch."""
    signals = make_signals()
    near, remote = (feedback_delays_us(signals, near=is_near) for is_near in (True, False))
    assert near.size + remote.size == signals.height
    assert near.max() < remote.min()


def test_buffer_samples_cover_every_switch() -> None:
    queues = make_queues()
    samples = buffer_samples(queues)
    assert samples.size == queues.filter(pl.col("port") == -1).height
    assert (np.diff(samples) >= 0).all()


def test_the_figure_has_three_panels_with_units() -> None:
    run = PlottedRun(
        "sfc", "sfc", make_flows(), make_queues(), make_signals(), make_goodput(make_flows()), window_us=(100.0, 3000.0)
    )
    labels = [axes.get_xlabel() for axes in draw(plot_distributions([run])).axes]
    assert labels == ["Buffer used (MB)", "Throughput (Gb/s)", "Delay (model µs)"]
    empty = PlottedRun("irn", "irn", FLOWS.empty())
    [panel] = draw(plot_distributions([empty])).axes
    assert [text.get_text() for text in panel.texts] == ["nothing was queued"]


@pytest.mark.parametrize("schemes", [*MANY_SCHEMES[:4], ("sfc", "sfc+hpcc", "sfc+dcqcn"), ("sfc",) * 6])
def test_remote_and_near_delays_of_several_runs_can_be_told_apart(schemes: tuple[str, ...]) -> None:
    flows = make_flows(count=100, incast=50)
    traces = (flows, make_queues(), make_signals(), make_goodput(flows))
    runs = [PlottedRun(f"{scheme} #{number}", scheme, *traces) for number, scheme in enumerate(schemes)]
    assert_curves_differ(draw(plot_distributions(runs)))


def test_the_panel_of_receivers_is_left_out_for_one_receiver() -> None:
    flows = make_flows().with_columns(dst=pl.lit("h32"))
    signals = make_signals().head(1)
    run = PlottedRun("sfc", "sfc", flows, make_queues(), signals, make_goodput(flows))
    buffers, delays = draw(plot_distributions([run])).axes
    assert (buffers.get_xlabel(), delays.get_xlabel()) == ("Buffer used (MB)", "Delay (model µs)")
    [line] = delays.lines
    assert list(np.asarray(line.get_ydata())) == [0.0, 1.0]
