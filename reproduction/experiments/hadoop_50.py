# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 7: tail latency of Hadoop traffic with a load of 8 % of 128:1 incasts."""

from __future__ import annotations

from reproduction.experiments.tail_latency import SFC, tail_latency
from reproduction.model.claims import Ratio
from reproduction.model.quantities import slowdown
from scenarios.paper.hadoop_50 import SCENARIO

_STANDARD = {"PFC": "pfc+hpcc", "go-back-N": "gbn+hpcc"}
"""The mechanisms of standard RoCEv2."""

EXPERIMENT = tail_latency(
    SCENARIO,
    "Hadoop at 50 % load",
    "Fig. 7",
    tuple(_STANDARD.values()),
    tuple(
        Ratio(
            f"SFC's P99 FCT slowdown of the non-incast traffic is at least 100 times better than with {name}",
            "often 2 orders of magnitude (not shown)",
            slowdown(99),
            SFC,
            scheme,
            at_most=1 / 100,
        )
        for name, scheme in _STANDARD.items()
    ),
)
