# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Distributions over switches, receivers and signals, and the figures of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from analysis.distribution_plots import DistributedRun, buffer_samples, feedback_delays_us, plot_distributions
from analysis.flow_metrics import receiver_throughput_gbps
from analysis.percentiles import percentile
from analysis.sweep_plots import SweepLine, plot_sweep
from telemetry.schema import FLOWS, QUEUES, SIGNALS
from tests.analysis.conftest import FlowsMaker


def _flow(dst: str, size_bytes: int, start_us: float, finish_us: float | None) -> dict[str, object]:
    zeros = {column.name: 0 for column in FLOWS.columns}
    return zeros | {"src": "h9", "dst": dst, "tag": "x", "size_bytes": size_bytes, "start_us": start_us,
                    "finish_us": finish_us, "fct_us": None, "slowdown": None, "corrupted": False}  # fmt: skip


def test_receiver_throughput_by_hand() -> None:
    """h1 gets 125 KB in 10 us of a 20 us window (50 Gb/s); of h2's flow only half lies inside; h3's never finished."""
    rows = [_flow("h1", 125_000, 0, 10), _flow("h2", 125_000, 15, 25), _flow("h3", 99, 0, None)]
    flows = pl.DataFrame(rows, schema=dict(FLOWS.dtypes))
    assert receiver_throughput_gbps(flows, (0, 20)) == pytest.approx([25.0, 50.0])
    assert receiver_throughput_gbps(FLOWS.empty(), (0, 20)).size == 0


def test_near_and_remote_feedback_are_told_apart(make_signals: FlowsMaker) -> None:
    """Cache and estimator answer near the source, everything else comes from the congested switch."""
    signals = make_signals()
    near, remote = (feedback_delays_us(signals, near=each) for each in (True, False))
    assert near.size + remote.size == signals.height
    assert near.max() < remote.min()


def test_buffer_samples_are_of_every_switch(make_queues: FlowsMaker) -> None:
    """Whole-buffer rows only, ascending."""
    queues = make_queues()
    samples = buffer_samples(queues)
    assert samples.size == queues.filter(pl.col("port") == -1).height
    assert (np.diff(samples) >= 0).all()


def test_the_figure_has_three_panels_with_units(
    make_flows: FlowsMaker, make_queues: FlowsMaker, make_signals: FlowsMaker
) -> None:
    """Buffers, receivers, feedback; an empty run draws sentences instead."""
    run = DistributedRun("sfc", "sfc", make_flows(), make_queues(), make_signals(), (100.0, 3000.0))
    labels = [axes.get_xlabel() for axes in plot_distributions([run]).axes]
    assert labels == ["Buffer used (MB)", "Throughput (Gb/s)", "Delay (model µs)"]
    empty = DistributedRun("irn", "irn", FLOWS.empty(), QUEUES.empty(), SIGNALS.empty())
    assert all(axes.texts for axes in plot_distributions([empty]).axes)


def test_a_sweep_figure_leaves_out_what_was_not_measured() -> None:
    """One line a scheme; a missing value is a missing point; places may be words."""
    figure = plot_sweep([8, 16], [SweepLine("sfc", "sfc", [1.0, None])], x_label="degree", y_label="peak")
    [axes] = figure.axes
    assert [len(line.get_xdata()) for line in axes.lines] == [1]  # type: ignore[arg-type]
    words = plot_sweep(["a", "b"], [SweepLine("sfc", "sfc", [1.0, 2.0])], x_label="case", y_label="peak")
    assert [tick.get_text() for tick in words.axes[0].get_xticklabels()] == ["a", "b"]


@pytest.mark.parametrize(("count", "given"), [(999, False), (1000, True)])
def test_p99_9_needs_a_thousand(count: int, given: bool) -> None:
    """One sample in expectation lies beyond it."""
    assert (percentile(np.arange(float(count)), 99.9) is not None) is given
