# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the signals trace: feedback delay by cause, and the requested and obeyed pause times."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.figures import Figure, Figures
from sfc_testbed.analysis.metrics.percentiles import Values, largest, mean, percentile
from sfc_testbed.telemetry.reader import Rows, answer

_MOST_SIGNALS = 500_000
"""The number of signals that are sorted in memory at a time."""


class DelayFigures(Figures):
    """The feedback delay of BTS packets, from sending to receipt, in model µs."""

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
    """The sum of the pause durations that all signals requested."""
    pause_obeyed_us: Figure
    """The total time for which flows were paused. A newer signal replaces the end of an older pause."""


def feedback_delays(signals: Rows) -> dict[str, DelayFigures]:
    """Return the feedback delay by cause, with sorted causes. Signals without a time of sending have none."""
    timed = signals.lazy().filter(pl.col("sent_us").is_not_null())
    causes = answer(timed.select(pl.col("cause").unique()))["cause"].sort().to_list()
    return {cause: _delay(delays_us(timed, pl.col("cause") == cause)) for cause in causes}


def delays_us(signals: Rows, which: pl.Expr) -> Values:
    """Return the feedback delays (µs) of the signals that `which` selects, in the order of the trace."""
    delay_us = pl.col("received_us") - pl.col("sent_us")
    delays: Values = answer(signals.lazy().filter(which).select(delay_us)).to_series().to_numpy().astype(np.float64)
    return delays


def _delay(values: Values) -> DelayFigures:
    values = np.sort(values)
    return DelayFigures(
        count=values.size,
        p50=percentile(values, 50),
        p95=percentile(values, 95),
        p99=percentile(values, 99),
        mean=mean(values),
        max=largest(values),
    )


def pause_obeyed_us(signals: Rows) -> float:
    """Return the total time for which flows were paused, in µs.

    A pause lasts to its end or to the flow's next obeyed signal, which sets a new end.
    """
    obeyed = signals.lazy().filter(pl.col("obeyed") & pl.col("paused_until_us").is_not_null())
    spans = [_spans_us(obeyed.filter(pl.col("host").is_in(hosts))) for hosts in _shares(obeyed)]
    return float(np.clip(np.concatenate([np.empty(0), *spans]), 0.0, None).sum())


def _shares(obeyed: pl.LazyFrame) -> list[list[str]]:
    """Return groups of hosts whose signals can be sorted in memory, with the hosts in alphabetical order."""
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
    """Return the figures of the whole trace."""
    received = answer(signals.lazy().select("obeyed", "pause_us"))
    return SignalFigures(
        received=received.height,
        obeyed=int(received["obeyed"].sum()),
        feedback_delay_us=feedback_delays(signals),
        pause_asked_us=float(received["pause_us"].to_numpy().sum()),
        pause_obeyed_us=pause_obeyed_us(signals),
    )
