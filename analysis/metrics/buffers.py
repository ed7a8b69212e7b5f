# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the queues trace: how full each switch's shared buffer and its queues were. Knows only that trace."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import polars as pl

from analysis.metrics.figures import Figure, Figures
from analysis.metrics.percentiles import Values, percentile
from telemetry.schema import WHOLE_BUFFER


class BufferFigures(Figures):
    """Bytes in the shared buffer of one switch over the run."""

    max: int
    """Highest high-water mark."""
    p99: Figure | None
    """99th percentile of the intervals' high-water marks, None below 100 intervals."""
    mean: Figure | None
    """Time-weighted mean of the sampled depth."""


@dataclass(frozen=True)
class QueueName:
    """One queue of one switch."""

    switch: str
    port: int
    traffic_class: int


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts tor2 before tor10."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)


def switches(queues: pl.DataFrame) -> list[str]:
    """Names of the switches in the trace, in natural order."""
    return sorted(queues["switch"].unique().to_list(), key=natural_key)


def whole_buffer(queues: pl.DataFrame, switch: str) -> pl.DataFrame:
    """The whole-buffer rows of one switch in time order."""
    return queues.filter((pl.col("switch") == switch) & (pl.col("port") == WHOLE_BUFFER)).sort("time_us")


def queue_series(queues: pl.DataFrame, queue: QueueName) -> pl.DataFrame:
    """Rows of one queue in time order, with a row of zeros for every interval in which it held nothing."""
    here = pl.col("switch") == queue.switch
    mine = queues.filter(here & (pl.col("port") == queue.port) & (pl.col("class") == queue.traffic_class))
    times = queues.filter(here).select("time_us").unique().sort("time_us")
    joined = times.join(mine.select("time_us", "depth_bytes", "high_water_bytes"), on="time_us", how="left")
    return joined.fill_null(0).sort("time_us")


def time_weighted_mean(times_us: Values, depths: Values) -> float | None:
    """Mean of a depth that holds from its sample until the next one. The last sample ends the series and has no weight.

    A single sample is its own mean; none at all gives None. Times must ascend.
    """
    if depths.size == 0:
        return None
    spans = np.diff(times_us)
    total = float(spans.sum())
    if total <= 0:
        return float(depths.mean())
    return float((depths[:-1] * spans).sum() / total)


def buffer_figures(rows: pl.DataFrame) -> BufferFigures:
    """Figures of the whole-buffer rows of one switch, in time order."""
    high_water = rows["high_water_bytes"].to_numpy().astype(np.float64)
    depths = rows["depth_bytes"].to_numpy().astype(np.float64)
    return BufferFigures(
        max=int(high_water.max(initial=0)),
        p99=percentile(high_water, 99),
        mean=time_weighted_mean(rows["time_us"].to_numpy(), depths),
    )


def buffer_by_switch(queues: pl.DataFrame) -> dict[str, BufferFigures]:
    """Figures of every switch's shared buffer, switches in natural order."""
    return {switch: buffer_figures(whole_buffer(queues, switch)) for switch in switches(queues)}


def hottest_switch(queues: pl.DataFrame) -> str | None:
    """The switch whose shared buffer rose highest (the first in natural order among equals), None without a sample."""
    peaks = {name: figures.max for name, figures in buffer_by_switch(queues).items()}
    return max(peaks, key=lambda name: peaks[name]) if peaks else None


def hottest_queue(queues: pl.DataFrame, switch: str | None = None) -> QueueName | None:
    """The queue that rose highest, of one switch or of all; None if no queue ever held anything."""
    rows = queues.filter(pl.col("port") != WHOLE_BUFFER)
    if switch is not None:
        rows = rows.filter(pl.col("switch") == switch)
    if rows.is_empty():
        return None
    top = rows.sort(["high_water_bytes", "switch", "port", "class"], descending=[True, False, False, False]).row(
        0, named=True
    )
    return QueueName(top["switch"], top["port"], top["class"])
