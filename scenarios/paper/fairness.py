# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario in which groups of senders join and leave one link (Fig. 15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import Scale, Scenario, ScenarioError, Workload, senders_and_receiver
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np


class JoinAndLeave(Workload):
    """Groups of senders that start one step apart and, if they share the link fairly, finish one step apart.

    A message is as long as its fair share of the link. With G groups, group i sends from step i to step i + G.
    """

    groups: Annotated[int, Field(ge=1, le=64)] = Field(4, description="Groups of senders.")
    senders_per_group: Annotated[int, Field(ge=1, le=64)] = Field(4, description="Senders of a group.")
    step_us: Annotated[float, Field(gt=0, le=10_000_000)] = Field(
        500.0, description="Time from one group's start to the next."
    )

    window_us: Annotated[float, Field(ge=0, le=10_000_000)] = Field(
        100.0, description="Synchronization window in which a group's senders start; 0 starts them at once."
    )

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        senders, receiver = senders_and_receiver(topology, self.groups * self.senders_per_group)
        rate_bps = topology.host_link[receiver].rate_bps
        self._check_senders(topology, senders, rate_bps)
        requests = []
        for number, sender in enumerate(senders):
            group = number // self.senders_per_group
            steps = range(group, group + self.groups)
            share = sum(1 / self._sending_in(step) for step in steps) / self.senders_per_group
            size_bytes = round(share * rate_bps * self.step_us / 8e6)
            start_ns = round(1000 * (group * self.step_us + random.uniform(0, self.window_us)))
            requests.append(FlowRequest(sender, receiver, size_bytes, start_ns, f"group{group + 1}"))
        return requests

    def _check_senders(self, topology: Topology, senders: Sequence[str], rate_bps: int) -> None:
        """Refuse senders slower than their part of the link while their group is alone: they would finish late."""
        part_bps = rate_bps / self.senders_per_group
        slow = [name for name in senders if topology.host_link[name].rate_bps < part_bps]
        if slow:
            raise ScenarioError(
                f"{slow[0]} is slower than the {part_bps / 1e9:g} Gb/s that a sender has while its group is alone"
            )

    def _sending_in(self, step: int) -> int:
        """Return how many groups send in a step."""
        return sum(group <= step < group + self.groups for group in range(self.groups))


def _scale(step_us: float) -> Scale:
    # Fair sharing at full rate takes seven steps; the run may take three times as long.
    return Scale("dumbbell", {"left_hosts": 16}, {"step_us": step_us}, duration_ms=21 * step_us / 1000)


SCENARIO = Scenario(
    "fairness",
    "four groups of four senders join and leave one 100G link, DCQCN+W",
    JoinAndLeave,
    {"ci": _scale(1_500.0), "laptop": _scale(3_000.0), "paper": _scale(10_000.0)},
)
