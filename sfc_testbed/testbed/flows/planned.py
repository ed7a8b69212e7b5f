# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The planned columns of the flows trace, computed a part at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.telemetry.flow_parts import PLANNED
from sfc_testbed.testbed.flows.ideal import IdealTimes, ideal_times_ns
from sfc_testbed.topologies.model import Topology

PART_FLOWS = 1 << 17
"""Flows whose planned rows are in memory at a time."""


def planned_parts(
    topology: Topology, flows: FlowTable, transport: TransportSettings, *, is_sprayed: bool
) -> Iterator[pl.DataFrame]:
    """Yield the planned columns of at most PART_FLOWS flows at a time."""
    for begin in range(0, len(flows), PART_FLOWS):
        part = flows.part(begin, begin + PART_FLOWS)
        ideal = ideal_times_ns(
            topology, part, transport.payload_bytes, nic_bps=transport.line_rate_bps, is_sprayed=is_sprayed
        )
        yield _planned(part, ideal, begin + 1)


def _planned(flows: FlowTable, ideal: IdealTimes, first_id: int) -> pl.DataFrame:
    hosts, tags = (pl.Series(names, dtype=pl.String) for names in (flows.hosts, flows.tags))
    waits = np.isin(np.arange(len(flows)), list(flows.waits))
    columns = {
        "flow_id": np.arange(len(flows)) + first_id,
        "src": hosts.gather(flows.src),
        "dst": hosts.gather(flows.dst),
        "tag": tags.gather(flows.tag),
        "size_bytes": flows.size_bytes,
        "start_us": pl.Series(flows.start_ns / 1000).set(pl.Series(waits), None),
        "ideal_fct_us": ideal.acknowledged / 1000,
    }
    return pl.DataFrame(columns, schema=dict(PLANNED.dtypes))
