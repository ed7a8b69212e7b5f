# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Incasts without other traffic, synchronized within 0 to 100 us, unlimited buffers (Fig. 13)."""

from __future__ import annotations

from scenarios.model.scenario import Scale, Scenario
from scenarios.traffic.incast import Incast


def _scale(topology: str, parameters: dict[str, int]) -> Scale:
    workload = {"message_bytes": 250_000, "placement": "remote"}
    return Scale(topology, parameters, workload, duration_ms=100, switch={"buffer_bytes": None})


SCENARIO = Scenario(
    "synchronization",
    "incasts of three degrees, synchronized within 0 to 100 us, unlimited buffers",
    Incast,
    {
        "ci": _scale("clos", {"tors": 4, "hosts_per_tor": 11, "spines": 4}),
        "laptop": _scale("clos", {"tors": 4, "hosts_per_tor": 22, "spines": 6}),
        "paper": _scale("paper-simulation", {}),
    },
)
