# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The scenarios with nothing but incasts and with unlimited buffers."""

from __future__ import annotations

from sfc_testbed.scenarios.model.scenario import Scale, Scenario
from sfc_testbed.scenarios.traffic.incast import Incast

SIGNALING_DEGREE = 63


_SIGNALING_SCALE = Scale(
    "dumbbell",
    {"left_hosts": SIGNALING_DEGREE, "trunk_rate_bps": 6_400_000_000_000},
    {"degree": SIGNALING_DEGREE, "message_bytes": 850_000, "window_us": 50.0, "first_at_once": True},
    duration_ms=4.0,
    has_fixed_duration=True,
    switch={"buffer_bytes": None, "deployment": "all"},
)


SIGNALING = Scenario(
    "signaling",
    "63:1 incast on a dumbbell with unlimited buffers: OnRamp, egress BTS, ingress BTS, pause cache",
    Incast,
    {"ci": _SIGNALING_SCALE, "laptop": _SIGNALING_SCALE, "paper": _SIGNALING_SCALE},
)
"""Fig. 1: the signals compared."""


def _synchronization_scale(topology: str, parameters: dict[str, int]) -> Scale:
    workload = {"message_bytes": 250_000, "placement": "remote"}
    return Scale(topology, parameters, workload, duration_ms=100, switch={"buffer_bytes": None})


SYNCHRONIZATION = Scenario(
    "synchronization",
    "incasts of three degrees, synchronized within 0 to 100 us, unlimited buffers",
    Incast,
    {
        "ci": _synchronization_scale("clos", {"tors": 4, "hosts_per_tor": 11, "spines": 4}),
        "laptop": _synchronization_scale("clos", {"tors": 4, "hosts_per_tor": 22, "spines": 6}),
        "paper": _synchronization_scale("paper-simulation", {}),
    },
)
"""Fig. 13: incasts that are synchronized within 0 to 100 us."""
