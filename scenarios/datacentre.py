# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario with Poisson all-to-all messages of a published workload plus Poisson incasts."""

from __future__ import annotations

from sfc_testbed.scenarios.model.scenario import Scale, Scenario
from sfc_testbed.scenarios.traffic.datacentre import DataCentre

SCENARIO = Scenario(
    name="datacentre",
    summary="Poisson all-to-all messages of a published workload plus Poisson incasts",
    workload=DataCentre,
    scales={
        "ci": Scale(
            "clos",
            {"hosts_per_tor": 8},
            {"incast_degree": 15, "incast_window_us": 12, "arrivals_us": 1_000},
            duration_ms=20,
        ),
        "laptop": Scale(
            "clos",
            {"tors": 4, "hosts_per_tor": 16},
            {"incast_degree": 63, "incast_window_us": 50, "arrivals_us": 2_000},
            duration_ms=40,
        ),
        "paper": Scale("paper-simulation", {}, {"arrivals_us": 10_000}, duration_ms=200),
    },
)
