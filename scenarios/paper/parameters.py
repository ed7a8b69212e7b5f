# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Hadoop at 50 % with 8 % incast, with several SFC thresholds (Fig. 11)."""

from __future__ import annotations

from scenarios.paper.data_centre import data_centre_scales, data_centre_scenario

SCENARIO = data_centre_scenario(
    "parameters",
    "hadoop at 50 % with 8 % incast, SFC's thresholds varied",
    data_centre_scales({"sizes": "hadoop", "load": 0.5, "incast_load": 0.08}, 1_000.0),
)
