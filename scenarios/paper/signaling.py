# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A 63:1 incast on a dumbbell with unlimited buffers (Fig. 1)."""

from __future__ import annotations

from scenarios.model.scenario import Scale, Scenario
from scenarios.traffic.incast import Incast

DEGREE = 63


_SCALE = Scale(
    "dumbbell",
    {"left_hosts": DEGREE, "trunk_rate_bps": 6_400_000_000_000},
    {"degree": DEGREE, "message_bytes": 850_000, "window_us": 50.0, "first_at_once": True},
    duration_ms=4.0,
    has_fixed_duration=True,
    switch={"buffer_bytes": None, "deployment": "all"},
)


SCENARIO = Scenario(
    "signaling",
    "63:1 incast on a dumbbell with unlimited buffers: OnRamp, egress BTS, ingress BTS, pause cache",
    Incast,
    {"ci": _SCALE, "laptop": _SCALE, "paper": _SCALE},
)
