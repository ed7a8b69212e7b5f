# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The scenarios with data-centre traffic, and the rule that derives the small scales from the paper's.

The rule: an incast of N senders keeps the paper's senders per microsecond and its share of the buffer. Window and
buffer therefore shrink with N / 128. Packets are larger. Rates, delays, thresholds and message sizes stay the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sfc_testbed.scenarios.model.scenario import Scale, ScaleName, Scenario
from sfc_testbed.scenarios.traffic.datacentre import DataCentre
from sfc_testbed.wire.constants import DEFAULT_PAYLOAD_BYTES

PAPER_DEGREE = 128
PAPER_WINDOW_US = 100.0
PAPER_BUFFER_BYTES = 32_000_000
PAPER_INCAST_BYTES = 250_000
CI_DEGREE = 31
LAPTOP_DEGREE = 63
SMALL_SCALE_PAYLOAD_BYTES = 4_000
"""The MTU of the paper's appendix C. With a quarter of the packets, a larger network fits the same run time."""

SCALING_RULE = (
    "At scales ci and laptop, an incast has 31 and 63 senders instead of 128, and its start interval and the buffers "
    "are smaller in proportion. Incasts are evenly spaced: with random starts a short run may have no incast."
)
SCALING_NOTE = f"{SCALING_RULE} Packets carry {SMALL_SCALE_PAYLOAD_BYTES:,} B."


def _scales(
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


def _scenario(name: str, summary: str, scales: Mapping[ScaleName, Scale]) -> Scenario:
    """Return a scenario with data-centre traffic."""
    return Scenario(name, summary, DataCentre, scales)


def _tail_latency(name: str, sizes: str, load: float, ci_arrivals_us: float) -> Scenario:
    """Return a scenario with incasts of 8 % load."""
    workload = {"sizes": sizes, "load": load, "incast_load": 0.08}
    summary = f"{sizes} messages at {round(100 * load)} % load plus 8 % of 128:1 incasts"
    return _scenario(name, summary, _scales(workload, ci_arrivals_us))


HADOOP_50 = _tail_latency("hadoop-50", "hadoop", 0.5, ci_arrivals_us=1_500.0)
"""Fig. 7."""
RPC_30 = _tail_latency("rpc-30", "rpc", 0.3, ci_arrivals_us=700.0)
"""Fig. 8."""
WEBSEARCH_50 = _tail_latency("websearch-50", "websearch", 0.5, ci_arrivals_us=1_500.0)
"""Fig. 14."""

HADOOP_80 = _scenario(
    "hadoop-80",
    "hadoop messages at 80 % load, no incast",
    _scales({"sizes": "hadoop", "load": 0.8, "incast_load": 0.0}, 700.0),
)
"""Fig. 9: microbursts without incast."""

HADOOP_50_LIGHT = _scenario(
    "hadoop-50-light",
    "hadoop messages at 50 % load plus 5 % of 128:1 incasts",
    _scales({"sizes": "hadoop", "load": 0.5, "incast_load": 0.05}, 1_000.0),
)
"""Fig. 10: a lighter incast."""

PARAMETERS = _scenario(
    "parameters",
    "hadoop at 50 % with 8 % incast, SFC's thresholds varied",
    _scales({"sizes": "hadoop", "load": 0.5, "incast_load": 0.08}, 1_000.0),
)
"""Fig. 11: several thresholds of SFC."""

LONG_RTT = _scenario(
    "long-rtt",
    "hadoop at 50 % with 8 % incast, base RTT 10 and 16 us",
    _scales({"sizes": "hadoop", "load": 0.5, "incast_load": 0.08}, 800.0),
)
"""Fig. 12: two base RTTs."""

RESOURCES = _scenario(
    "resources",
    "rpc and hadoop with 8 % incast: state in the switches",
    _scales({"incast_load": 0.08}, 600.0, payload_bytes=1_000),
)
"""Table 2: the state in switches."""

RIVALS = _scenario(
    "rivals",
    "rpc and hadoop with 8 % incast: every flow and congestion control",
    _scales({"incast_load": 0.08}, 1_000.0),
)
"""SFC and other flow and congestion controls, which the paper does not compare."""


def _with_headers(scale: Scale) -> Scale:
    """Scale NDP's header queue (the paper's 1 BDP) so that it holds the same share of a smaller incast's headers."""
    return replace(scale, switch={**scale.switch, "header_queue_bdp": scale.workload["incast_degree"] / PAPER_DEGREE})


# Packets have the paper's size at every scale: with larger packets, headers arrive too slowly to build up a queue.
_NDP_SCALES = _scales(
    {"sizes": "hadoop", "load": 0.5, "incast_load": 0.08}, 1_000.0, payload_bytes=DEFAULT_PAYLOAD_BYTES
)

NDP = _scenario(
    "ndp",
    "hadoop messages at 50 % load plus 8 % of 128:1 incasts, to compare NDP's short queues with SFC's",
    {name: _with_headers(scale) for name, scale in _NDP_SCALES.items()},
)
"""Fig. 16: SFC and NDP, with incasts of varied synchronization."""

_LARGEST_DEGREE = 63
"""The paper's largest incast, 63 senders within 50 us; smaller scales keep its rate of senders."""
_WINDOW_US_PER_SENDER = 50 / _LARGEST_DEGREE


def _degree_scale(hosts_per_tor: int, spines: int, largest: int, arrivals_us: float) -> Scale:
    workload = {
        "sizes": "hadoop",
        "load": 0.5,
        "incast_load": 0.08,
        "incast_window_us": _WINDOW_US_PER_SENDER * largest,
        "incast_spacing": "poisson" if largest == _LARGEST_DEGREE else "even",
        "arrivals_us": arrivals_us,
        "warmup_us": 50.0,
        "cooldown_us": 50.0,
        "incast_degree": largest,
    }
    topology = {"hosts_per_tor": hosts_per_tor, "spines": spines}
    payload = {} if largest == _LARGEST_DEGREE else {"payload_bytes": SMALL_SCALE_PAYLOAD_BYTES}
    return Scale("clos", topology, workload, duration_ms=40, switch={"buffer_bytes": None}, transport=payload)


INCAST_DEGREE = _scenario(
    "incast-degree",
    "hadoop at 50 % with 8 % incasts of growing degree, unlimited buffers",
    {
        "ci": _degree_scale(16, 4, 31, 900.0),
        "laptop": _degree_scale(24, 6, 47, 2_500.0),
        "paper": _degree_scale(32, 8, 63, 10_000.0),
    },
)
"""Fig. 2: incasts of growing degree, unlimited buffers."""
