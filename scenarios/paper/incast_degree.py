# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Incasts of growing degree beside hadoop messages, unlimited buffers (Fig. 2)."""

from __future__ import annotations

from scenarios.model.scenario import Scale, Scenario
from scenarios.paper.data_centre import SMALL_SCALE_PAYLOAD_BYTES
from scenarios.traffic.datacentre import DataCentre

_UNLIMITED = {"buffer_bytes": None}


# The paper's largest incast, 63 senders within 50 us; smaller scales keep its rate of senders.
_PAPER_LARGEST = 63


_WINDOW_US_PER_SENDER = 50 / _PAPER_LARGEST


def _scale(hosts_per_tor: int, spines: int, largest: int, arrivals_us: float) -> Scale:
    workload = {
        "sizes": "hadoop",
        "load": 0.5,
        "incast_load": 0.08,
        "incast_window_us": _WINDOW_US_PER_SENDER * largest,
        "incast_spacing": "poisson" if largest == _PAPER_LARGEST else "even",
        "arrivals_us": arrivals_us,
        "warmup_us": 50.0,
        "cooldown_us": 50.0,
    }
    topology = {"hosts_per_tor": hosts_per_tor, "spines": spines}
    transport = {} if largest == _PAPER_LARGEST else {"payload_bytes": SMALL_SCALE_PAYLOAD_BYTES}
    return Scale(
        "clos", topology, {**workload, "incast_degree": largest}, duration_ms=40, switch=_UNLIMITED, transport=transport
    )


SCENARIO = Scenario(
    "incast-degree",
    "hadoop at 50 % with 8 % incasts of growing degree, unlimited buffers",
    DataCentre,
    {"ci": _scale(16, 4, 31, 900.0), "laptop": _scale(24, 6, 47, 2_500.0), "paper": _scale(32, 8, 63, 10_000.0)},
)
