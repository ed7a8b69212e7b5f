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

import polars as pl

from sfc_testbed.analysis.metrics.iterations import Waits, last_ended, message_ends
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.analysis.watch.chunk import chunk_of
from sfc_testbed.analysis.watch.scene import node_numbers, scene_of
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.telemetry.schema import WHOLE_BUFFER
from sfc_testbed.topologies.model import Topology

MOST_ROWS: Mapping[str, int] = {"queues": 50_000, "links": 50_000, "signals": 15_000, "goodput": 20_000, "flows": 8_000}
"""The most rows of each part on a page. With all of them, a run takes about 5 MB."""
_MOST_NAMED = 8
"""The most switches that a command names."""
_MEASURED = ("start_us", "finish_us", "received_us", "ideal_fct_us", "paused_us", "packets_resent", "timeouts")
FLOW_COLUMNS = ("flow_id", "src", "dst", "tag", "size_bytes", "slowdown", "job", *_MEASURED)
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
    """Rows of a trace, and the interval between samples, or the part of the rows that was kept."""

    rows: pl.DataFrame
    interval_us: float = 0.0
    factor: int = 1
    """The number of intervals that one row stands for, or of rows of which one was kept."""


def run_content(watched: Watched) -> dict[str, Any]:
    """Return the scene and the chunks of a run."""
    run, nodes = watched.run, node_numbers(watched.topology)
    queue_us = _interval_us(run.queues.filter(pl.col("port") == WHOLE_BUFFER), ("switch",), 10.0)
    link_us = _interval_us(run.links, ("switch", "port"), 2 * queue_us)
    held = run.queues.filter((pl.col("port") != WHOLE_BUFFER) | (pl.col("high_water_bytes") > 0))
    queues = _merged(held, queue_us, "queues", ("switch", "port", "class"))
    links = _merged(run.links, link_us, "links", ("switch", "port"))
    signals = _sampled(run.signals.sort("received_us"), "signals")
    goodput = _sampled(run.goodput.sort("from_us"), "goodput")
    flows = _slowest(run.flows)
    has_drops = run.result.drops is None or sum(run.result.drops.values()) > 0
    has_unseen_pauses = watched.pauses is None and run.result.pfc is not None and run.result.pfc.sent > 0
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
        infers_pauses=has_unseen_pauses,
        notes=[
            *_thinning_notes(queues, links, signals, goodput, flows),
            *_missing_notes(watched, has_unseen_pauses=has_unseen_pauses),
        ],
    )
    parts = {
        "queues": queues.rows,
        "links": links.rows,
        "signals": signals.rows,
        "goodput": goodput.rows,
        "flows": flows.rows.select("flow_id", *_MEASURED).with_columns(
            after=pl.Series(_last_ended(flows.rows, watched.waits), dtype=pl.UInt32)
        ),
        **({"drops": lost_bytes(run.queues, run.links, queue_us, link_us)} if has_drops else {}),
        **({} if watched.pauses is None else {"pauses": watched.pauses}),
    }
    return {"scene": scene, "chunks": [chunk_of(nodes, last_us, **parts)]}


def lost_bytes(queues: pl.LazyFrame, links: pl.LazyFrame, queue_us: float, link_us: float) -> pl.DataFrame:
    """Return the bytes that each switch lost in each interval of links: received - sent - growth of the buffer.

    Frames that a switch itself creates, such as BTS, count as sent and make the figure smaller.
    """
    tick = (pl.col("time_us") / queue_us).round().cast(pl.Int64)
    sums = [pl.col(name).cast(pl.Int64).sum() for name in ("received_bytes", "sent_bytes")]
    balance = links.group_by("switch", "time_us").agg(*sums).with_columns(tick=tick).sort("time_us", "switch")
    whole = queues.filter(pl.col("port") == WHOLE_BUFFER)
    depths = whole.select("switch", tick=tick, depth=pl.col("depth_bytes").cast(pl.Int64))
    earlier = depths.with_columns(pl.col("tick") + round(link_us / queue_us)).rename({"depth": "before"})
    for known in (depths, earlier):
        balance = balance.join(known, on=("switch", "tick"), how="left", maintain_order="left")
    growth = pl.col("depth").fill_null(0) - pl.col("before").fill_null(0)
    lost = balance.with_columns(lost_bytes=pl.col("received_bytes") - pl.col("sent_bytes") - growth)
    return answer(lost.select("time_us", "switch", "lost_bytes").filter(pl.col("lost_bytes") > 0))


def _interval_us(rows: pl.LazyFrame, keys: Sequence[str], default_us: float) -> float:
    """Return the usual time between samples of one place."""
    steps = answer(rows.select(pl.col("time_us").diff().over(keys).median())).item()
    return float(steps) if steps else default_us


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


def _last_ended(flows: pl.DataFrame, waits: Waits) -> list[int]:
    """Return, for each flow, the one that ended last of those that it waited for; 0 without any."""
    if not waits:
        return [0] * flows.height
    ends = message_ends(flows)
    return [last_ended(number, waits, ends) for number in flows["flow_id"]]


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


def _missing_notes(watched: Watched, *, has_unseen_pauses: bool) -> list[str]:
    pfc = watched.run.result.pfc
    if not has_unseen_pauses or pfc is None:
        return []
    switches = ",".join(switch.name for switch in watched.topology.switches[:_MOST_NAMED])
    return [
        f"{pfc.sent:,} PFC frames were sent, but not captured. Captures of switches show them: "
        f"{watched.run.command} --pcap {switches}"
    ]
