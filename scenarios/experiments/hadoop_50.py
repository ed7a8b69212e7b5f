# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 6: tail latency of hadoop traffic with 8 % of 128:1 incasts."""

from __future__ import annotations

from scenarios.experiments.tail_latency import tail_latency

EXPERIMENT = tail_latency("hadoop-50", "hadoop", 0.5, "Fig. 6", ci_arrivals_us=1_500.0)
