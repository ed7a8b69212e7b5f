# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes a run as a timeline: tracks of the run itself, then of every switch, then of every host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import BinaryIO

import polars as pl

from sfc_testbed.analysis.metrics.buffers import natural_key
from sfc_testbed.analysis.results.result import RunResult, count_of
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.analysis.timeline.flows import FlowTracks
from sfc_testbed.analysis.timeline.pause_frames import CapturedPort, write_pauses
from sfc_testbed.analysis.timeline.perfetto_file import Argument, PerfettoFile
from sfc_testbed.analysis.timeline.queues import write_queues
from sfc_testbed.analysis.timeline.rates import write_congestion, write_goodput, write_lateness
from sfc_testbed.analysis.timeline.rows import as_ns
from sfc_testbed.telemetry.captures.pcapng import CaptureError
from sfc_testbed.telemetry.reader import answer


def write_timeline(
    run: Run,
    file: BinaryIO,
    *,
    peers: Mapping[tuple[str, int], str],
    captures: Sequence[CapturedPort],
) -> list[str]:
    """Write all records of a run, and return a sentence for each capture that cannot be read.

    `peers`: the neighbour at each port of each switch; the name of a port without one is its number.
    """
    perfetto = PerfettoFile(file)
    root = perfetto.track(_name(run.result), description="The whole run, with its verdict and totals.")
    _write_run(perfetto, root, run)
    nodes = {name: perfetto.track(name, root) for name in _nodes(run, captures)}
    FlowTracks(perfetto, nodes, run.flows, run.signals).write()
    write_queues(perfetto, nodes, run.queues, peers)
    write_goodput(perfetto, nodes, run.flows, run.goodput)
    write_congestion(perfetto, nodes, run.flows, run.congestion)
    write_lateness(perfetto, nodes, root, run.lateness)
    problems = []
    for port in captures:
        try:
            write_pauses(perfetto, nodes, port)
        except CaptureError as error:
            problems.append(f"{error}.")
        except OSError as error:
            problems.append(f"{port.path} cannot be read ({error.strerror}).")
    return problems


def _write_run(perfetto: PerfettoFile, root: int, run: Run) -> None:
    """Write a slice as long as the run with its verdict and totals, and one for each fault."""
    end_ns = as_ns(_end_us(run))
    perfetto.begin(root, 0, _name(run.result), _totals(run.result))
    perfetto.end(root, end_ns)
    for fault in run.fault_spans:
        track = perfetto.track("faults", root)
        begin_ns = as_ns(fault.begin_us)
        perfetto.begin(track, begin_ns, fault.label, {"fault": fault.spec})
        perfetto.end(track, max(begin_ns, end_ns if fault.end_us is None else as_ns(fault.end_us)))


def _name(result: RunResult) -> str:
    return f"{result.scenario} {result.variant}"


def _totals(result: RunResult) -> dict[str, Argument]:
    """Return the totals in result.json. Drops and PFC frames are totals, because no trace has their times."""
    totals: dict[str, Argument] = {
        "verdict": result.verdict,
        "verdict_reasons": " ".join(result.verdict_reasons),
        "clock": result.clock,
        "dilation": result.dilation,
        "seed": result.seed,
        "interrupted": result.interrupted,
        "flows.total": result.flows.total,
        "flows.completed": result.flows.completed,
        "flows.never_started": result.flows.never_started,
        "flows.packets_resent": result.flows.packets_resent,
        "flows.timeouts": result.flows.timeouts,
        **{f"resent.{reason}": count for reason, count in result.resent_by_reason.items()},
        "bts.sent": count_of(result.bts, "sent"),
        "pfc.sent": count_of(result.pfc, "sent"),
    }
    return totals | {f"drops.{reason}": number for reason, number in (result.drops or {}).items()}


def _end_us(run: Run) -> float:
    """Return the last time in the traces."""
    queries = (
        run.flows.lazy().select(pl.max_horizontal(pl.col("start_us", "finish_us").max())),
        run.queues.select(pl.col("time_us").max()),
        run.signals.select(pl.col("received_us").max()),
        run.goodput.select(pl.col("until_us").max()),
    )
    times_us = [answer(query).item() for query in queries]
    return max((float(time_us) for time_us in times_us if time_us is not None), default=0.0)


def _nodes(run: Run, captures: Sequence[CapturedPort]) -> list[str]:
    """Return the names of all switches and hosts in the traces: switches first, each kind in natural order."""
    signals = answer(run.signals.select("switch", "host").unique())
    queues = answer(run.queues.select(pl.col("switch").unique()))
    switches = {*signals["switch"], *queues["switch"]}
    hosts = {*run.flows["src"], *run.flows["dst"], *signals["host"], *(port.node for port in captures)} - switches
    return [*sorted(switches, key=natural_key), *sorted(hosts, key=natural_key)]
