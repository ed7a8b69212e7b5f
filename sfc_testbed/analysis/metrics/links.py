# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Metrics of the links trace: how evenly the traffic is spread over equal-cost links.

A group is the ports of an ECMP group of a switch. Each figure is computed for every group, and its mean over the groups
is weighted by the bytes that they sent (docs/sources.md#equal-cost-links).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.figures import Figure, Figures
from sfc_testbed.analysis.metrics.goodput import jain_index
from sfc_testbed.analysis.metrics.percentiles import Values
from sfc_testbed.telemetry.reader import Rows, answer

EqualCostPorts = Mapping[str, Sequence[Sequence[int]]]
"""The groups of equal-cost ports of each switch."""

SPREAD_US = 100
"""The interval for which the spread of a group is computed."""

_MOST_INTERVALS = 1_000_000
"""The most intervals of a plot, which limits its memory for a damaged trace. A run of 20 s has as many."""
_SAME_JAIN_INDEX = 0.02
"""The difference of Jain's index up to which the use of equal-cost links in several runs counts as the same."""

_SWITCH_PORT = ("switch", "port")


class LinkBalance(Figures):
    """How evenly equal-cost links were used in the measured window."""

    groups: int
    """The groups of equal-cost links that carried traffic."""
    sent_bytes: int
    """The bytes that the links of these groups sent."""
    jain_index: Figure
    """Jain's index of the bytes of a group's links: 1 if all are equal, 1 / n if only one of n links is used."""
    largest_over_mean: Figure
    """The bytes of a group's most used link over the mean of its links; 1 if all are equal."""
    spread_100us: Figure | None = None
    """The throughput imbalance of CONGA: (largest - smallest) / mean of a group's links in 100 us, as a mean over
    intervals and groups that is weighted by bytes; None if the window is shorter than an interval."""


@dataclass(frozen=True)
class LinkGroup:
    """The ports of an ECMP group of a switch."""

    switch: str
    ports: tuple[int, ...]


def link_balance(
    links: Rows, equal_cost: EqualCostPorts, window_us: tuple[float, float] | None = None
) -> LinkBalance | None:
    """Return the figures of the rows in a window; None without equal-cost links that sent anything."""
    sent = _sent(links, equal_cost, window_us)
    sums = dict(_sums(sent.group_by(*_SWITCH_PORT).agg(pl.col("sent_bytes").sum())))
    used = [values for group in _groups(equal_cost) if (values := _of_group(sums, group)).any()]
    if not used:
        return None
    weights = [float(values.sum()) for values in used]
    return LinkBalance(
        groups=len(used),
        sent_bytes=int(sum(weights)),
        jain_index=float(np.average([jain_index(values) for values in used], weights=weights)),
        largest_over_mean=float(np.average([values.max() / values.mean() for values in used], weights=weights)),
        spread_100us=_mean_spread(sent, equal_cost),
    )


def is_use_different(jain_indices: Iterable[float | None]) -> bool:
    """Whether several runs use equal-cost links differently, as with other load balancing, so that tables show it."""
    known = [index for index in jain_indices if index is not None]
    return bool(known) and max(known) - min(known) > _SAME_JAIN_INDEX


def busiest_group(links: Rows, equal_cost: EqualCostPorts) -> LinkGroup | None:
    """Return the group that sent the most bytes, the first one among equals; None if no group sent any."""
    sent = _sent(links, equal_cost, None).group_by(*_SWITCH_PORT).agg(pl.col("sent_bytes").sum())
    sums = dict(_sums(sent))
    bytes_of = {group: float(_of_group(sums, group).sum()) for group in _groups(equal_cost)}
    busiest = max(bytes_of, key=lambda group: bytes_of[group], default=None)
    return busiest if busiest is not None and bytes_of[busiest] else None


def rates_gbps(links: Rows, group: LinkGroup) -> tuple[Values, Mapping[int, Values]]:
    """Return the ends of all intervals from the first to the last row of a group, and the rate of each link in them."""
    is_of_group = (pl.col("switch") == group.switch) & pl.col("port").is_in(group.ports)
    rows = answer(links.lazy().filter(is_of_group & pl.col("time_us").is_finite()))
    times = rows["time_us"].unique().sort().to_numpy()
    if not times.size:
        return times, {port: np.empty(0) for port in group.ports}
    interval_us = float(np.diff(times).min()) if times.size > 1 else float(times[0])
    interval_us = max(interval_us, float(times[-1] - times[0]) / _MOST_INTERVALS)
    ends_us = np.arange(1 + round((times[-1] - times[0]) / interval_us)) * interval_us + times[0]
    rates: dict[int, Values] = {}
    for port in group.ports:
        of_port = rows.filter(pl.col("port") == port)
        places = np.rint((of_port["time_us"].to_numpy() - times[0]) / interval_us).astype(np.int64)
        rates[port] = np.zeros(ends_us.size)
        np.add.at(rates[port], places, of_port["sent_bytes"].to_numpy() * 8 / (1000 * interval_us))
    return ends_us, rates


def _groups(equal_cost: EqualCostPorts) -> list[LinkGroup]:
    return [LinkGroup(switch, tuple(ports)) for switch, groups in equal_cost.items() for ports in groups]


def _sent(links: Rows, equal_cost: EqualCostPorts, window_us: tuple[float, float] | None) -> pl.DataFrame:
    """Return the rows of ports in groups whose intervals end in the window."""
    ports = {(group.switch, port) for group in _groups(equal_cost) for port in group.ports}
    known = pl.DataFrame(sorted(ports), schema={"switch": pl.String, "port": pl.Int64}, orient="row")
    rows = links.lazy().filter(pl.col("sent_bytes") > 0).with_columns(pl.col("port").cast(pl.Int64))
    if window_us is not None:
        rows = rows.filter(pl.col("time_us").is_between(*window_us, closed="right"))
    chosen = rows.join(known.lazy(), on=_SWITCH_PORT)
    return answer(chosen.select("time_us", *_SWITCH_PORT, pl.col("sent_bytes").cast(pl.UInt64)))


def _sums(rows: pl.DataFrame) -> list[tuple[tuple[str, int], int]]:
    return [((switch, port), total) for switch, port, total in rows.select(*_SWITCH_PORT, "sent_bytes").iter_rows()]


def _of_group(sums: Mapping[tuple[str, int], int], group: LinkGroup) -> Values:
    return np.array([float(sums.get((group.switch, port), 0)) for port in group.ports])


def spreads(links: Rows, equal_cost: EqualCostPorts) -> pl.DataFrame:
    """Return (largest - smallest) / mean of the bytes of each group's links in each `SPREAD_US` with traffic.

    The columns are `switch`, `ports` (as a list), `until_us`, `sent_bytes` of the group, and `spread`.
    """
    sent = _sent(links, equal_cost, None)
    until_us = ((pl.col("time_us") / SPREAD_US).ceil() * SPREAD_US).alias("until_us")
    by_interval = sent.group_by(until_us, *_SWITCH_PORT).agg(pl.col("sent_bytes").sum())
    frames = [_spreads_of(by_interval.filter(pl.col("switch") == group.switch), group) for group in _groups(equal_cost)]
    return pl.concat(frames) if frames else _SPREADS.clear()


_SPREADS = pl.DataFrame(
    schema={
        "switch": pl.String,
        "ports": pl.List(pl.Int64),
        "until_us": pl.Float64,
        "sent_bytes": pl.UInt64,
        "spread": pl.Float64,
    }
)


def _spreads_of(rows: pl.DataFrame, group: LinkGroup) -> pl.DataFrame:
    count = len(group.ports)
    sent = pl.col("sent_bytes")
    largest, total = sent.max().cast(pl.Float64), sent.sum()
    smallest = pl.when(pl.len() < count).then(0).otherwise(sent.min()).cast(pl.Float64)
    figures = (
        rows.filter(pl.col("port").is_in(group.ports))
        .group_by("until_us")
        .agg(sent_bytes=total, spread=(largest - smallest) * count / total)
    )
    identity = {"switch": pl.lit(group.switch), "ports": pl.lit(list(group.ports), dtype=pl.List(pl.Int64))}
    return figures.sort("until_us").with_columns(**identity).select(_SPREADS.columns)


def _mean_spread(links: pl.DataFrame, equal_cost: EqualCostPorts) -> float | None:
    """Return the mean spread, weighted by bytes; None if the rows are of less than an interval."""
    times = links["time_us"].to_numpy()
    if float(times.max() - times.min()) < SPREAD_US:
        return None
    rows = spreads(links, equal_cost)
    return float(np.average(rows["spread"].to_numpy(), weights=rows["sent_bytes"].to_numpy()))
