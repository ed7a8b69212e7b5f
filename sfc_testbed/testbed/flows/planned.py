# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The planned columns of the flows trace, computed and written a part at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.scenarios.model.flow_table import JOB_COLUMNS, FlowTable
from sfc_testbed.telemetry.planned import write_planned
from sfc_testbed.testbed.flows.ideal import PathChange, ideal_times_ns
from sfc_testbed.topologies.model import Topology

PART_FLOWS = 1 << 17
"""Flows whose planned rows are in memory at a time."""


def write_planned_parts(
    folder: Path, topology: Topology, flows: FlowTable, transport: TransportSettings, *, change: PathChange
) -> None:
    """Write the planned columns of at most PART_FLOWS flows to each file."""
    for number, begin in enumerate(range(0, len(flows), PART_FLOWS)):
        part = flows.part(begin, begin + PART_FLOWS)
        ideal = ideal_times_ns(topology, part, transport.payload_bytes, nic_bps=transport.line_rate_bps, change=change)
        start_us = part.start_ns / 1000
        start_us[list(part.waits)] = np.nan
        columns = {
            "flow_id": np.arange(len(part)) + begin + 1,
            "src": part.src,
            "dst": part.dst,
            "tag": part.tag,
            "size_bytes": part.size_bytes,
            "start_us": start_us,
            "ideal_fct_us": ideal.acknowledged / 1000,
        }
        if part.has_jobs:
            columns |= {name: np.where(part.job > 0, getattr(part, name), np.nan) for name in JOB_COLUMNS}
        write_planned(folder, number, columns, hosts=part.hosts, tags=part.tags)
