# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""websearch messages at 50 % load with 8 % of 128:1 incasts (Fig. 14)."""

from __future__ import annotations

from scenarios.paper.data_centre import tail_latency_scenario

SCENARIO = tail_latency_scenario("websearch-50", "websearch", 0.5, ci_arrivals_us=1_500.0)
