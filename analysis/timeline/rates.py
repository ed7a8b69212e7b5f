# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws the goodput of hosts, the state of congestion controls, and lateness as counters."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from analysis.timeline.perfetto_file import BYTES, PerfettoFile
from analysis.timeline.rows import batches, in_ns
from telemetry.reader import answer

_GOODPUT = {
    "src": ("goodput sent", "Message bytes of this host's flows, when their receivers have them in order."),
    "dst": ("goodput received", "Message bytes that this host received in order."),
}


class GoodputTracks:
    """The counters of each host's goodput, sent and received."""

    def __init__(
        self, file: PerfettoFile, nodes: Mapping[str, int], flows: pl.DataFrame, goodput: pl.LazyFrame
    ) -> None:
        self._file = file
        self._rates = {end: _rates(flows, goodput, end) for end in _GOODPUT}
        self._tracks = {
            (end, host): file.counter(*_GOODPUT[end][:1], nodes[host], "Gb/s", _GOODPUT[end][1])
            for end, rates in self._rates.items()
            for host in rates["host"].unique(maintain_order=True)
        }

    def write(self) -> None:
        """Write all intervals. A host without a row in an interval transferred nothing then."""
        for end, rates in self._rates.items():
            for (host,), of_host in rates.group_by("host", maintain_order=True):
                self._write_host(self._tracks[end, str(host)], of_host)

    def _write_host(self, track: int, rates: pl.DataFrame) -> None:
        last_ns = 0
        self._file.count(track, 0, 0)
        for from_ns, until_ns, gbps in rates.select("from_ns", "until_ns", "gbps").iter_rows():
            if from_ns > last_ns:
                self._file.count(track, last_ns, 0)
            self._file.count(track, from_ns, gbps)
            last_ns = until_ns
        self._file.count(track, last_ns, 0)


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


class CongestionTracks:
    """The counters of the window, rate and round trip of each flow that cc.parquet has."""

    def __init__(
        self, file: PerfettoFile, nodes: Mapping[str, int], flows: pl.DataFrame, congestion: pl.LazyFrame
    ) -> None:
        self._file = file
        self._congestion = congestion
        columns = pl.col("cwnd_bytes", "rtt_us").is_not_null().any()
        traced = answer(congestion.group_by("flow_id").agg(columns).sort("flow_id"))
        groups: dict[str, int] = {}
        self._tracks: dict[tuple[int, str], int] = {}
        for row in traced.join(flows.select("flow_id", "src"), on="flow_id").sort("flow_id").iter_rows(named=True):
            host, flow = row["src"], row["flow_id"]
            if host not in groups:
                groups[host] = file.track("congestion control", nodes[host], "The state of each flow's control.")
            if row["cwnd_bytes"]:
                self._tracks[flow, "cwnd_bytes"] = file.counter(f"flow {flow} window", groups[host], BYTES)
            self._tracks[flow, "rate_bps"] = file.counter(f"flow {flow} rate", groups[host], "Gb/s")
            if row["rtt_us"]:
                self._tracks[flow, "rtt_us"] = file.counter(f"flow {flow} round trip", groups[host], "µs")

    def write(self) -> None:
        """Write all rows. A null, such as the window of a control without one, is left out."""
        columns = (in_ns("time_us"), "flow_id", "cwnd_bytes", "rate_bps", "rtt_us")
        for batch in batches(self._congestion.select(*columns)):
            for time_ns, flow, cwnd_bytes, rate_bps, rtt_us in batch.iter_rows():
                self._set(flow, "cwnd_bytes", time_ns, cwnd_bytes)
                self._set(flow, "rate_bps", time_ns, rate_bps / 1e9)
                self._set(flow, "rtt_us", time_ns, rtt_us)

    def _set(self, flow: int, column: str, time_ns: int, value: float | None) -> None:
        track = self._tracks.get((flow, column))
        if track is not None and value is not None:
            self._file.count(track, time_ns, value)


class LatenessTracks:
    """The counters of how late the latest frame of each interval was. `run`: the track for processes of hosts."""

    def __init__(self, file: PerfettoFile, nodes: Mapping[str, int], run: int, lateness: pl.DataFrame) -> None:
        self._file = file
        self._lateness = lateness.with_columns(in_ns("time_us"))
        self._tracks: dict[tuple[str, str], int] = {}
        for part, node in lateness.select("part", "node").unique().sort("part", "node").iter_rows():
            is_switch = part == "switch" and node in nodes
            name, parent = ("lateness", nodes[node]) if is_switch else (f"lateness of {node}", run)
            meaning = "How late the latest frame of each interval left, at the end of the interval."
            self._tracks[part, node] = file.counter(name, parent, "µs", meaning)

    def write(self) -> None:
        """Write all intervals."""
        for time_ns, part, node, max_us in self._lateness.select("time_ns", "part", "node", "max_us").iter_rows():
            self._file.count(self._tracks[part, node], time_ns, max_us)
