# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Hadoop at 50 % with 8 % incast, with two base round-trip times (Fig. 12)."""

from __future__ import annotations

from scenarios.paper.data_centre import data_centre_scales, data_centre_scenario

SCENARIO = data_centre_scenario(
    "long-rtt",
    "hadoop at 50 % with 8 % incast, base RTT 10 and 16 us",
    data_centre_scales({"sizes": "hadoop", "load": 0.5, "incast_load": 0.08}, 800.0),
)
