# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""rpc messages at 30 % load with 8 % of 128:1 incasts (Fig. 8)."""

from __future__ import annotations

from scenarios.paper.data_centre import tail_latency_scenario

SCENARIO = tail_latency_scenario("rpc-30", "rpc", 0.3, ci_arrivals_us=700.0)
