# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of single incasts: the completion time of all messages, and the rates of the senders."""

from __future__ import annotations

import polars as pl

from sfc_testbed.analysis.metrics.percentiles import Values


def incasts(flows: pl.DataFrame, window_us: float) -> list[pl.DataFrame]:
    """Split the flows of all incasts into single incasts, by receiver and in order of time.

    Senders of an incast start within `window_us`, so a flow that starts later belongs to the receiver's next incast.
    """
    ordered = flows.filter(pl.col("start_us").is_not_null()).sort("dst", "start_us")
    numbers: list[int] = []
    receiver, first_us = None, 0.0
    for dst, start_us in ordered.select("dst", "start_us").iter_rows():
        if dst != receiver or start_us > first_us + window_us:
            receiver, first_us = dst, start_us
            numbers.append(numbers[-1] + 1 if numbers else 0)
        else:
            numbers.append(numbers[-1])
    return ordered.with_columns(pl.Series("incast", numbers, dtype=pl.Int64)).partition_by("incast", include_key=False)


def completion_us(incast: pl.DataFrame) -> float:
    """Return the time from the first start to the last finish. All flows must have finished."""
    return float(incast["finish_us"].to_numpy().max() - incast["start_us"].to_numpy().min())


def mean_rates(incast: pl.DataFrame) -> Values:
    """Return the mean rate of each flow, its size over its FCT, in bytes per us."""
    rates: Values = (incast["size_bytes"] / incast["fct_us"]).to_numpy()
    return rates
