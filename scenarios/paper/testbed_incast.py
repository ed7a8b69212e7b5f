# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Incasts of 8 to 40 senders with 25 flows each on the paper's 48-node testbed (Fig. 5)."""

from __future__ import annotations

from scenarios.model.scenario import Scale, Scenario
from scenarios.traffic.incast import Incast

NICS = {"congestion_notice": "cnp"}
"""Host settings of the paper's testbed: RoCEv2 NICs report marked packets in CNPs. The hosts of the HPCC simulator,
which the paper's simulations use, report them in acknowledgements."""


def _scale(message_bytes: int) -> Scale:
    workload = {"flows_per_sender": 25, "message_bytes": message_bytes, "window_us": 50.0, "placement": "spread"}
    switch = {"buffer_bytes": 16_000_000}
    return Scale("paper-testbed", {}, {"degree": 40, **workload}, duration_ms=100, switch=switch, transport=NICS)


SCENARIO = Scenario(
    "testbed-incast",
    "incasts of 8 to 40 senders with 25 flows each on the paper's testbed",
    Incast,
    {"ci": _scale(30_000), "laptop": _scale(100_000), "paper": _scale(1_000_000)},
)
