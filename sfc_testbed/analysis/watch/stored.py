# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The scene and the chunk of a stored run. Traces that would make the page too large are thinned.

Thinned samples of queues and links have longer intervals: the highest high-water mark, the depth at the end, and the
sums of bytes. Of other traces, every n-th row is kept. The notes of the scene say what was thinned, and how much.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.iterations import Waits
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.analysis.watch.chunk import chunk_of
from sfc_testbed.analysis.watch.scene import node_numbers, scene_of
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.telemetry.schema import WHOLE_BUFFER
from sfc_testbed.topologies.model import Topology

MOST_ROWS: Mapping[str, int] = {"queues": 50_000, "links": 50_000, "signals": 15_000, "goodput": 20_000, "flows": 8_000}
"""The most rows of each part on a page. With all of them, a run takes about 5 MB."""
_FLOW_COLUMNS = ("start_us", "finish_us", "received_us", "ideal_fct_us", "paused_us", "packets_resent", "timeouts")


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
    """Rows of a trace, and the interval between samples, or the part of the rows that was kept."""

    rows: pl.DataFrame
    interval_us: float = 0.0
    factor: int = 1
    """The number of intervals that one row stands for, or of rows of which one was kept."""


def run_content(watched: Watched) -> dict[str, Any]:
    """Return the scene and the chunks of a run."""
    run, nodes = watched.run, node_numbers(watched.topology)
    queue_us, link_us = (_interval_us(rows, default) for rows, default in ((run.queues, 10.0), (run.links, 20.0)))
    held = run.queues.filter((pl.col("port") != WHOLE_BUFFER) | (pl.col("high_water_bytes") > 0))
    queues = _merged(held, queue_us, "queues", ("switch", "port", "class"))
    links = _merged(run.links, link_us, "links", ("switch", "port"))
    signals = _sampled(run.signals.sort("received_us"), "signals")
    goodput = _sampled(run.goodput.sort("from_us"), "goodput")
    flows = _slowest(run.flows)
    drops = sum(run.result.drops.values()) if run.result.drops is not None else None
    last_us = _last_us(run)
    scene = scene_of(
        watched.topology,
        flows.rows,
        title=run.result.title,
        label=watched.label,
        queue_interval_us=queues.interval_us,
        link_interval_us=links.interval_us,
        thresholds_bytes=run.thresholds_bytes,
        faults=run.fault_spans,
        end_us=last_us,
        drops=drops,
        notes=[*_thinning_notes(queues, links, signals, goodput, flows), *_missing_notes(watched)],
    )
    after = _last_ended(flows.rows, watched.waits)
    parts = {
        "queues": queues.rows,
        "links": links.rows,
        "signals": signals.rows,
        "goodput": goodput.rows,
        "flows": flows.rows.select("flow_id", *_FLOW_COLUMNS).with_columns(after=after),
        **({"drops": lost_bytes(run.queues, run.links, link_us)} if drops else {}),
        **({} if watched.pauses is None else {"pauses": watched.pauses}),
    }
    return {"scene": scene, "chunks": [chunk_of(nodes, last_us, **parts)]}


def lost_bytes(queues: pl.LazyFrame, links: pl.LazyFrame, interval_us: float) -> pl.DataFrame:
    """Return the bytes that each switch lost in each interval: received - sent - growth of the buffer.

    Frames that a switch itself creates, such as BTS, count as sent and make the figure smaller.
    """
    signed = (pl.col(name).cast(pl.Int64) for name in ("received_bytes", "sent_bytes"))
    sums = links.group_by("switch", "time_us").agg(column.sum() for column in signed).sort("time_us")
    depths = (
        queues.filter(pl.col("port") == WHOLE_BUFFER)
        .select("switch", "time_us", depth=pl.col("depth_bytes").cast(pl.Int64))
        .sort("time_us")
    )
    joined = sums.join_asof(depths, on="time_us", by="switch").with_columns(begin_us=pl.col("time_us") - interval_us)
    earlier = depths.rename({"time_us": "begin_us", "depth": "depth_before"})
    balance = joined.sort("begin_us").join_asof(earlier, on="begin_us", by="switch", tolerance=interval_us / 2)
    lost = pl.col("received_bytes") - pl.col("sent_bytes") - pl.col("depth") + pl.col("depth_before").fill_null(0)
    return answer(balance.select("time_us", "switch", lost_bytes=lost).filter(pl.col("lost_bytes") > 0))


def _interval_us(rows: pl.LazyFrame, default_us: float) -> float:
    """Return the usual time between samples."""
    steps = answer(rows.select(pl.col("time_us").unique().sort().diff()))["time_us"].drop_nulls()
    usual = steps.filter(steps > 1e-3).median() if len(steps) else None
    return float(usual) if isinstance(usual, float) else default_us


def _merged(rows: pl.LazyFrame, interval_us: float, part: str, keys: Sequence[str]) -> Thinned:
    """Return at most `MOST_ROWS` samples: those of several intervals merged into one."""
    count = int(answer(rows.select(pl.len())).item())
    if count <= MOST_ROWS[part]:
        return Thinned(answer(rows.sort("time_us", maintain_order=True)), interval_us)
    factor = -(-count // MOST_ROWS[part])
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
        if thinned.height <= MOST_ROWS[part]:
            ordered = thinned.rename({"end_us": "time_us"}).sort("time_us", *keys)
            return Thinned(ordered, interval_us * factor, factor)
        factor *= 2


def _sampled(rows: pl.LazyFrame, part: str) -> Thinned:
    count = int(answer(rows.select(pl.len())).item())
    factor = -(-count // MOST_ROWS[part]) or 1
    return Thinned(answer(rows.gather_every(factor)), factor=factor)


def _slowest(flows: pl.DataFrame) -> Thinned:
    """Return the slowest flows; those that did not finish come first."""
    factor = -(-flows.height // MOST_ROWS["flows"]) or 1
    if factor > 1:
        flows = flows.sort("slowdown", descending=True, nulls_last=False).head(MOST_ROWS["flows"]).sort("flow_id")
    return Thinned(flows, factor=factor)


def _last_us(run: Run) -> float:
    """Return the last instant that any trace has."""
    times = [run.flows["finish_us"].max(), run.flows["start_us"].max()]
    for rows, column in ((run.queues, "time_us"), (run.signals, "received_us"), (run.goodput, "until_us")):
        times.append(answer(rows.select(pl.col(column).max())).item())
    return max((float(time_us) for time_us in times if isinstance(time_us, float)), default=0.0)


def _last_ended(flows: pl.DataFrame, waits: Waits) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return, for each flow, the one that ended last of those that it waited for; 0 without any."""
    return np.zeros(flows.height, dtype=np.int64)


def _thinning_notes(queues: Thinned, links: Thinned, signals: Thinned, goodput: Thinned, flows: Thinned) -> list[str]:
    notes = [
        f"{name} have one sample in {thinned.interval_us:g} µs; the traces have {thinned.factor} times as many. {kept}"
        for name, thinned, kept in (
            ("Queues", queues, "Peaks are kept."),
            ("Links", links, "Bytes are summed."),
        )
        if thinned.factor > 1
    ]
    notes += [
        f"{name}: one of {thinned.factor} is on this page."
        for name, thinned in (("BTS", signals), ("ACKs", goodput))
        if thinned.factor > 1
    ]
    if flows.factor > 1:
        notes.append(f"Flows: only the {flows.rows.height:,} slowest ones are on this page.")
    return notes


def _missing_notes(watched: Watched) -> list[str]:
    result = watched.run.result
    if watched.pauses is None and result.pfc is not None and result.pfc.sent:
        return [
            f"The switches sent {result.pfc.sent:,} PFC frames, which were not recorded. To see them: "
            f"{watched.run.command} --pcap switches"
        ]
    return []
