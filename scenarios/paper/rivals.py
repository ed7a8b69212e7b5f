# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Incasts beside hadoop or rpc messages, to compare SFC with other flow and congestion controls."""

from __future__ import annotations

from scenarios.paper.data_centre import data_centre_scales, data_centre_scenario

SCENARIO = data_centre_scenario(
    "rivals",
    "rpc and hadoop with 8 % incast: every flow and congestion control",
    data_centre_scales({"incast_load": 0.08}, 1_000.0),
)
