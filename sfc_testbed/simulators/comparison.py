# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares a virtual run with another simulator that carried the same flows: peer-validation.json.

Both sides are measured with the same ideal FCT, ours. So a ratio of slowdowns is a ratio of FCTs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import Field, ValidationError

from sfc_testbed.analysis.metrics.buffers import switches, time_weighted_mean, whole_buffer, whole_buffers
from sfc_testbed.analysis.metrics.figures import Figure, Figures
from sfc_testbed.analysis.metrics.flows import size_bin_edges
from sfc_testbed.analysis.metrics.links import EqualCostPorts, spreads
from sfc_testbed.analysis.results.result import MAX_FILE_BYTES, ResultError
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.telemetry.atomic_file import replace_text
from sfc_testbed.telemetry.reader import Rows
from sfc_testbed.wire.units import NS_PER_US

FILE_NAME = "peer-validation.json"
SCHEMA: Literal["sfc-testbed/peer-validation/1"] = "sfc-testbed/peer-validation/1"
SIZE_BINS = 4
MOST_POINTS = 400
"""The points of a scatter plot that are stored for a run."""
_BUSY = 0.5
"""The imbalance of uplinks is compared in intervals in which they sent at least this share of the busiest interval's
bytes: the last flows are alone on their paths."""
_PERCENTILES = {"p50": 50, "p95": 95, "p99": 99}
_FEWEST = {"mean": 1, "p50": 1, "p95": 20, "p99": 100}
_FEWEST_SPREADS = 50
_RUN_FIGURES = ("peak_queue_bytes", "mean_queued_bytes", "spread_mean", "spread_p99")

Values = NDArray[np.float64]


@dataclass(frozen=True)
class PeerFlow:
    """A completed flow of the peer: numbers of its hosts, from 0, and times in model ns since the start of the run."""

    src: int
    dst: int
    size_bytes: int
    start_ns: int
    fct_ns: int


@dataclass(frozen=True)
class PeerQueues:
    """The queues of all switch ports of the peer."""

    peak_bytes: int
    """The longest queue of any port."""
    byte_ns: float
    """The integral of the bytes in all queues over time."""


class Both(Figures):
    """A figure of our run and of the peer's."""

    ours: Figure
    peer: Figure

    @property
    def share(self) -> float:
        """Return by how much our figure is larger, as a share of the peer's."""
        return self.ours / self.peer - 1 if self.peer else 0.0


class GroupFigures(Figures):
    """The FCT slowdown of some of the flows."""

    group: str
    flows: int
    mean: Both | None
    p50: Both | None
    p95: Both | None
    p99: Both | None
    """A figure is None if there are too few flows for it."""


class PeerRun(Figures):
    """The comparison of one scenario."""

    label: str
    """Scenario, scheme, scale and settings."""
    peer: str = "HPCC simulator"
    """The other simulator."""
    command: str
    seed: int
    flows: int
    correlation: Figure | None
    """Pearson's r of the FCTs; None if they are all equal on one side."""
    groups: tuple[GroupFigures, ...]
    peak_queue_bytes: Both | None = None
    """The longest queue of any port; the peer counts whole KB."""
    mean_queued_bytes: Both | None = None
    """The mean of the bytes in all queues, from the first start to the last finish."""
    spread_mean: Both | None = None
    """The imbalance of uplinks: (largest - smallest) / mean of the bytes of a switch's equal-cost ports in 100 us, as a
    mean over switches and busy intervals."""
    spread_p99: Both | None = None
    """The P99 of the same values; None if there are fewer than `_FEWEST_SPREADS`."""
    points_us: tuple[tuple[Figure, Figure], ...] = ()
    """FCTs of some of the flows, ours and the peer's."""


class PeerValidation(Figures):
    """The content of peer-validation.json."""

    schema_name: Literal["sfc-testbed/peer-validation/1"] = Field(default=SCHEMA, alias="schema")
    peer: str
    runs: tuple[PeerRun, ...]
    failures: tuple[str, ...] = ()


def compare_with_peer(
    run: Run,
    label: str,
    flows: Sequence[PeerFlow],
    queues: PeerQueues | None,
    *,
    peer: str,
    uplinks: pl.DataFrame | None = None,
) -> PeerRun:
    """Compare a run with the peer's. Raises ResultError if the peer or our run did not complete the same flows.

    `uplinks` has the bytes that the equal-cost uplinks of the peer sent over time.
    """
    pairs = _paired(run, flows)
    fct_us, peer_us, ideal_us = (pairs[name].to_numpy() for name in ("fct_us", "peer_us", "ideal_fct_us"))
    chosen = np.unique(np.linspace(0, len(fct_us) - 1, MOST_POINTS).astype(int))
    order = np.argsort(fct_us, kind="stable")[chosen]
    return PeerRun(
        label=label,
        peer=peer,
        command=run.command,
        seed=run.result.seed,
        flows=len(fct_us),
        correlation=float(np.corrcoef(fct_us, peer_us)[0, 1]) if fct_us.std() and peer_us.std() else None,
        groups=tuple(
            _group(name, fct_us[inside] / ideal_us[inside], peer_us[inside] / ideal_us[inside])
            for name, inside in _groups(pairs).items()
        ),
        **_queues(run, flows, queues),
        **({} if uplinks is None else _spreads(run, uplinks)),
        points_us=tuple(zip(fct_us[order].tolist(), peer_us[order].tolist(), strict=True)),
    )


def mean_of(runs: Sequence[PeerRun]) -> PeerRun:
    """Return the means of the figures of runs with different seeds; command and points are those of the first run."""
    names = [group.group for group in runs[0].groups]
    groups = [[group for run in runs for group in run.groups if group.group == name] for name in names]
    correlations = [run.correlation for run in runs if run.correlation is not None]
    return runs[0].model_copy(
        update={
            "label": f"{runs[0].label}, {len(runs)} seeds",
            "flows": sum(run.flows for run in runs),
            "correlation": float(np.mean(correlations)) if correlations else None,
            "groups": tuple(_mean_group(same) for same in groups if len(same) == len(runs)),
            **{name: _mean([getattr(run, name) for run in runs]) for name in _RUN_FIGURES},
        }
    )


def _mean_group(groups: Sequence[GroupFigures]) -> GroupFigures:
    figures = {name: _mean([getattr(group, name) for group in groups]) for name in _FEWEST}
    return GroupFigures(group=groups[0].group, flows=sum(group.flows for group in groups), **figures)


def _mean(figures: Sequence[Both | None]) -> Both | None:
    """Return the mean of a figure over runs; None unless all have it."""
    known = [both for both in figures if both is not None]
    if len(known) < len(figures):
        return None
    return Both(ours=float(np.mean([both.ours for both in known])), peer=float(np.mean([both.peer for both in known])))


def _paired(run: Run, flows: Sequence[PeerFlow]) -> pl.DataFrame:
    """Return our flows with the peer's FCT. Flows with the same ends, start and size are paired in any order."""
    ours = (
        run.flows.filter(pl.col("fct_us").is_not_null())
        .select("src", "dst", "tag", "size_bytes", "start_us", "fct_us", "ideal_fct_us")
        .with_columns(pl.col("src", "dst").str.slice(1).cast(pl.Int64) - 1)
        .sort("src", "dst", "start_us", "size_bytes", maintain_order=True)
    )
    theirs = sorted(flows, key=lambda flow: (flow.src, flow.dst, flow.start_ns, flow.size_bytes))
    keys = [(flow.src, flow.dst, flow.size_bytes) for flow in theirs]
    if run.flows.height != ours.height or list(ours.select("src", "dst", "size_bytes").iter_rows()) != keys:
        raise ResultError(
            f"{run.folder}: {ours.height} of {run.flows.height} flows completed, the peer's {len(theirs)}"
        )
    return ours.with_columns(pl.Series("peer_us", [flow.fct_ns / NS_PER_US for flow in theirs]))


def _groups(pairs: pl.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """Return the flows of each traffic class, and of each bin of sizes if sizes differ."""
    sizes, tags = pairs["size_bytes"].to_numpy(), pairs["tag"]
    groups = {tag: (tags == tag).to_numpy() for tag in tags.unique(maintain_order=True)}
    edges = size_bin_edges(pairs, SIZE_BINS)
    if len(edges) > 1:
        lows = (0, *edges[:-1])
        groups |= {f"up to {high:,} B": (sizes > low) & (sizes <= high) for low, high in zip(lows, edges, strict=True)}
    return groups


def _group(name: str, ours: Values, peer: Values) -> GroupFigures:
    figures: dict[str, Both | None] = {"mean": Both(ours=float(ours.mean()), peer=float(peer.mean()))}
    for key, percent in _PERCENTILES.items():
        figures[key] = Both(ours=float(np.percentile(ours, percent)), peer=float(np.percentile(peer, percent)))
    enough = {key: both if len(ours) >= _FEWEST[key] else None for key, both in figures.items()}
    return GroupFigures(group=name, flows=len(ours), **enough)


def _queues(run: Run, flows: Sequence[PeerFlow], queues: PeerQueues | None) -> dict[str, Both]:
    if queues is None:
        return {}
    peak_bytes = run.queues.lazy().filter(pl.col("port") > 0).select(pl.col("high_water_bytes").max()).collect().item()
    span_ns = max(flow.start_ns + flow.fct_ns for flow in flows) - min(flow.start_ns for flow in flows)
    return {
        "peak_queue_bytes": Both(ours=peak_bytes, peer=queues.peak_bytes),
        "mean_queued_bytes": Both(ours=_mean_queued_bytes(run), peer=queues.byte_ns / span_ns),
    }


def sent_between_samples(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the bytes that each port sent between two samples of `total_bytes`, as rows of the trace `links`."""
    total = pl.col("total_bytes")
    return (
        samples.sort("time_ns")
        .with_columns(sent_bytes=(total - total.shift(1, fill_value=0)).over("switch", "port").cast(pl.UInt64))
        .select("switch", "port", "sent_bytes", time_us=pl.col("time_ns") / NS_PER_US)
    )


def _spreads(run: Run, uplinks: pl.DataFrame) -> Mapping[str, Both | None]:
    """Return the imbalance of uplinks on both sides; without uplinks, neither figure."""
    groups = uplinks.group_by("switch").agg(pl.col("port").unique().sort()).filter(pl.col("port").list.len() > 1)
    ours = _busy_spreads(run.links, run.equal_cost_ports)
    peer = _busy_spreads(uplinks, {switch: [ports] for switch, ports in groups.iter_rows()})
    if not (ours.size and peer.size):
        return {}
    p99 = Both(ours=float(np.percentile(ours, 99)), peer=float(np.percentile(peer, 99)))
    has_p99 = min(ours.size, peer.size) >= _FEWEST_SPREADS
    return {
        "spread_mean": Both(ours=float(ours.mean()), peer=float(peer.mean())),
        "spread_p99": p99 if has_p99 else None,
    }


def _busy_spreads(links: Rows, groups: EqualCostPorts) -> Values:
    rows = spreads(links, groups)
    sums = rows.group_by("until_us").agg(sum_bytes=pl.col("sent_bytes").sum())
    busy = rows.join(sums, on="until_us").filter(pl.col("sum_bytes") >= _BUSY * pl.col("sum_bytes").max())
    return busy["spread"].to_numpy()


def _mean_queued_bytes(run: Run) -> float:
    """Return the mean of the bytes in all switches, from the first start to the last finish.

    Each depth lasts until the next sample and the last depth until the last finish. A switch is empty before its first
    sample: of a short incast, the time before the first sample and after the last one is 5 %.
    """
    begin_us, end_us = float(run.flows["start_us"].to_numpy().min()), float(run.flows["finish_us"].to_numpy().max())
    whole = whole_buffers(run.queues)
    mean_bytes = 0.0
    for name in switches(whole):
        rows = whole_buffer(whole, name).filter(pl.col("time_us").is_between(begin_us, end_us))
        times_us = np.concatenate(([begin_us], rows["time_us"].to_numpy(), [end_us]))
        depths = np.concatenate(([0.0], rows["depth_bytes"].to_numpy(), [0.0]))
        mean_bytes += time_weighted_mean(times_us, depths) or 0.0
    return mean_bytes


def write_peer_validation(path: Path, validation: PeerValidation) -> None:
    """Write peer-validation.json atomically."""
    replace_text(path, validation.to_json())


def read_peer_validation(path: Path) -> PeerValidation:
    """Read peer-validation.json. Raises ResultError with the file and the reason if it cannot be read."""
    try:
        return PeerValidation.model_validate_json(read_bounded_text(path, MAX_FILE_BYTES))
    except FileNotFoundError as error:
        raise ResultError(f"{path}: no such file") from error
    except FileRefused as error:
        raise ResultError(f"{path}: it {error}") from error
    except (ValidationError, ValueError, RecursionError) as error:
        raise ResultError(f"{path}: not a comparison of this release") from error
