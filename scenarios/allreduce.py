# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario with a ring all-reduce, whose messages wait for one another, alone or beside an incast."""

from __future__ import annotations

from sfc_testbed.scenarios.model.scenario import Scale, Scenario
from sfc_testbed.scenarios.traffic.allreduce import AllReduce

SCENARIO = Scenario(
    name="allreduce",
    summary="ring all-reduce: each message waits for the one before; degree=N adds an incast beside it",
    workload=AllReduce,
    scales={
        "ci": Scale("clos", {"hosts_per_tor": 8}, {}, duration_ms=10),
        "laptop": Scale("clos", {"hosts_per_tor": 24}, {"ranks": 16, "vector_bytes": 4_000_000}, duration_ms=20),
        "paper": Scale(
            "paper-simulation", {}, {"ranks": 128, "vector_bytes": 64_000_000, "chunks": 2}, duration_ms=100
        ),
    },
)
