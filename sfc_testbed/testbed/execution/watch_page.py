# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Writes the page that plays stored runs, with the network, waits and captures that belong to each run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfc_testbed.analysis.metrics.iterations import Waits
from sfc_testbed.analysis.results.names import names_of
from sfc_testbed.analysis.results.stored import Run, load_run
from sfc_testbed.analysis.watch.page import write_watch_page
from sfc_testbed.analysis.watch.scene import MOST_NODES
from sfc_testbed.analysis.watch.stored import Watched, run_content
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.stored_flows import stored_flows, stored_topology


def write_watch(folders: Sequence[Path], out: Path) -> Path:
    """Write watch.html into `out`, with these runs side by side, and return its path.

    Raises UsageError if the network of a run is unknown or too large, and ResultError for a folder without a result.
    """
    runs = [load_run(folder) for folder in folders]
    labels = names_of([run.result for run in runs], [run.config for run in runs]).labels
    watched = [_watched(run, label) for run, label in zip(runs, labels, strict=True)]
    titles = dict.fromkeys(run.result.title for run in runs)
    heading = next(iter(titles)) if len(titles) == 1 else f"{runs[0].result.scenario}: {' beside '.join(labels)}"
    return write_watch_page(out, [run_content(each) for each in watched], heading)


def _watched(run: Run, label: str) -> Watched:
    try:
        topology = stored_topology(run.config)
    except UsageError as error:
        raise UsageError(f"{run.folder}: its network cannot be drawn: {error}") from error
    nodes = len(topology.hosts) + len(topology.switches)
    if nodes > MOST_NODES:
        raise UsageError(f"{run.folder}: {nodes:,} hosts and switches; a page draws at most {MOST_NODES:,}")
    return Watched(run, topology, label, _waits(run))


def _waits(run: Run) -> Waits:
    """Return the messages that each flow waits for; none for a run without dependent messages."""
    if run.config is None or run.flows["job"].null_count() == run.flows.height:
        return {}
    try:
        return number_flows(stored_flows(run.folder, run.config)[1].requests).waits
    except UsageError:
        return {}
