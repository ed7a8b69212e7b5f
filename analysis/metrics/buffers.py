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
from telemetry.reader import Rows, answer
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
    """The name of a queue."""

    switch: str
    port: int
    traffic_class: int


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key that puts tor2 before tor10."""
    parts = re.findall(r"\d+|\D+", name)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)


def switches(queues: Rows) -> list[str]:
    """Names of the switches in the trace, in natural order."""
    names = answer(queues.lazy().select(pl.col("switch").unique()))
    return sorted(names["switch"].to_list(), key=natural_key)


def whole_buffers(queues: Rows) -> pl.DataFrame:
    """Return the shared-buffer rows of all switches. They are few compared with the rows of the queues."""
    return answer(queues.lazy().filter(pl.col("port") == WHOLE_BUFFER))


def whole_buffer(queues: Rows, switch: str) -> pl.DataFrame:
    """The whole-buffer rows of one switch in time order."""
    return answer(queues.lazy().filter((pl.col("switch") == switch) & (pl.col("port") == WHOLE_BUFFER))).sort("time_us")


def queue_series(queues: Rows, queue: QueueName) -> pl.DataFrame:
    """Rows of one queue in time order, with a row of zeros for every interval in which it held nothing."""
    here = queues.lazy().filter(pl.col("switch") == queue.switch)
    mine = here.filter((pl.col("port") == queue.port) & (pl.col("class") == queue.traffic_class))
    rows = answer(mine.select("time_us", "depth_bytes", "high_water_bytes"))
    times = answer(here.select(pl.col("time_us").unique())).sort("time_us")
    joined = times.join(rows, on="time_us", how="left")
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


def buffer_by_switch(queues: Rows) -> dict[str, BufferFigures]:
    """Figures of every switch's shared buffer, switches in natural order."""
    whole = whole_buffers(queues)
    own = {switch: whole.filter(pl.col("switch") == switch).sort("time_us") for switch in switches(queues)}
    return {switch: buffer_figures(rows) for switch, rows in own.items()}


def hottest_switch(queues: Rows) -> str | None:
    """The switch whose shared buffer rose highest (the first in natural order among equals), None without a sample."""
    peaks = {name: figures.max for name, figures in buffer_by_switch(queues).items()}
    return max(peaks, key=lambda name: peaks[name]) if peaks else None


def hottest_queue(queues: Rows, switch: str | None = None) -> QueueName | None:
    """The queue that rose highest, of one switch or of all; None if no queue ever held anything."""
    rows = queues.lazy().filter(pl.col("port") != WHOLE_BUFFER)
    if switch is not None:
        rows = rows.filter(pl.col("switch") == switch)
    order = ["high_water_bytes", "switch", "port", "class"]
    top = answer(rows.select(order).sort(order, descending=[True, False, False, False]).head(1))
    return None if top.is_empty() else QueueName(*top.row(0)[1:])
