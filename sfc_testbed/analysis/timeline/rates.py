# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws the goodput of hosts, the state of congestion controls, and lateness as counters."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sfc_testbed.analysis.timeline.perfetto_file import BYTES, PerfettoFile
from sfc_testbed.analysis.timeline.rows import batches, in_ns
from sfc_testbed.telemetry.reader import answer

_GOODPUT = {
    "src": ("goodput sent", "Message bytes of this host's flows, when their receivers have them in order."),
    "dst": ("goodput received", "Message bytes that this host received in order."),
}


def write_goodput(file: PerfettoFile, nodes: Mapping[str, int], flows: pl.DataFrame, goodput: pl.LazyFrame) -> None:
    """Write each host's goodput, sent and received. A host without a row in an interval transferred nothing then."""
    for end, (name, meaning) in _GOODPUT.items():
        for (host,), rates in _rates(flows, goodput, end).group_by("host", maintain_order=True):
            _write_host(file, file.counter(name, nodes[str(host)], "Gb/s", meaning), rates)


def _write_host(file: PerfettoFile, track: int, rates: pl.DataFrame) -> None:
    last_ns = 0
    file.count(track, 0, 0)
    for from_ns, until_ns, gbps in rates.select("from_ns", "until_ns", "gbps").iter_rows():
        if from_ns > last_ns:
            file.count(track, last_ns, 0)
        file.count(track, from_ns, gbps)
        last_ns = until_ns
    file.count(track, last_ns, 0)


def _rates(flows: pl.DataFrame, goodput: pl.LazyFrame, end: str) -> pl.DataFrame:
    """Return the goodput of each host and interval, in the order of hosts and time."""
    hosts = flows.lazy().select("flow_id", host=end)
    interval_us = pl.col("until_us") - pl.col("from_us")
    rates = (
        goodput.join(hosts, on="flow_id")
        .group_by("host", "from_us", "until_us")
        .agg(pl.col("delivered_bytes").sum())
        .filter(interval_us > 0)
        .with_columns(in_ns("from_us"), in_ns("until_us"), gbps=pl.col("delivered_bytes") * 8 / 1000 / interval_us)
        .sort("host", "from_ns")
    )
    return answer(rates)


def write_congestion(
    file: PerfettoFile, nodes: Mapping[str, int], flows: pl.DataFrame, congestion: pl.LazyFrame
) -> None:
    """Write the window, rate and round trip of each flow in cc.parquet, without nulls such as a missing window."""
    has_values = pl.col("cwnd_bytes", "rtt_us").is_not_null().any()
    traced = answer(congestion.group_by("flow_id").agg(has_values).sort("flow_id"))
    groups: dict[str, int] = {}
    tracks: dict[tuple[int, str], int] = {}
    for row in traced.join(flows.select("flow_id", "src"), on="flow_id").sort("flow_id").iter_rows(named=True):
        host, flow = row["src"], row["flow_id"]
        if host not in groups:
            groups[host] = file.track("congestion control", nodes[host], "The state of each flow's control.")
        if row["cwnd_bytes"]:
            tracks[flow, "cwnd_bytes"] = file.counter(f"flow {flow} window", groups[host], BYTES)
        tracks[flow, "gbps"] = file.counter(f"flow {flow} rate", groups[host], "Gb/s")
        if row["rtt_us"]:
            tracks[flow, "rtt_us"] = file.counter(f"flow {flow} round trip", groups[host], "µs")
    names = ("cwnd_bytes", "gbps", "rtt_us")
    rows = congestion.with_columns(gbps=pl.col("rate_bps") / 1e9).select(in_ns("time_us"), "flow_id", *names)
    for batch in batches(rows):
        for time_ns, flow, *values in batch.iter_rows():
            for name, value in zip(names, values, strict=True):
                if value is not None and (flow, name) in tracks:
                    file.count(tracks[flow, name], time_ns, value)


def write_lateness(file: PerfettoFile, nodes: Mapping[str, int], run: int, lateness: pl.DataFrame) -> None:
    """Write how late the latest frame of each interval was. `run`: the track for processes of hosts."""
    tracks: dict[tuple[str, str], int] = {}
    for part, node in lateness.select("part", "node").unique().sort("part", "node").iter_rows():
        is_switch = part == "switch" and node in nodes
        name, parent = ("lateness", nodes[node]) if is_switch else (f"lateness of {node}", run)
        meaning = "How late the latest frame of each interval left, at the end of the interval."
        tracks[part, node] = file.counter(name, parent, "µs", meaning)
    for time_ns, part, node, max_us in lateness.select(in_ns("time_us"), "part", "node", "max_us").iter_rows():
        file.count(tracks[part, node], time_ns, max_us)
