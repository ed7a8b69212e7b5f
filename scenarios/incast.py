# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario in which N senders push one message each to one receiver."""

from __future__ import annotations

from sfc_testbed.scenarios.model.scenario import Scale, Scenario
from sfc_testbed.scenarios.traffic.incast import Incast

SCENARIO = Scenario(
    name="incast",
    summary="N senders push one message each to one receiver within a synchronization window",
    workload=Incast,
    scales={
        "ci": Scale("clos", {"hosts_per_tor": 8}, {"degree": 8}, duration_ms=10),
        "laptop": Scale("clos", {"hosts_per_tor": 24}, {"degree": 24}, duration_ms=20),
        "paper": Scale("paper-simulation", {}, {"degree": 128, "placement": "spread"}, duration_ms=40),
    },
)
