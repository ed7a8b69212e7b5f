# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Hadoop messages at 80 % load: microbursts without incast (Fig. 9)."""

from __future__ import annotations

from scenarios.paper.data_centre import data_centre_scales, data_centre_scenario

SCENARIO = data_centre_scenario(
    "hadoop-80",
    "hadoop messages at 80 % load, no incast",
    data_centre_scales({"sizes": "hadoop", "load": 0.8, "incast_load": 0.0}, 700.0),
)
