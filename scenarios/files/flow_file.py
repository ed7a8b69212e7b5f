# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Flow lists as files: what a workload expanded to, kept with a run so that any scheme can replay it.

Our format is CSV with a header; comment lines before it may carry `measured_window_us`. The HPCC simulator's flow
files are read too. Times are model ns from the start of the run.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scenarios.files.hpcc_files import parse_hpcc_flows
from scenarios.model.flow import FlowRequest
from scenarios.model.scenario import ScenarioError
from topologies.model import Topology

FILE_NAME = "flows-input.csv"
COLUMNS = ("src", "dst", "size_bytes", "start_ns", "tag")
_WINDOW = "# measured_window_us="

MAX_SIZE_BYTES = 10_000_000_000


@dataclass(frozen=True)
class FlowList:
    """Flows in file order, and the part of the run that is measured."""

    requests: tuple[FlowRequest, ...]
    measured_window_us: tuple[float, float] | None = None


def format_flows(flows: Iterable[FlowRequest], measured_window_us: tuple[float, float] | None) -> str:
    """The text of our format."""
    out = io.StringIO()
    if measured_window_us is not None:
        out.write(f"{_WINDOW}{measured_window_us[0]!r},{measured_window_us[1]!r}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows((flow.src, flow.dst, flow.size_bytes, flow.start_ns, flow.tag) for flow in flows)
    return out.getvalue()


def read_flows(path: Path, topology: Topology) -> FlowList:
    """Reads either format. ScenarioError, one line, for a file that is wrong or does not fit the network."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ScenarioError(f"{path}: cannot be read as a flow list ({error.__class__.__name__})") from error
    try:
        is_hpcc = bool(lines) and lines[0].strip().isdecimal()
        found = FlowList(tuple(parse_hpcc_flows(lines))) if is_hpcc else _parse(lines)
    except ValueError as error:
        raise ScenarioError(f"{path}: {error}") from error
    for flow in found.requests:
        _check(flow, topology, path)
    return found


def _parse(lines: Sequence[str]) -> FlowList:
    window = None
    for line in lines:
        if line.startswith(_WINDOW):
            begin, end = line.removeprefix(_WINDOW).split(",")
            window = (float(begin), float(end))
    rows = csv.reader(line for line in lines if line and not line.startswith("#"))
    if tuple(next(rows, ())) != COLUMNS:
        raise ValueError(f"the first row must be {','.join(COLUMNS)}")
    requests = []
    for row in rows:
        if len(row) != len(COLUMNS):
            raise ValueError(f"not a row of {len(COLUMNS)} values: {','.join(row)}")
        requests.append(FlowRequest(row[0], row[1], int(row[2]), int(row[3]), row[4]))
    return FlowList(tuple(requests), window)


def _check(flow: FlowRequest, topology: Topology, path: Path) -> None:
    for name in (flow.src, flow.dst):
        if name not in topology.host:
            raise ScenarioError(f"{path}: no host {name!r} in this network (h1 to h{len(topology.hosts)})")
    if flow.src == flow.dst or not 1 <= flow.size_bytes <= MAX_SIZE_BYTES or flow.start_ns < 0 or not flow.tag:
        raise ScenarioError(
            f"{path}: not a flow: {flow.src} to {flow.dst}, {flow.size_bytes} B at {flow.start_ns} ns, tag {flow.tag!r}"
        )
