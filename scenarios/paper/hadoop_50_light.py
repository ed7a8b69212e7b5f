# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Hadoop at 50 % with a lighter incast of 5 % (Fig. 10)."""

from __future__ import annotations

from scenarios.paper.data_centre import data_centre_scales, data_centre_scenario

SCENARIO = data_centre_scenario(
    "hadoop-50-light",
    "hadoop messages at 50 % load plus 5 % of 128:1 incasts",
    data_centre_scales({"sizes": "hadoop", "load": 0.5, "incast_load": 0.05}, 1_000.0),
)
