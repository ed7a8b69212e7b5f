# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A ring all-reduce: messages that wait for one another, alone or beside an incast."""

from __future__ import annotations

from scenarios.model.scenario import Scale, Scenario
from scenarios.traffic.allreduce import AllReduce

SCENARIO = Scenario(
    name="allreduce",
    summary="ranks add up a vector round a ring, each message after the one before; degree=N puts an incast beside it",
    workload=AllReduce,
    scales={
        "ci": Scale("clos", {"hosts_per_tor": 8}, {}, duration_ms=10),
        "laptop": Scale("clos", {"hosts_per_tor": 24}, {"ranks": 16, "vector_bytes": 4_000_000}, duration_ms=20),
        "paper": Scale(
            "paper-simulation", {}, {"ranks": 128, "vector_bytes": 64_000_000, "chunks": 2}, duration_ms=100
        ),
    },
)
