# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The scene and the chunk of a stored run. Traces that would make the page too large are thinned.

Thinned samples of queues and links have longer intervals: the highest high-water mark, the depth at the end, and the
sums of bytes. Of other traces, every n-th row is kept. The notes of the scene say what was thinned, and how much.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import polars as pl

from sfc_testbed.analysis.formatting import format_bytes
from sfc_testbed.analysis.metrics.iterations import Waits, last_ended, message_ends
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.analysis.watch.chunk import chunk_of
from sfc_testbed.analysis.watch.scene import node_numbers, scene_of
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.telemetry.schema import WHOLE_BUFFER
from sfc_testbed.topologies.model import Topology

MOST_ROWS: Mapping[str, int] = {"queues": 80_000, "links": 60_000, "signals": 20_000, "goodput": 20_000, "flows": 8_000}
"""The most rows of each part on a page. With all of them, a page takes about 5.5 MB. Several runs share them."""
_SMALL_SHARE = 0.01
"""The share of the highest peak below which samples of queues are left out first."""
_MOST_NAMED = 8
"""The most switches that a command names."""
_MEASURED = ("start_us", "finish_us", "received_us", "ideal_fct_us", "paused_us", "packets_resent", "timeouts")
FLOW_COLUMNS = ("flow_id", "src", "dst", "tag", "size_bytes", "slowdown", *_MEASURED)
"""The columns of flows that a page uses."""


@dataclass(frozen=True)
class Watched:
    """A stored run, and what its folder alone does not tell."""

    run: Run
    topology: Topology
    label: str
    waits: Waits
    """The messages that each flow waits for."""
    pauses: pl.DataFrame | None = None
    """The captured PFC frames, with the columns of the part `pauses`; None if none were captured."""


@dataclass(frozen=True)
class Thinned:
    """Rows of a trace, and how they were thinned."""

    rows: pl.DataFrame
    interval_us: float = 0.0
    """The time between samples."""
    factor: int = 1
    """How many intervals one row covers; of signals and goodput, one row in this many is kept."""
    least_bytes: float = 0.0
    """The high-water mark below which samples were left out."""


def run_content(watched: Watched, runs: int = 1) -> dict[str, Any]:
    """Return the scene and the chunks of a run. `runs`: the number of runs on the page."""
    run, most = watched.run, {name: count // runs for name, count in MOST_ROWS.items()}
    queue_us = _interval_us(run.queues.filter(pl.col("port") == WHOLE_BUFFER), ("switch",), 10.0)
    link_us = _interval_us(run.links, ("switch", "port"), 2 * queue_us)
    thinned = {
        "queues": _thinned_queues(run.queues, queue_us, most["queues"]),
        "links": _merged(run.links, link_us, most["links"], ("switch", "port")),
        "signals": _sampled(run.signals.sort("received_us"), most["signals"]),
        "goodput": _sampled(run.goodput.sort("from_us"), most["goodput"]),
        "flows": _slowest(run.flows, most["flows"]),
    }
    parts = {name: part.rows for name, part in thinned.items()}
    after = pl.Series(_last_ended(parts["flows"], watched.waits), dtype=pl.UInt32)
    parts["flows"] = parts["flows"].select("flow_id", *_MEASURED).with_columns(after=after)
    if run.result.dropped != 0:
        parts["drops"] = lost_bytes(run.queues, run.links, queue_us, link_us)
    if watched.pauses is not None:
        parts["pauses"] = watched.pauses
    last_us = _last_us(run)
    chunk = chunk_of(node_numbers(watched.topology), last_us, **parts)
    return {"scene": _scene(watched, thinned, last_us), "chunks": [chunk]}


def _scene(watched: Watched, thinned: Mapping[str, Thinned], last_us: float) -> dict[str, Any]:
    run, pfc = watched.run, watched.run.result.pfc
    has_unseen_pauses = watched.pauses is None and pfc is not None and pfc.sent > 0
    notes = list(_thinning_notes(thinned))
    if has_unseen_pauses and pfc is not None:
        switches = ",".join(switch.name for switch in watched.topology.switches[:_MOST_NAMED])
        notes.append(
            f"{pfc.sent:,} PFC frames were sent, but not captured. Captures of switches show them: "
            f"{run.command} --pcap {switches}"
        )
    return scene_of(
        watched.topology,
        thinned["flows"].rows,
        title=run.result.title,
        label=watched.label,
        queue_interval_us=thinned["queues"].interval_us,
        link_interval_us=thinned["links"].interval_us,
        thresholds_bytes=run.thresholds_bytes,
        faults=run.fault_spans,
        end_us=last_us,
        infers_pauses=has_unseen_pauses,
        notes=notes,
    )


def lost_bytes(queues: pl.LazyFrame, links: pl.LazyFrame, queue_us: float, link_us: float) -> pl.DataFrame:
    """Return the bytes that each switch lost in each interval of links: received - sent - growth of the buffer.

    The bytes that its links lost are added, because they count as sent. Frames that a switch itself creates, such as
    BTS, count as sent, too, and make the figure smaller.
    """
    tick = (pl.col("time_us") / queue_us).round().cast(pl.Int64)
    names = ("received_bytes", "sent_bytes", "lost_bytes")
    sums = [pl.col(name).cast(pl.Int64).fill_null(0).sum() for name in names]
    balance = links.group_by("switch", "time_us").agg(*sums).with_columns(tick=tick).sort("time_us", "switch")
    whole = queues.filter(pl.col("port") == WHOLE_BUFFER)
    depths = whole.select("switch", tick=tick, depth=pl.col("depth_bytes").cast(pl.Int64))
    earlier = depths.with_columns(pl.col("tick") + round(link_us / queue_us)).rename({"depth": "before"})
    for known in (depths, earlier):
        balance = balance.join(known, on=("switch", "tick"), how="left", maintain_order="left")
    growth = pl.col("depth").fill_null(0) - pl.col("before").fill_null(0)
    dropped = pl.col("received_bytes") - pl.col("sent_bytes") - growth
    lost = balance.with_columns(lost_bytes=dropped + pl.col("lost_bytes"))
    return answer(lost.select("time_us", "switch", "lost_bytes").filter(pl.col("lost_bytes") > 0))


def _interval_us(rows: pl.LazyFrame, keys: Sequence[str], default_us: float) -> float:
    """Return the usual time between samples of one place."""
    steps = answer(rows.select(pl.col("time_us").diff().over(keys).median())).item()
    return float(steps) if steps else default_us


def _thinned_queues(queues: pl.LazyFrame, interval_us: float, most: int) -> Thinned:
    """Return the samples of queues. If there are too many, small queues are left out, and then samples are merged."""
    high = pl.col("high_water_bytes")
    held = queues.filter((pl.col("port") != WHOLE_BUFFER) | (high > 0))
    keys = ("switch", "port", "class")
    if _count(held) <= most:
        return _merged(held, interval_us, most, keys)
    peak = answer(queues.filter(pl.col("port") != WHOLE_BUFFER).select(high.max())).item() or 0
    least_bytes = float(peak) * _SMALL_SHARE
    return replace(_merged(held.filter(high >= least_bytes), interval_us, most, keys), least_bytes=least_bytes)


def _count(rows: pl.LazyFrame) -> int:
    return int(answer(rows.select(pl.len())).item())


def _merged(rows: pl.LazyFrame, interval_us: float, most: int, keys: Sequence[str]) -> Thinned:
    """Return at most `most` samples. If there are more, the samples of several intervals become one."""
    count = _count(rows)
    if count <= most:
        return Thinned(answer(rows.sort("time_us", maintain_order=True)), interval_us)
    factor = -(-count // most)
    while True:
        end_us = (pl.col("time_us") / (interval_us * factor) - 1e-6).ceil() * (interval_us * factor)
        groups = rows.with_columns(end_us=end_us).group_by("end_us", *keys)
        is_at_end = pl.col("end_us") - pl.col("time_us") < interval_us / 2
        merged = {
            "depth_bytes": pl.when(is_at_end).then("depth_bytes").otherwise(0).last(),
            "high_water_bytes": pl.col("high_water_bytes").max(),
            "sent_bytes": pl.col("sent_bytes").sum(),
            "received_bytes": pl.col("received_bytes").sum(),
        }
        names = rows.collect_schema().names()
        thinned = answer(groups.agg(**{name: value for name, value in merged.items() if name in names}))
        if thinned.height <= most:
            ordered = thinned.rename({"end_us": "time_us"}).sort("time_us", *keys)
            return Thinned(ordered, interval_us * factor, factor)
        factor *= 2


def _sampled(rows: pl.LazyFrame, most: int) -> Thinned:
    factor = -(-_count(rows) // most) or 1
    return Thinned(answer(rows.gather_every(factor)), factor=factor)


def _slowest(flows: pl.DataFrame, most: int) -> Thinned:
    """Return the slowest flows. Unfinished flows come first."""
    if flows.height <= most:
        return Thinned(flows)
    slowest = flows.sort("slowdown", descending=True, nulls_last=False).head(most).sort("flow_id")
    return Thinned(slowest, factor=-(-flows.height // most))


def _last_us(run: Run) -> float:
    """Return the last instant that any trace has."""
    times = [run.flows["finish_us"].max(), run.flows["start_us"].max()]
    for rows, column in ((run.queues, "time_us"), (run.signals, "received_us"), (run.goodput, "until_us")):
        times.append(answer(rows.select(pl.col(column).max())).item())
    return max((float(time_us) for time_us in times if isinstance(time_us, float) and isfinite(time_us)), default=0.0)


def _last_ended(flows: pl.DataFrame, waits: Waits) -> list[int]:
    """Return, for each flow, the last flow to end among the flows that it waited for; 0 if it waited for none."""
    if not waits:
        return [0] * flows.height
    ends = message_ends(flows)
    return [last_ended(number, waits, ends) for number in flows["flow_id"]]


def _thinning_notes(thinned: Mapping[str, Thinned]) -> Iterator[str]:
    """Yield sentences about what the page leaves out, and how much."""
    queues, links, flows = (thinned[name] for name in ("queues", "links", "flows"))
    if queues.least_bytes:
        yield f"Queues below {format_bytes(queues.least_bytes)} are left out."
    for name, part, kept in (("Queues", queues, "Peaks are kept."), ("Links", links, "Bytes are summed.")):
        if part.factor > 1:
            yield f"{name} have one sample in {part.interval_us:g} µs, for {part.factor} of the traces. {kept}"
    for name, part in (("BTS", thinned["signals"]), ("intervals with deliveries and ACKs", thinned["goodput"])):
        if part.factor > 1:
            yield f"Of the {name}, one in {part.factor} is on this page."
    if flows.factor > 1:
        yield f"Only the {flows.rows.height:,} slowest flows are on this page, and its counts of flows are of these."
