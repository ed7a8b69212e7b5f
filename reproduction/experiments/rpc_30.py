# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 8: tail latency of RPC traffic with a load of 8 % of 128:1 incasts."""

from __future__ import annotations

from reproduction.experiments.tail_latency import tail_latency
from scenarios.paper.rpc_30 import SCENARIO

EXPERIMENT = tail_latency(SCENARIO, "RPC at 30 % load", "Fig. 8")
