# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the queues trace: the occupancy of each switch's shared buffer and queues."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.figures import Figure, Figures
from sfc_testbed.analysis.metrics.percentiles import Values, percentile
from sfc_testbed.telemetry.reader import Rows, answer
from sfc_testbed.telemetry.schema import WHOLE_BUFFER


class BufferFigures(Figures):
    """The bytes in the shared buffer of one switch over the run."""

    max: int
    """The highest high-water mark."""
    p99: Figure | None
    """The 99th percentile of the intervals' high-water marks; None below 100 intervals."""
    mean: Figure | None
    """The time-weighted mean of the sampled depth."""


@dataclass(frozen=True)
class QueueName:
    switch: str
    port: int
    traffic_class: int


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts tor2 before tor10."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)


def switches(queues: Rows) -> list[str]:
    """Return the names of the switches in the trace, in natural order."""
    if isinstance(queues, pl.DataFrame):
        return sorted(queues["switch"].unique().to_list(), key=natural_key)
    names = answer(queues.select(pl.col("switch").unique()))
    return sorted(names["switch"].to_list(), key=natural_key)


def whole_buffers(queues: Rows) -> pl.DataFrame:
    """Return the shared-buffer rows of all switches. They are few compared with the rows of the queues."""
    if isinstance(queues, pl.DataFrame) and (queues["port"] == WHOLE_BUFFER).all():
        return queues
    return answer(queues.lazy().filter(pl.col("port") == WHOLE_BUFFER))


def whole_buffer(queues: Rows, switch: str) -> pl.DataFrame:
    """Return the whole-buffer rows of one switch in time order."""
    is_of_switch = (pl.col("switch") == switch) & (pl.col("port") == WHOLE_BUFFER)
    rows = queues.filter(is_of_switch) if isinstance(queues, pl.DataFrame) else answer(queues.filter(is_of_switch))
    return rows.sort("time_us")


def queue_series(queues: Rows, queue: QueueName) -> pl.DataFrame:
    """Return the rows of one queue in time order, with a row of zeros for every interval in which it was empty."""
    of_switch = queues.lazy().filter(pl.col("switch") == queue.switch)
    of_queue = of_switch.filter((pl.col("port") == queue.port) & (pl.col("class") == queue.traffic_class))
    rows = answer(of_queue.select("time_us", "depth_bytes", "high_water_bytes"))
    times = answer(of_switch.select(pl.col("time_us").unique())).sort("time_us")
    joined = times.join(rows, on="time_us", how="left")
    return joined.fill_null(0).sort("time_us")


def time_weighted_mean(times_us: Values, depths: Values) -> float | None:
    """Return the mean of depths that each last until the next sample; None without samples. Times must ascend.

    The last sample only ends the series and has no weight. The mean of a single sample is its depth.
    """
    if depths.size == 0:
        return None
    spans = np.diff(times_us)
    total = float(spans.sum())
    if total <= 0:
        return float(depths.mean())
    return float((depths[:-1] * spans).sum() / total)


def buffer_figures(rows: pl.DataFrame) -> BufferFigures:
    """Return the figures of a switch's whole-buffer rows, which must be in time order."""
    high_water = rows["high_water_bytes"].to_numpy().astype(np.float64)
    depths = rows["depth_bytes"].to_numpy().astype(np.float64)
    return BufferFigures(
        max=int(high_water.max(initial=0)),
        p99=percentile(np.sort(high_water), 99),
        mean=time_weighted_mean(rows["time_us"].to_numpy(), depths),
    )


def buffer_by_switch(queues: Rows) -> dict[str, BufferFigures]:
    """Return the figures of every switch's shared buffer, with switches in natural order."""
    whole = whole_buffers(queues)
    rows_of = {switch: whole.filter(pl.col("switch") == switch).sort("time_us") for switch in switches(queues)}
    return {switch: buffer_figures(rows) for switch, rows in rows_of.items()}


def hottest_switch(queues: Rows) -> str | None:
    """Return the switch with the highest peak buffer, the first in natural order among equals; None without samples."""
    peaks = dict(whole_buffers(queues).group_by("switch").agg(pl.col("high_water_bytes").max()).iter_rows())
    return max(sorted(peaks, key=natural_key), key=lambda name: peaks[name], default=None)


def hottest_queue(queues: Rows, switch: str | None = None) -> QueueName | None:
    """Return the queue with the highest peak, of one switch or of all; None if all queues were always empty."""
    rows = queues.lazy().filter(pl.col("port") != WHOLE_BUFFER)
    if switch is not None:
        rows = rows.filter(pl.col("switch") == switch)
    order = ["high_water_bytes", "switch", "port", "class"]
    top = answer(rows.select(order).sort(order, descending=[True, False, False, False]).head(1))
    return None if top.is_empty() else QueueName(*top.row(0)[1:])
