# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 7: tail latency of rpc traffic with 8 % of 128:1 incasts."""

from __future__ import annotations

from scenarios.experiments.tail_latency import tail_latency

EXPERIMENT = tail_latency("rpc-30", "rpc", 0.3, "Fig. 7", ci_arrivals_us=700.0)
