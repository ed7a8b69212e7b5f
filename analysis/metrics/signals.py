# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the signals trace: how long feedback took by cause, and how much of the pause asked for was obeyed."""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.metrics.figures import Figure, Figures
from analysis.metrics.percentiles import Values, largest, mean, percentile
from telemetry.reader import Rows, answer

_DELAY_US = pl.col("received_us") - pl.col("sent_us")
_MOST_SIGNALS = 500_000
"""The number of signals that are sorted in memory at a time."""


class DelayFigures(Figures):
    """Feedback delay of BTS packets, sent to received, in model µs."""

    count: int
    p50: Figure | None
    p95: Figure | None
    p99: Figure | None
    mean: Figure | None
    max: Figure | None


class SignalFigures(Figures):
    """The BTS packets of a run as its hosts saw them; durations in model µs."""

    received: int
    obeyed: int
    feedback_delay_us: dict[str, DelayFigures]
    """Delay from sent to received, by cause; `cache` is feedback from near the source."""
    pause_asked_us: Figure
    """Sum of the pause durations that all signals requested."""
    pause_obeyed_us: Figure
    """Time that flows stood paused for them: a newer signal replaces the end that an older one had set."""


def feedback_delays(signals: Rows) -> dict[str, DelayFigures]:
    """Received - sent (µs) of each cause, causes sorted."""
    causes = answer(signals.lazy().select(pl.col("cause").unique()))["cause"].sort().to_list()
    return {cause: _delay(delays_us(signals, pl.col("cause") == cause)) for cause in causes}


def delays_us(signals: Rows, which: pl.Expr) -> Values:
    """Received - sent (µs) of some signals, in their order."""
    delays: Values = answer(signals.lazy().filter(which).select(_DELAY_US)).to_series().to_numpy().astype(np.float64)
    return delays


def _delay(values: Values) -> DelayFigures:
    return DelayFigures(
        count=values.size,
        p50=percentile(values, 50),
        p95=percentile(values, 95),
        p99=percentile(values, 99),
        mean=mean(values),
        max=largest(values),
    )


def pause_obeyed_us(signals: Rows) -> float:
    """Time that flows stood paused: a pause lasts to its end or to the next obeyed signal, which sets another."""
    obeyed = signals.lazy().filter(pl.col("obeyed") & pl.col("paused_until_us").is_not_null())
    spans = [_spans_us(obeyed.filter(pl.col("host").is_in(hosts))) for hosts in _shares(obeyed)]
    return float(np.clip(np.concatenate([np.empty(0), *spans]), 0.0, None).sum())


def _shares(obeyed: pl.LazyFrame) -> list[list[str]]:
    """Hosts in order, few enough together for their signals to be sorted in memory."""
    counts = answer(obeyed.group_by("host").agg(pl.len())).sort("host")
    shares = counts.with_columns(share=pl.col("len").cum_sum() // _MOST_SIGNALS).group_by("share", maintain_order=True)
    return [share["host"].to_list() for _, share in shares]


def _spans_us(obeyed: pl.LazyFrame) -> Values:
    """Return the duration of each pause, by host and flow, in order of time."""
    rows = answer(obeyed.select("host", "flow_id", "received_us", "paused_until_us"))
    ordered = rows.sort(["host", "flow_id", "received_us"], maintain_order=True)
    is_next = pl.col("host").eq(pl.col("host").shift(-1)) & pl.col("flow_id").eq_missing(pl.col("flow_id").shift(-1))
    replaced_us = pl.when(is_next).then(pl.col("received_us").shift(-1))
    spans = ordered.select(pl.min_horizontal("paused_until_us", replaced_us) - pl.col("received_us"))
    return spans.to_series().to_numpy().astype(np.float64)


def signal_figures(signals: Rows) -> SignalFigures:
    """Figures of the whole trace."""
    told = answer(signals.lazy().select("obeyed", "pause_us"))
    return SignalFigures(
        received=told.height,
        obeyed=int(told["obeyed"].sum()),
        feedback_delay_us=feedback_delays(signals),
        pause_asked_us=float(told["pause_us"].to_numpy().sum()),
        pause_obeyed_us=pause_obeyed_us(signals),
    )
