# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario with an incast and small messages of other hosts that share the receiver's switch."""

from __future__ import annotations

from sfc_testbed.scenarios.model.scenario import Scale, Scenario
from sfc_testbed.scenarios.traffic.bystanders import Bystanders

SCENARIO = Scenario(
    name="bystanders",
    summary="an incast beside small messages that share its switch: how much does it delay them?",
    workload=Bystanders,
    scales={
        "ci": Scale("clos", {"hosts_per_tor": 12}, {"degree": 8, "small_us": 250}, duration_ms=10),
        "laptop": Scale("clos", {"hosts_per_tor": 24}, {"degree": 20}, duration_ms=20),
        "paper": Scale(
            "paper-simulation", {}, {"degree": 128, "placement": "spread", "small_us": 2_600}, duration_ms=40
        ),
    },
)
