# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the goodput trace: rates of flows and receivers over time, and fairness between flows."""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.metrics.percentiles import Values
from telemetry.reader import Rows, answer

_GBPS = 8 * pl.col("delivered_bytes") / (1000 * (pl.col("until_us") - pl.col("from_us")))


def delivered(goodput: Rows, flows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Bytes that all flows of one `tag`, `src` or `dst` got in each interval in which they got any, in order of time.

    Whole numbers: their sums are the same whatever is added up first.
    """
    interval = ("from_us", "until_us", by)
    known = goodput.lazy().join(flows.lazy().select("flow_id", by), on="flow_id")
    return answer(known.group_by(interval).agg(pl.col("delivered_bytes").sum())).sort(interval)


def receiver_throughput_gbps(
    goodput: Rows, flows: pl.DataFrame, window_us: tuple[float, float] | None = None
) -> Values:
    """Mean model Gb/s of message bytes of each receiver, ascending; without a window, from first start to last finish.

    An interval of the trace that the window cuts counts in proportion.
    """
    got = delivered(goodput, flows, "dst")
    if got.is_empty():
        return np.empty(0)
    ends = flows["finish_us"].drop_nulls()
    last_us = got["until_us"].to_numpy().max() if ends.is_empty() else ends.to_numpy().max()
    begin, end = window_us or (float(flows["start_us"].drop_nulls().to_numpy().min()), float(last_us))
    inside = pl.min_horizontal("until_us", pl.lit(end)) - pl.max_horizontal("from_us", pl.lit(begin))
    bits = (
        got.select("dst", bits=_GBPS * inside.clip(0) * 1000).group_by("dst", maintain_order=True).agg(pl.sum("bits"))
    )
    values: Values = np.sort(bits["bits"].to_numpy()) / (1000 * (end - begin))
    return values


def tag_rates(goodput: Rows, flows: pl.DataFrame) -> pl.DataFrame:
    """Gb/s of each traffic class in each interval in which it got anything: from_us, until_us, tag, gbps."""
    return delivered(goodput, flows, "tag").select("from_us", "until_us", "tag", gbps=_GBPS)


def jain_index(rates: Values) -> float:
    """Jain's index of shares: 1 when all are equal, 1 / n when one has everything."""
    return float(rates.sum() ** 2 / (rates.size * (rates**2).sum()))


def sharing(goodput: Rows, flows: pl.DataFrame) -> Values:
    """Jain's index over the flows that are under way during all of an interval, for every interval with two or more.

    A flow that got nothing in such an interval counts with a rate of 0.
    """
    done = flows.filter(pl.col("finish_us").is_not_null())
    intervals = answer(goodput.lazy().select("from_us", "until_us").unique()).sort("from_us")
    rows = answer(goodput.lazy().select("from_us", "flow_id", gbps=_GBPS))
    rates = {(begin, flow): gbps for begin, flow, gbps in rows.iter_rows()}
    found = []
    for begin, end in intervals.iter_rows():
        active = done.filter((pl.col("start_us") <= begin) & (pl.col("finish_us") >= end))["flow_id"].to_list()
        shares = np.array([rates.get((begin, flow), 0.0) for flow in active])
        if len(active) >= 2 and shares.any():
            found.append(jain_index(shares))
    return np.array(found)


def rates_without_gaps(rates: pl.DataFrame) -> tuple[Values, Values]:
    """Of one class of `tag_rates`: begins of all intervals from time 0 to the last one's end, and the rates in them.

    Zero where an interval has no row, and at the end. Those of old live runs began before the run.
    """
    begins, ends, values = (rates[name].to_numpy() for name in ("from_us", "until_us", "gbps"))
    width = ends[0] - begins[0]
    slots = np.rint(begins / width).astype(np.int64)
    first = min(0, slots[0])
    filled = np.zeros(slots[-1] - first + 2)
    filled[slots - first] = values
    return width * (first + np.arange(filled.size)), filled
