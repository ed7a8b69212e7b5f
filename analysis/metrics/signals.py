# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the signals trace: how long feedback took by cause, and how much of the pause asked for was obeyed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.metrics.percentiles import Summary, summarize


@dataclass(frozen=True)
class SignalSummary:
    """The BTS packets of a run as its hosts saw them; durations in model µs."""

    received: int
    obeyed: int
    feedback_delay_us: dict[str, Summary]
    """From sent to received, by cause; `cache` is feedback from near the source."""
    pause_asked_us: float
    """Sum of the pauses that all signals asked for."""
    pause_obeyed_us: float
    """Time that flows stood paused for them: a newer signal replaces the end that an older one had set."""


def feedback_delays(signals: pl.DataFrame) -> dict[str, Summary]:
    """Summary of received - sent (µs) of each cause, causes sorted."""
    causes: list[str] = sorted(signals["cause"].unique().to_list())
    delays = signals.select("cause", delay=pl.col("received_us") - pl.col("sent_us"))
    return {
        cause: summarize(delays.filter(pl.col("cause") == cause)["delay"].to_numpy().astype(np.float64))
        for cause in causes
    }


def pause_obeyed_us(signals: pl.DataFrame) -> float:
    """Time that flows stood paused: a pause lasts to its end or to the next obeyed signal, which sets another."""
    obeyed = signals.filter(pl.col("obeyed") & pl.col("paused_until_us").is_not_null())
    ordered = obeyed.sort(["host", "flow_id", "received_us"], maintain_order=True).with_columns(
        replaced_us=pl.col("received_us").shift(-1).over(["host", "flow_id"])
    )
    spans = ordered.select(span=pl.min_horizontal("paused_until_us", "replaced_us") - pl.col("received_us"))
    return float(np.clip(spans["span"].to_numpy().astype(np.float64), 0.0, None).sum())


def signal_summary(signals: pl.DataFrame) -> SignalSummary:
    """Summary of the whole trace."""
    return SignalSummary(
        received=signals.height,
        obeyed=int(signals["obeyed"].sum()),
        feedback_delay_us=feedback_delays(signals),
        pause_asked_us=float(signals["pause_us"].to_numpy().sum()),
        pause_obeyed_us=pause_obeyed_us(signals),
    )
