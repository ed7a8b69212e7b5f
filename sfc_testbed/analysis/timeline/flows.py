# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Draws flows and their pauses at hosts, BTS at switches, and an arrow from each BTS to its effect.

A BTS and the pause that it sets are written together, because only this module relates the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heappop, heappush
from itertools import count, groupby
from typing import Any

import polars as pl

from sfc_testbed.analysis.timeline.perfetto_file import Argument, PerfettoFile
from sfc_testbed.analysis.timeline.rows import batches, in_ns
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.telemetry.schema import FLOWS

_FLOWS_AT_ONCE = 16_384
"""The number of flows whose signals are in memory at the same time."""

_FLOW_ARGUMENTS = tuple(name for name in FLOWS.column_names if name not in ("src", "start_us", "finish_us"))
_BTS_ARGUMENTS = ("flow_id", "host", "cause", "pause_us", "queue_depth_bytes", "cacheable", "obeyed", "received_us")
_PAUSE_ARGUMENTS = ("switch", "cause", "pause_us", "paused_until_us")

_SLOWING = ("feedback", "sub_rtt")
"""The causes that ask for a lower rate or a smaller window instead of a pause."""

Row = dict[str, Any]


class _Lanes:
    """The tracks of one host's flows. Flows that overlap are on different tracks, which Perfetto shows as one."""

    def __init__(self, file: PerfettoFile, host: int) -> None:
        self._file = file
        self._host = host
        self._free: list[tuple[int, int]] = []
        self._release(self._add(), 0)

    def take(self, start_ns: int, finish_ns: int | None) -> int:
        """Return a track that is free at the start of a flow. A flow that did not finish keeps its track."""
        is_free = bool(self._free) and self._free[0][0] <= start_ns
        track = heappop(self._free)[1] if is_free else self._add()
        if finish_ns is not None:
            self._release(track, finish_ns)
        return track

    def _add(self) -> int:
        return self._file.track("flows", self._host, "From the start of a flow to its last acknowledgement.")

    def _release(self, track: int, time_ns: int) -> None:
        heappush(self._free, (time_ns, track))


class FlowTracks:
    """The tracks of a run's flows and BTS. `nodes`: the tracks of hosts and switches by name."""

    def __init__(
        self, file: PerfettoFile, nodes: Mapping[str, int], flows: pl.DataFrame, signals: pl.LazyFrame
    ) -> None:
        self._file = file
        self._nodes = nodes
        self._flows = flows.filter(pl.col("start_us").is_not_null()).sort("start_us", maintain_order=True)
        self._signals = signals
        senders = set(self._flows["src"])
        switches = set(answer(signals.select(pl.col("switch").unique()))["switch"])
        self._lanes = {name: _Lanes(file, track) for name, track in nodes.items() if name in senders}
        self._bts = {
            name: file.track("BTS", track, "BTS that this switch sent and a host received.")
            for name, track in nodes.items()
            if name in switches
        }
        self._outside: dict[str, int] = {}
        self._arrows = count(1)

    def write(self) -> None:
        """Write all flows and signals."""
        timed = self._signals.with_columns(in_ns("sent_us"), in_ns("received_us"), in_ns("paused_until_us"))
        for part in self._flows.iter_slices(_FLOWS_AT_ONCE):
            for flow, flow_signals in _with_signals(part, timed):
                self._flow(flow, flow_signals)
        named = pl.col("flow_id").is_in(self._flows["flow_id"].unique().implode())
        for batch in batches(timed.filter(named.not_().fill_null(True))):
            for signal in batch.iter_rows(named=True):
                self._signal_beside_flows(signal)

    def _flow(self, flow: Row, signals: list[Row]) -> None:
        start_ns, finish_ns = flow["start_ns"], flow["finish_ns"]
        if finish_ns is not None:
            finish_ns = max(start_ns, finish_ns)
        track = self._lanes[flow["src"]].take(start_ns, finish_ns)
        name = f"{flow['tag']} {flow['flow_id']} to {flow['dst']}"
        self._file.begin(track, start_ns, name, _arguments(flow, _FLOW_ARGUMENTS))
        pause_end_ns = None
        for signal in signals:
            received_ns = signal["received_ns"]
            if received_ns < start_ns or (finish_ns is not None and received_ns >= finish_ns):
                self._signal_beside_flows(signal)
                continue
            is_pause = _is_pause(signal)
            if is_pause and pause_end_ns is not None:
                self._file.end(track, min(pause_end_ns, received_ns))
            arrow = self._bts_sent(signal)
            if is_pause:
                name = f"paused by {signal['switch']} ({signal['cause']})"
                self._file.begin(track, received_ns, name, _arguments(signal, _PAUSE_ARGUMENTS), arrow=arrow)
                until_ns = max(received_ns, signal["paused_until_ns"])
                pause_end_ns = until_ns if finish_ns is None else min(until_ns, finish_ns)
            else:
                self._signal_received(track, signal, arrow)
        if pause_end_ns is not None:
            self._file.end(track, pause_end_ns)
        if finish_ns is not None:
            self._file.end(track, finish_ns)

    def _signal_beside_flows(self, signal: Row) -> None:
        """Draw a signal that a host received before the flow began, after the flow ended, or for no flow of the run."""
        arrow = self._bts_sent(signal)
        host = signal["host"]
        if host not in self._outside:
            self._outside[host] = self._file.track("BTS outside flows", self._nodes[host])
        self._signal_received(self._outside[host], signal, arrow)

    def _bts_sent(self, signal: Row) -> int:
        """Draw the BTS at the switch that sent it and return the number of the arrow that begins there.

        Return 0 if the BTS does not name its switch.
        """
        if signal["sent_ns"] is None:
            return 0
        arrow = next(self._arrows)
        name = f"BTS to {signal['host']} ({signal['cause']})"
        arguments = _arguments(signal, _BTS_ARGUMENTS)
        self._file.instant(self._bts[signal["switch"]], signal["sent_ns"], name, arguments, arrow_from=arrow)
        return arrow

    def _signal_received(self, track: int, signal: Row, arrow: int) -> None:
        """Draw a signal at the host as an instant."""
        if not signal["obeyed"]:
            name = f"BTS from {signal['switch']} ignored"
        elif signal["cause"] in _SLOWING:
            name = f"slowed down by {signal['switch']}"
        elif _keeps_nothing_back(signal):
            name = f"BTS from {signal['switch']} ({signal['cause']}), nothing left to send"
        else:
            name = f"paused by {signal['switch']} ({signal['cause']})"
        self._file.instant(track, signal["received_ns"], name, _arguments(signal, _PAUSE_ARGUMENTS), arrow_to=arrow)


def _is_pause(signal: Row) -> bool:
    is_set = bool(signal["obeyed"]) and signal["cause"] not in _SLOWING and signal["paused_until_ns"] is not None
    return is_set and not _keeps_nothing_back(signal)


def _keeps_nothing_back(signal: Row) -> bool:
    """Whether the host had nothing left to send when the signal asked for a pause."""
    return signal["paused_until_us"] == signal["received_us"] and bool(signal["pause_us"])


def _arguments(row: Row, names: tuple[str, ...]) -> dict[str, Argument]:
    return {name: row[name] for name in names}


def _with_signals(flows: pl.DataFrame, signals: pl.LazyFrame) -> Iterator[tuple[Row, list[Row]]]:
    """Yield each flow with its signals in the order in which the host received them."""
    numbered = flows.with_columns(in_ns("start_us"), in_ns("finish_us")).with_row_index("place")
    joined = answer(signals.join(numbered.lazy().select("flow_id", "place"), on="flow_id"))
    ordered = joined.sort("place", "received_ns", "sent_ns", maintain_order=True)
    groups = groupby(ordered.iter_rows(named=True), key=lambda row: row["place"])
    place, group = next(groups, (None, iter(())))
    for flow in numbered.iter_rows(named=True):
        if flow["place"] != place:
            yield flow, []
            continue
        yield flow, list(group)
        place, group = next(groups, (None, iter(())))
