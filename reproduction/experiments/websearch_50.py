# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 14: tail latency of web search traffic with a load of 8 % of 128:1 incasts."""

from __future__ import annotations

from reproduction.experiments.tail_latency import tail_latency
from scenarios.paper.websearch_50 import SCENARIO

EXPERIMENT = tail_latency(SCENARIO, "web search at 50 % load", "Fig. 14")
