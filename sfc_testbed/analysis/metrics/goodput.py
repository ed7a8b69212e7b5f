# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the goodput trace: rates of flows and receivers over time, and fairness between flows."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.percentiles import Values
from sfc_testbed.telemetry.reader import Rows, answer

_MOST_FLOWS = 500_000
"""The number of flows whose group is looked up in memory at a time."""

_GBPS = 8 * pl.col("delivered_bytes") / (1000 * (pl.col("until_us") - pl.col("from_us")))


def delivered(goodput: Rows, flows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the bytes delivered per interval and group of flows, in order of time, without empty intervals.

    `by`: the flow column that groups the flows: `tag`, `src` or `dst`. Bytes are integers, so that the sums do not
    depend on the order of addition.
    """
    interval = ("from_us", "until_us", by)
    parts = 1 + flows.height // _MOST_FLOWS
    if parts == 1 and _are_numbered(flows):
        named = _named(answer(goodput.lazy()), flows, by)
        return named.group_by(interval).agg(pl.col("delivered_bytes").sum()).sort(interval)
    rows = []
    for part in range(parts):
        in_part = pl.col("flow_id") % parts == part
        known = goodput.lazy().filter(in_part).join(flows.lazy().select("flow_id", by).filter(in_part), on="flow_id")
        rows.append(answer(known.group_by(interval).agg(pl.col("delivered_bytes").sum())))
    return pl.concat(rows).group_by(interval).agg(pl.col("delivered_bytes").sum()).sort(interval)


def _are_numbered(flows: pl.DataFrame) -> bool:
    """Return whether the flows are those from 1 to their number, in order, as in every complete trace."""
    numbers = flows["flow_id"]
    return bool(flows.height) and numbers[0] == 1 and bool((numbers.diff().drop_nulls() == 1).all())


def _named(rows: pl.DataFrame, flows: pl.DataFrame, by: str) -> pl.DataFrame:
    """Return the rows with a column of their flows, which is read by its place: a join takes twice as long."""
    known = rows.filter(pl.col("flow_id").is_between(1, flows.height))
    column = flows[by].gather(known["flow_id"] - 1)
    return known.select("from_us", "until_us", "delivered_bytes").with_columns(column.alias(by))


def receiver_throughput_gbps(
    goodput: Rows, flows: pl.DataFrame, window_us: tuple[float, float] | None = None
) -> Values:
    """Return the mean goodput of each receiver in the window, in model Gb/s, ascending.

    The default window is from the first start to the last finish. Intervals of the trace that are partly in the window
    count in proportion.
    """
    received = delivered(goodput, flows, "dst")
    if received.is_empty():
        return np.empty(0)
    ends = flows["finish_us"].drop_nulls()
    last_us = received["until_us"].to_numpy().max() if ends.is_empty() else ends.to_numpy().max()
    begin, end = window_us or (float(flows["start_us"].drop_nulls().to_numpy().min()), float(last_us))
    inside = pl.min_horizontal("until_us", pl.lit(end)) - pl.max_horizontal("from_us", pl.lit(begin))
    in_window = received.select("dst", bits=_GBPS * inside.clip(0) * 1000)
    by_receiver = in_window.group_by("dst", maintain_order=True).agg(pl.sum("bits"))
    values: Values = np.sort(by_receiver["bits"].to_numpy()) / (1000 * (end - begin))
    return values


def tag_rates(goodput: Rows, flows: pl.DataFrame) -> pl.DataFrame:
    """Return the goodput of each traffic class per interval, without empty intervals: from_us, until_us, tag, gbps."""
    return delivered(goodput, flows, "tag").select("from_us", "until_us", "tag", gbps=_GBPS)


def jain_index(rates: Values) -> float:
    """Return Jain's fairness index: 1 if all n rates are equal, 1 / n if only one is not zero."""
    return float(rates.sum() ** 2 / (rates.size * (rates**2).sum()))


def sharing(goodput: Rows, flows: pl.DataFrame) -> Values:
    """Return Jain's index of each interval, over the flows that are active during the whole interval.

    Intervals with fewer than two such flows are left out. A flow without delivered bytes counts with a rate of 0.
    """
    completed = flows.filter(pl.col("finish_us").is_not_null())
    intervals = answer(goodput.lazy().select("from_us", "until_us").unique()).sort("from_us")
    rows = answer(goodput.lazy().select("from_us", "flow_id", gbps=_GBPS))
    rates = {(begin, flow): gbps for begin, flow, gbps in rows.iter_rows()}
    indices = []
    for begin, end in intervals.iter_rows():
        active = completed.filter((pl.col("start_us") <= begin) & (pl.col("finish_us") >= end))["flow_id"].to_list()
        shares = np.array([rates.get((begin, flow), 0.0) for flow in active])
        if len(active) >= 2 and shares.any():
            indices.append(jain_index(shares))
    return np.array(indices)


def rates_without_gaps(rates: pl.DataFrame) -> tuple[Values, Values]:
    """Return the begins of all intervals from time 0 on and the rates in them, for one class of `tag_rates`.

    The rate is zero in intervals without a row, and at the end of the last interval. In old live runs, intervals may
    begin before time 0.
    """
    begins, ends, values = (rates[name].to_numpy() for name in ("from_us", "until_us", "gbps"))
    width = ends[0] - begins[0]
    slots = np.rint(begins / width).astype(np.int64)
    first = min(0, slots[0])
    filled = np.zeros(slots[-1] - first + 2)
    filled[slots - first] = values
    return width * (first + np.arange(filled.size)), filled
