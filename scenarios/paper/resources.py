# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Incasts beside rpc or hadoop messages, to measure the state in switches (Table 2)."""

from __future__ import annotations

from scenarios.paper.data_centre import data_centre_scales, data_centre_scenario

SCENARIO = data_centre_scenario(
    "resources",
    "rpc and hadoop with 8 % incast: state in the switches",
    data_centre_scales({"incast_load": 0.08}, 600.0, payload_bytes=1_000),
)
