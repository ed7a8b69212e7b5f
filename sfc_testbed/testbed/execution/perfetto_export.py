# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Exports a stored run as a timeline for Perfetto (https://ui.perfetto.dev)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from sfc_testbed.analysis.results.stored import Run, load_run
from sfc_testbed.analysis.timeline.pause_frames import CapturedPort
from sfc_testbed.analysis.timeline.timeline import write_timeline
from sfc_testbed.telemetry.atomic_file import replace_file
from sfc_testbed.telemetry.reader import TraceError, read_trace
from sfc_testbed.telemetry.schema import FLOWS
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.stored_flows import stored_topology
from sfc_testbed.testbed.plan.captured_ports import named_ports, names_flow
from sfc_testbed.testbed.recording.captures import FOLDER, SUFFIX
from sfc_testbed.testbed.targets.common.interfaces import interface_of
from sfc_testbed.topologies.model import Port, Topology

TIMELINE_FILE = "timeline.pftrace"


@dataclass(frozen=True)
class ExportedTimeline:
    """The timeline file, and sentences about files of the run that could not be read."""

    path: Path
    problems: list[str]


def export_perfetto(folder: Path, out: Path) -> ExportedTimeline:
    """Write the timeline of a run. A file that cannot be read is left out and becomes a problem.

    Raises UsageError, without a timeline, if the flows cannot be read or a trace has damaged values. Raises ResultError
    for a folder without a result.
    """
    run = load_run(folder)
    try:
        read_trace(folder / FLOWS.file_name, FLOWS)
    except TraceError as error:
        raise UsageError(f"{folder}: cannot be exported: {error}") from error
    problems = list(run.problems)
    peers: Mapping[tuple[str, int], str] = {}
    captures: list[CapturedPort] = []
    try:
        topology = stored_topology(run.config)
        peers = _peers(topology)
        captures = stored_captures(run, topology)
    except UsageError as error:
        problems.append(f"Names of neighbours and captures are missing: {error}.")

    def write(partial: Path) -> None:
        with partial.open("wb") as file:
            problems.extend(write_timeline(run, file, peers=peers, captures=captures))

    out.mkdir(parents=True, exist_ok=True)
    try:
        replace_file(out / TIMELINE_FILE, write)
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{folder}: cannot be exported: damaged values in a trace ({error})") from error
    return ExportedTimeline(out / TIMELINE_FILE, problems)


def _peers(topology: Topology) -> dict[tuple[str, int], str]:
    """Return the neighbour at each port of each switch."""
    return {(switch, port.number): port.peer.node for switch, ports in topology.ports.items() for port in ports}


def stored_captures(run: Run, topology: Topology) -> list[CapturedPort]:
    """Return the captured ports of a run that may have PFC frames. Captures of single flows have none."""
    words = () if run.config is None else run.config.captures
    if any(names_flow(word) for word in words):
        return []
    return [_capture(run.folder, end, topology) for end in named_ports(words, topology)]


def _capture(folder: Path, end: Port, topology: Topology) -> CapturedPort:
    link = topology.link_at[end]
    peer = link.other(end)
    path = folder / FOLDER / f"{interface_of(topology, end)}{SUFFIX}"
    return CapturedPort(end.node, end.number, peer.node, link.rate_bps, path)
