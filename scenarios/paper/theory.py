# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario in which senders join one that transmits at line rate (appendix C)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.scenario import Scale, Scenario, Workload, senders_and_receiver
from sfc_testbed.topologies.model import Topology

if TYPE_CHECKING:
    import numpy as np

PAYLOAD_BYTES = 1_000
LATE = "late"


class Joining(Workload):
    """A sender at line rate. Others join it at the same time, and optionally one more joins later."""

    joiners: Annotated[int, Field(ge=1, le=1_000)] = Field(1, description="Senders that join at the same instant.")
    join_us: Annotated[float, Field(ge=0)] = Field(40.0, description="Time at which they join.")
    late_us: float | None = Field(None, description="Time at which one more sender joins; null: none joins.")
    message_bytes: Annotated[int, Field(ge=1)] = Field(4_000_000, description="Bytes of each message.")

    def flows(self, topology: Topology, random: np.random.Generator) -> list[FlowRequest]:
        starts = [(0.0, "steady"), *[(self.join_us, "joiner")] * self.joiners]
        if self.late_us is not None:
            starts.append((self.late_us, LATE))
        senders, receiver = senders_and_receiver(topology, len(starts))
        return [
            FlowRequest(sender, receiver, self.message_bytes, round(start_us * 1000), tag)
            for sender, (start_us, tag) in zip(senders, starts, strict=True)
        ]


SCENARIO = Scenario(
    "theory",
    "senders join one that transmits at line rate: the bounds of appendix C",
    Joining,
    {
        name: Scale(
            "dumbbell",
            {"left_hosts": 2},
            {},
            duration_ms=0.06,
            has_fixed_duration=True,
            switch={"buffer_bytes": None, "deployment": "all", "suppression_ns": 0},
            transport={"payload_bytes": PAYLOAD_BYTES},
        )
        for name in ("ci", "laptop", "paper")
    },
)
