# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loaders of traces as flow lists: rank 0 is h1, rank 1 is h2 and so on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfc_testbed.scenarios.traffic.hpcc_files import LoadedFlows
from sfc_testbed.scenarios.traffic.traces.files import goal_trace, read_chakra, simai_trace
from sfc_testbed.scenarios.traffic.traces.messages import messages_of
from sfc_testbed.scenarios.traffic.traces.operations import Trace


def parse_goal_flows(lines: Sequence[str]) -> LoadedFlows:
    """Parse a GOAL schedule."""
    return _loaded(goal_trace(lines))


def parse_simai_flows(lines: Sequence[str]) -> LoadedFlows:
    """Parse a SimAI workload."""
    return _loaded(simai_trace(lines))


def read_chakra_flows(path: Path) -> LoadedFlows | None:
    """Read a Chakra trace, which has a file for each rank; None if the path names none."""
    trace = read_chakra(path)
    return None if trace is None else _loaded(trace)


def _loaded(trace: Trace) -> LoadedFlows:
    requests, notes = messages_of(trace, [f"h{rank + 1}" for rank in range(trace.ranks)])
    return LoadedFlows(((0, request) for request in requests), tuple(notes))
