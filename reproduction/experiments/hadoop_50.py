# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 7: tail latency of Hadoop traffic with a load of 8 % of 128:1 incasts."""

from __future__ import annotations

from reproduction.experiments.tail_latency import tail_latency
from scenarios.paper.hadoop_50 import SCENARIO

EXPERIMENT = tail_latency(SCENARIO, "Hadoop at 50 % load", "Fig. 7")
