# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the signals trace: how long feedback took by cause, and how much of the pause asked for was obeyed."""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.metrics.figures import Figure, Figures
from analysis.metrics.percentiles import Values, largest, mean, percentile


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
    """From sent to received, by cause; `cache` is feedback from near the source."""
    pause_asked_us: Figure
    """Sum of the pauses that all signals asked for."""
    pause_obeyed_us: Figure
    """Time that flows stood paused for them: a newer signal replaces the end that an older one had set."""


def feedback_delays(signals: pl.DataFrame) -> dict[str, DelayFigures]:
    """Received - sent (µs) of each cause, causes sorted."""
    causes: list[str] = sorted(signals["cause"].unique().to_list())
    delays = signals.select("cause", delay=pl.col("received_us") - pl.col("sent_us"))
    return {
        cause: _delay(delays.filter(pl.col("cause") == cause)["delay"].to_numpy().astype(np.float64))
        for cause in causes
    }


def _delay(values: Values) -> DelayFigures:
    return DelayFigures(
        count=values.size,
        p50=percentile(values, 50),
        p95=percentile(values, 95),
        p99=percentile(values, 99),
        mean=mean(values),
        max=largest(values),
    )


def pause_obeyed_us(signals: pl.DataFrame) -> float:
    """Time that flows stood paused: a pause lasts to its end or to the next obeyed signal, which sets another."""
    obeyed = signals.filter(pl.col("obeyed") & pl.col("paused_until_us").is_not_null())
    ordered = obeyed.sort(["host", "flow_id", "received_us"], maintain_order=True).with_columns(
        replaced_us=pl.col("received_us").shift(-1).over(["host", "flow_id"])
    )
    spans = ordered.select(span=pl.min_horizontal("paused_until_us", "replaced_us") - pl.col("received_us"))
    return float(np.clip(spans["span"].to_numpy().astype(np.float64), 0.0, None).sum())


def signal_figures(signals: pl.DataFrame) -> SignalFigures:
    """Figures of the whole trace."""
    return SignalFigures(
        received=signals.height,
        obeyed=int(signals["obeyed"].sum()),
        feedback_delay_us=feedback_delays(signals),
        pause_asked_us=float(signals["pause_us"].to_numpy().sum()),
        pause_obeyed_us=pause_obeyed_us(signals),
    )
