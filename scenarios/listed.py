# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario for runs whose flows all come from a file (`--flows FILE`): the default network and duration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sfc_testbed.request.spec import FLOW_LIST
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import Scale, Scenario, Workload
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np


class NoTraffic(Workload):
    """An empty workload without parameters; all flows come from the file of `--flows`."""

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        return []


LISTED = Scenario(
    name=FLOW_LIST,
    summary="Flows of a file.",
    workload=NoTraffic,
    scales={"ci": Scale("clos", {"hosts_per_tor": 8}, duration_ms=20.0, duration_from="last_start")},
)
"""A network of 16 hosts unless --topology selects another; the run ends at most 20 ms after the last flow starts."""
