# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Scenario that replays a trace of an application: GOAL, Chakra or SimAI."""

from __future__ import annotations

from sfc_testbed.scenarios.model.scenario import Scale, Scenario
from sfc_testbed.scenarios.traffic.trace import Replay

SCENARIO = Scenario(
    name="trace",
    summary="replay of an application's trace (GOAL, Chakra or SimAI); file=FILE selects it",
    workload=Replay,
    scales={
        "ci": Scale("clos", {"hosts_per_tor": 8}, duration_ms=20, duration_from="serial_end"),
        "laptop": Scale("clos", {"hosts_per_tor": 24}, duration_ms=100, duration_from="serial_end"),
        "paper": Scale("paper-simulation", duration_ms=1_000, duration_from="serial_end"),
    },
)
