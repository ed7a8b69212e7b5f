# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 8: tail latency of websearch traffic with 8 % of 128:1 incasts."""

from __future__ import annotations

from scenarios.experiments.tail_latency import tail_latency

EXPERIMENT = tail_latency("websearch-50", "websearch", 0.5, "Fig. 8", ci_arrivals_us=1_500.0)
