# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The stand-in for a scenario where a file alone has the flows (`--flows FILE`): its network and its duration."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenarios.model.flow import FlowRequest
from scenarios.model.scenario import Scale, Scenario, Workload
from topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np


class NoTraffic(Workload):
    """A workload without parameters: the file has the flows."""

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        return []


LISTED = Scenario(
    name="flows",
    summary="Flows of a file.",
    workload=NoTraffic,
    scales={"ci": Scale("clos", {"hosts_per_tor": 8}, duration_ms=20.0)},
)
"""16 hosts unless another topology is asked for; at most 20 ms after the start of the last flow."""
