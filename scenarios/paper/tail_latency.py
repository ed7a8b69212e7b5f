# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Three scenarios with heavy incasts that differ only in their message sizes (Figs. 7, 8 and 14)."""

from __future__ import annotations

from scenarios.model.scenario import Scenario
from scenarios.paper.data_centre import data_centre_scales, data_centre_scenario


def tail_latency_scenario(name: str, sizes: str, load: float, ci_arrivals_us: float) -> Scenario:
    """Return one of the three scenarios."""
    workload = {"sizes": sizes, "load": load, "incast_load": 0.08}
    summary = f"{sizes} messages at {round(100 * load)} % load plus 8 % of 128:1 incasts"
    return data_centre_scenario(name, summary, data_centre_scales(workload, ci_arrivals_us))
