# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the flows trace: FCT slowdown by class and message size, throughput, completion of dependent messages.

Slowdowns are used as recorded and never clamped to 1. A flow that did not finish is slower than every flow that did:
percentiles count it, and a figure that depends on its unknown slowdown is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sfc_testbed.analysis.metrics.figures import Figure, Figures, Interval
from sfc_testbed.analysis.metrics.percentiles import Values, confidence_interval, largest, mean, percentile

ALL_CLASSES = "all"
"""The name for all traffic classes together."""

_ROUNDING = 1e-9
"""The rounding error of a slowdown: a flow with exactly the ideal FCT may differ from 1 by a few 10^-14."""

SIZE_BIN_COUNT = 10
"""The paper plots slowdown over ten message size bins."""


class SlowdownFigures(Figures):
    """FCT slowdown (FCT over ideal FCT) of some flows. Flows that did not finish are slower than all others."""

    flows: int
    completed: int
    p50: Figure | None
    p95: Figure | None
    p99: Figure | None
    p99_9: Figure | None
    mean: Figure | None
    max: Figure | None
    p50_interval: Interval | None
    """The 95 % bootstrap confidence interval, as in the other `_interval` fields."""
    p95_interval: Interval | None
    p99_interval: Interval | None
    below_one: int
    """The number of flows faster than the ideal by more than rounding. They indicate a wrong ideal FCT or clock."""


class SizeBinFigures(SlowdownFigures):
    """The slowdown of the messages with low_bytes < size <= high_bytes."""

    low_bytes: int
    high_bytes: int


def traffic_classes(flows: pl.DataFrame) -> list[str]:
    """Return the sorted tags of the trace, with `all` in front if there are several tags."""
    tags: list[str] = sorted(flows["tag"].unique().to_list())
    return [ALL_CLASSES, *tags] if len(tags) > 1 else tags


def of_class(flows: pl.DataFrame, traffic_class: str) -> pl.DataFrame:
    """Return the flows of one class; `all` selects every flow, unless the trace has a tag of that name."""
    if traffic_class == ALL_CLASSES and ALL_CLASSES not in flows["tag"]:
        return flows
    return flows.filter(pl.col("tag") == traffic_class)


def started_between(flows: pl.DataFrame, from_us: float, until_us: float) -> pl.DataFrame:
    """Return the flows that start at from_us <= time < until_us (model µs), without warm-up and cool-down.

    A flow that never started, because it waited for others to the end of the run, is not left out.
    """
    start_us = pl.col("start_us")
    return flows.filter(start_us.is_null() | ((start_us >= from_us) & (start_us < until_us)))


def slowdowns(flows: pl.DataFrame) -> Values:
    """Return the slowdowns of the completed flows, ascending."""
    values: Values = flows["slowdown"].drop_nulls().sort().to_numpy().astype(np.float64)
    return values


def slowdown_figures(flows: pl.DataFrame) -> SlowdownFigures:
    return SlowdownFigures(**_slowdown_fields(slowdowns(flows), flows.height))


def _slowdown_fields(values: Values, count: int) -> dict[str, Any]:
    """Return the figures of some flows from the slowdowns of those that completed, which are ascending."""
    unfinished = count - values.size
    return {
        "flows": count,
        "completed": values.size,
        "p50": percentile(values, 50, unfinished),
        "p95": percentile(values, 95, unfinished),
        "p99": percentile(values, 99, unfinished),
        "p99_9": percentile(values, 99.9, unfinished),
        "mean": None if unfinished else mean(values),
        "max": None if unfinished else largest(values),
        "p50_interval": confidence_interval(values, 50, unfinished),
        "p95_interval": confidence_interval(values, 95, unfinished),
        "p99_interval": confidence_interval(values, 99, unfinished),
        "below_one": int(np.count_nonzero(values < 1 - _ROUNDING)),
    }


def faster_than_ideal(flows: pl.DataFrame, margin_us: float) -> int:
    """Return the number of flows whose FCT is below the ideal FCT by more than the margin and by more than rounding."""
    fct_us = pl.col("finish_us") - pl.col("start_us")
    shortfall_us = fct_us / pl.col("slowdown") - fct_us
    is_faster = (pl.col("slowdown") < 1 - _ROUNDING) & (shortfall_us > margin_us)
    return flows.filter(is_faster).height


def slowdown_by_class(flows: pl.DataFrame) -> dict[str, SlowdownFigures]:
    """Return the slowdown figures of each traffic class and of all classes together."""
    return {name: slowdown_figures(of_class(flows, name)) for name in traffic_classes(flows)}


def size_bin_edges(flows: pl.DataFrame, count: int = SIZE_BIN_COUNT) -> tuple[int, ...]:
    """Return the upper edges of at most `count` size bins with about equally many flows, in bytes, ascending.

    Unfinished flows count, too. So runs of the same flow file have the same bins.
    """
    if flows.is_empty():
        return ()
    sizes = np.sort(flows["size_bytes"].to_numpy())
    ranks = [-(-sizes.size * part // count) - 1 for part in range(1, count + 1)]
    return tuple(sorted({int(sizes[max(rank, 0)]) for rank in ranks}))


def slowdown_by_size(flows: pl.DataFrame, edges: Sequence[int]) -> list[SizeBinFigures]:
    """Return the slowdown figures of each size bin. Flows larger than the last edge are left out."""
    values = flows["slowdown"].fill_null(np.nan).to_numpy()
    numbers = np.searchsorted(edges, flows["size_bytes"].to_numpy())
    lows = [0, *edges][: len(edges)]
    bins = []
    for number, (low, high) in enumerate(zip(lows, edges, strict=True)):
        inside = values[numbers == number]
        fields = _slowdown_fields(np.sort(inside[~np.isnan(inside)]), inside.size)
        bins.append(SizeBinFigures(**fields, low_bytes=low, high_bytes=high))
    return bins


def active_span_us(flows: pl.DataFrame) -> float:
    """Return the time from the first start of all flows to the last finish, in model µs; 0 if no flow completed."""
    finished = flows.filter(pl.col("finish_us").is_not_null())
    if finished.is_empty():
        return 0.0
    starts: NDArray[np.float64] = flows["start_us"].drop_nulls().to_numpy()
    return float(finished["finish_us"].to_numpy().max() - starts.min())


def throughput_gbps(flows: pl.DataFrame) -> float:
    """Return the message bytes of completed flows over the active span, in model Gb/s, summed over all receivers."""
    span_us = active_span_us(flows)
    delivered = int(flows.filter(pl.col("finish_us").is_not_null())["size_bytes"].sum())
    return 8 * delivered / (span_us * 1000) if span_us > 0 else 0.0


class CompletionFigures(Figures):
    """The completion of all messages of a traffic class."""

    took_us: Figure | None
    """Time from the first ready message to the last acknowledgement; None if not all messages finished."""
    ideal_us: Figure | None
    """The least possible time in an otherwise idle network, in which only the hosts' NICs limit the messages; None for
    messages that do not wait for others."""
    slowdown: Figure | None
    """`took_us` / `ideal_us`, not clamped to 1."""


class ReorderingFigures(Figures):
    """How far later packets overtook data packets, by completed flows (docs/sources.md#reordering)."""

    packets: int
    """The packets, without retransmissions, that arrived after a later packet of their flow."""
    largest: int
    """The largest distance of one of them: the highest PSN received before it minus its own."""
    mean: Figure
    """The mean distance."""


def reordering(flows: pl.DataFrame) -> ReorderingFigures | None:
    """Return the figures over all flows; None if every packet arrived in order, or if it was not measured."""
    late = flows.filter(pl.col("packets_reordered") > 0)
    if late.is_empty():
        return None
    counts = late["packets_reordered"].cast(pl.UInt64)
    packets = int(counts.sum())
    distances = float((late["reordering_mean"] * counts).sum())
    return ReorderingFigures(
        packets=packets, largest=int(late["reordering_max"].to_numpy().max()), mean=distances / packets
    )


def completion_by_class(flows: pl.DataFrame, ideal_us: Mapping[str, float]) -> dict[str, CompletionFigures]:
    """Return the completion figures of each traffic class and of all classes together. Some tags have an ideal."""
    return {name: _completion(of_class(flows, name), ideal_us.get(name)) for name in traffic_classes(flows)}


def _completion(flows: pl.DataFrame, ideal_us: float | None) -> CompletionFigures:
    took_us = None
    if flows.height and not flows["finish_us"].null_count():
        took_us = float(flows["finish_us"].to_numpy().max() - flows["start_us"].to_numpy().min())
    slowdown = None if took_us is None or not ideal_us else took_us / ideal_us
    return CompletionFigures(took_us=took_us, ideal_us=ideal_us, slowdown=slowdown)
