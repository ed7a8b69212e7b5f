# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Exports a stored run as a timeline for Perfetto (https://ui.perfetto.dev)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import polars as pl

from analysis.results.stored import load_run
from analysis.timeline.pause_frames import CapturedPort
from analysis.timeline.timeline import write_timeline
from telemetry.atomic_file import replace_file
from telemetry.reader import TraceError, read_trace
from telemetry.schema import FLOWS
from testbed.errors import UsageError
from testbed.execution.stored_flows import stored_topology
from testbed.plan.captured_ports import captured_ports
from testbed.recording.captures import FOLDER, SUFFIX
from testbed.targets.common.interfaces import interface_of
from topologies.model import Port, Topology

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
        captures = _captures(folder, () if run.config is None else run.config.captures, topology)
    except UsageError as error:
        problems.append(f"Names of neighbours and captures are missing: {error}.")
    try:
        _write_file(
            out / TIMELINE_FILE,
            lambda file: problems.extend(write_timeline(run, file, peers=peers, captures=captures)),
        )
    except pl.exceptions.PolarsError as error:
        raise UsageError(f"{folder}: cannot be exported: damaged values in a trace ({error})") from error
    return ExportedTimeline(out / TIMELINE_FILE, problems)


def _write_file(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Replace a file in one step by what `write` writes."""

    def fill(partial: Path) -> None:
        with partial.open("wb") as file:
            write(file)

    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, fill)


def _peers(topology: Topology) -> dict[tuple[str, int], str]:
    """Return the neighbour at each port of each switch."""
    return {(switch, port.number): port.peer.node for switch, ports in topology.ports.items() for port in ports}


def _captures(folder: Path, words: Sequence[str], topology: Topology) -> list[CapturedPort]:
    """Return the captures of a run, given the words of its `--pcap` option."""
    return [_capture(folder, end, topology) for end in captured_ports(words, topology)]


def _capture(folder: Path, end: Port, topology: Topology) -> CapturedPort:
    link = topology.link_at[end]
    peer = link.b if end == link.a else link.a
    path = folder / FOLDER / f"{interface_of(topology, end)}{SUFFIX}"
    return CapturedPort(end.node, end.number, peer.node, link.rate_bps, path)
