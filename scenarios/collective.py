# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario with jobs that repeat a collective, alone or beside an incast."""

from __future__ import annotations

from sfc_testbed.scenarios.model.scenario import Scale, Scenario
from sfc_testbed.scenarios.traffic.collective import CollectiveJobs

SCENARIO = Scenario(
    name="collective",
    summary="jobs that repeat all-reduce, all-to-all or another collective: time and bandwidth of each iteration",
    workload=CollectiveJobs,
    scales={
        "ci": Scale("clos", {"hosts_per_tor": 8}, {"iterations": 3}, duration_ms=20),
        "laptop": Scale(
            "clos",
            {"hosts_per_tor": 8, "tors": 8, "spines": 4},
            {"ranks": 32, "bytes": 8_000_000, "iterations": 5},
            duration_ms=50,
        ),
        "paper": Scale("paper-simulation", {}, {"ranks": 128, "bytes": 64_000_000, "iterations": 10}, duration_ms=500),
    },
)
