# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The three scales of the data-centre experiments and the rule that derives the small scales from the paper's.

The rule: an incast of N senders keeps the paper's senders per microsecond and its share of the buffer. Window and
buffer therefore shrink with N / 128. Packets are larger. Rates, delays, thresholds and message sizes stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scenarios.model.scenario import Scale, ScaleName, Scenario
from scenarios.traffic.datacentre import DataCentre

PAPER_DEGREE = 128
PAPER_WINDOW_US = 100.0
PAPER_BUFFER_BYTES = 32_000_000
CI_DEGREE = 31
LAPTOP_DEGREE = 63
SMALL_SCALE_PAYLOAD_BYTES = 4_000
"""The MTU of the paper's appendix C. With a quarter of the packets, a larger network fits the same run time."""

SCALING_RULE = (
    "At scales ci and laptop an incast has 31 and 63 senders. The incast's window and the switches' buffers are the "
    "paper's, multiplied by senders / 128: senders arrive at the paper's rate and fill the same share of the buffer. "
    "Incasts are evenly spaced, because a short run might otherwise have none by chance."
)
SCALING_NOTE = f"{SCALING_RULE} Packets carry {SMALL_SCALE_PAYLOAD_BYTES:,} B."


def data_centre_scales(
    workload: Mapping[str, Any], ci_arrivals_us: float, *, payload_bytes: int = SMALL_SCALE_PAYLOAD_BYTES
) -> dict[ScaleName, Scale]:
    """Return the three scales of a data-centre experiment; `payload_bytes` applies to scales ci and laptop."""

    def scale(topology: str, parameters: Mapping[str, Any], degree: int, arrivals_us: float, ms: float) -> Scale:
        traffic = {
            "incast_degree": degree,
            "incast_window_us": PAPER_WINDOW_US * degree / PAPER_DEGREE,
            "incast_spacing": "poisson" if degree == PAPER_DEGREE else "even",
            "arrivals_us": arrivals_us,
            "warmup_us": 100.0,
            "cooldown_us": 100.0,
            **workload,
        }
        settings = {"buffer_bytes": PAPER_BUFFER_BYTES * degree // PAPER_DEGREE}
        payload = {} if degree == PAPER_DEGREE else {"payload_bytes": payload_bytes}
        return Scale(topology, parameters, traffic, duration_ms=ms, switch=settings, transport=payload)

    return {
        "ci": scale("clos", {"hosts_per_tor": 16, "spines": 4}, CI_DEGREE, ci_arrivals_us, 20),
        "laptop": scale("clos", {"tors": 4, "hosts_per_tor": 16, "spines": 4}, LAPTOP_DEGREE, 2_500.0, 40),
        "paper": scale("paper-simulation", {}, PAPER_DEGREE, 10_000.0, 200),
    }


def data_centre_scenario(name: str, summary: str, scales: Mapping[ScaleName, Scale]) -> Scenario:
    """Return a scenario with data-centre traffic."""
    return Scenario(name, summary, DataCentre, scales)


def tail_latency_scenario(name: str, sizes: str, load: float, ci_arrivals_us: float) -> Scenario:
    """Return a scenario with incasts of 8 % load; `hadoop-50`, `rpc-30` and `websearch-50` differ in sizes and load."""
    workload = {"sizes": sizes, "load": load, "incast_load": 0.08}
    summary = f"{sizes} messages at {round(100 * load)} % load plus 8 % of 128:1 incasts"
    return data_centre_scenario(name, summary, data_centre_scales(workload, ci_arrivals_us))
