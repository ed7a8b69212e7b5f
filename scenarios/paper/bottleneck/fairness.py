# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Groups of senders join and leave one link (Fig. 15)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from scenarios.model.flow import FlowRequest
from scenarios.model.scenario import Scale, Scenario, ScenarioError, Workload
from topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np


class JoinAndLeave(Workload):
    """Groups of senders start one step after the other and, sharing fairly, finish one step after the other.

    A message is as long as its fair share of the link: with G groups, group i sends from step i to step i + G.
    """

    groups: Annotated[int, Field(ge=1, le=64)] = Field(4, description="Groups of senders.")
    senders_per_group: Annotated[int, Field(ge=1, le=64)] = Field(4, description="Senders of a group.")
    step_us: Annotated[float, Field(gt=0, le=10_000_000)] = Field(500.0, description="From one group to the next.")

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        needed = self.groups * self.senders_per_group
        *senders, receiver = (host.name for host in topology.hosts)
        if len(senders) < needed:
            raise ScenarioError(f"{needed} senders and a receiver do not fit {len(topology.hosts)} hosts")
        rate_bps = topology.host_link[receiver].rate_bps
        self._check_senders(topology, senders[:needed], rate_bps)
        found = []
        for number, sender in enumerate(senders[:needed]):
            group = number // self.senders_per_group
            steps = range(group, group + self.groups)
            share = sum(1 / self._sending_in(step) for step in steps) / self.senders_per_group
            size_bytes = round(share * rate_bps * self.step_us / 8e6)
            found.append(
                FlowRequest(sender, receiver, size_bytes, round(group * self.step_us * 1000), f"group{group + 1}")
            )
        return found

    def _check_senders(self, topology: Topology, senders: Sequence[str], rate_bps: int) -> None:
        """Alone, a group takes the whole link: a sender that is slower than its part of it falls behind the steps."""
        part_bps = rate_bps / self.senders_per_group
        slow = [name for name in senders if topology.host_link[name].rate_bps < part_bps]
        if slow:
            raise ScenarioError(
                f"{slow[0]} is slower than the {part_bps / 1e9:g} Gb/s that a sender has while its group is alone"
            )

    def _sending_in(self, step: int) -> int:
        """How many groups send in a step."""
        return sum(group <= step < group + self.groups for group in range(self.groups))


def _scale(step_us: float) -> Scale:
    # Three times the seven steps that fair sharing at full rate takes.
    return Scale("dumbbell", {"left_hosts": 16}, {"step_us": step_us}, duration_ms=21 * step_us / 1000)


SCENARIO = Scenario(
    "fairness",
    "four groups of four senders join and leave one 100G link, DCQCN+W",
    JoinAndLeave,
    {"ci": _scale(1_500.0), "laptop": _scale(3_000.0), "paper": _scale(10_000.0)},
)
