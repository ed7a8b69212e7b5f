# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the page that plays stored runs, with the network, waits and captures that belong to each run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from sfc_testbed.analysis.metrics.iterations import Waits
from sfc_testbed.analysis.results.names import names_of
from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.analysis.results.stored import Run, known_config, load_run
from sfc_testbed.analysis.watch.page import write_watch_page
from sfc_testbed.analysis.watch.scene import MOST_NODES
from sfc_testbed.analysis.watch.stored import FLOW_COLUMNS, MOST_ROWS, Watched, run_content
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.telemetry.captures.pcapng import CaptureError, Direction
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.stored_flows import stored_flows, stored_topology
from sfc_testbed.topologies.model import Topology

MOST_RUNS = 6
"""The most runs on one page."""


def write_watch(folders: Sequence[Path], out: Path) -> Path:
    """Write watch.html into `out`, with these runs side by side, and return its path.

    Raises UsageError if the network of a run is unknown or too large, and ResultError for a folder without a result.
    """
    results = [read_result(folder) for folder in folders]
    labels = names_of(results, [known_config(folder) for folder in folders]).labels
    contents = [
        run_content(_watched(load_run(folder, FLOW_COLUMNS), label), len(folders))
        for folder, label in zip(folders, labels, strict=True)
    ]  # one run's traces are in memory at a time
    heading = results[0].title if len(results) == 1 else f"{results[0].scenario}: {' beside '.join(labels)}"
    return write_watch_page(out, contents, heading)


def write_watch_beside(folders: Sequence[Path], out: Path) -> None:
    """Write the page that a report in `out` links to. A run of an unknown or very large network has none."""
    with suppress(UsageError):
        write_watch(with_first_seed(folders)[:MOST_RUNS], out)


def with_first_seed(folders: Sequence[Path]) -> list[Path]:
    """Return the runs that have the seed of the first run."""
    seeds = [read_result(folder).seed for folder in folders]
    return [folder for folder, seed in zip(folders, seeds, strict=True) if seed == seeds[0]]


def _watched(run: Run, label: str) -> Watched:
    try:
        topology = stored_topology(run.config)
    except UsageError as error:
        raise UsageError(f"{run.folder}: its network cannot be drawn: {error}") from error
    nodes = len(topology.hosts) + len(topology.switches)
    if nodes > MOST_NODES:
        raise UsageError(f"{run.folder}: {nodes:,} hosts and switches; a page draws at most {MOST_NODES:,}")
    return Watched(run, topology, label, _waits(run), _pauses(run, topology))


def _waits(run: Run) -> Waits:
    """Return the messages that each flow waits for; none if too many flows are left out to follow a chain."""
    has_waits = run.config is not None and bool(run.config.jobs or run.config.ideal_completion_us)
    if not has_waits or run.flows.height > MOST_ROWS["flows"]:
        return {}
    try:
        return number_flows(stored_flows(run.folder, run.config)[1].requests).waits
    except UsageError:
        return {}


def _pauses(run: Run, topology: Topology) -> pl.DataFrame | None:
    """Return the PFC frames that captured ports of switches sent; None if no switch's port was captured."""
    if run.config is None or not run.config.captures or run.result.pfc is None or not run.result.pfc.sent:
        return None
    rows = list(_pause_rows(run, topology))
    return (
        pl.DataFrame(rows, schema=["time_us", "until_us", "node", "port", "class"], orient="row").sort("time_us")
        if rows
        else None
    )


def _pause_rows(run: Run, topology: Topology) -> Iterator[tuple[float, float, str, int, int]]:
    """Yield the departure of each PFC frame and the end of its pause at the sender, in µs; 0: it ends a pause.

    An outgoing frame is captured behind its link.
    """
    from sfc_testbed.analysis.timeline.pause_frames import captured_pauses  # loads Perfetto's library
    from sfc_testbed.testbed.execution.perfetto_export import stored_captures

    for port in stored_captures(run, topology):
        if port.node not in topology.switch:
            continue
        delay_ns = next(each.delay_ns for each in topology.ports[port.node] if each.number == port.number)
        try:
            for pause in captured_pauses(port):
                if pause.direction is Direction.OUT:
                    until_us = (pause.end_ns - delay_ns) / 1000 if pause.quanta else 0.0
                    yield (pause.begin_ns - delay_ns) / 1000, until_us, port.node, port.number, pause.traffic_class
        except (CaptureError, OSError):
            continue
