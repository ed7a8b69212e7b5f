# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of scenarios."""

from __future__ import annotations

from collections.abc import Mapping

from scenarios import allreduce, bystanders, datacentre, incast
from scenarios.model.scenario import Scenario
from scenarios.paper import (
    fairness,
    hadoop_50,
    hadoop_50_light,
    hadoop_80,
    incast_degree,
    long_rtt,
    ndp,
    parameters,
    resources,
    rivals,
    rpc_30,
    signaling,
    synchronization,
    testbed_hol,
    testbed_incast,
    theory,
    websearch_50,
)

_MODULES = (
    incast,
    bystanders,
    datacentre,
    allreduce,
    signaling,
    incast_degree,
    testbed_incast,
    testbed_hol,
    hadoop_50,
    rpc_30,
    websearch_50,
    hadoop_80,
    hadoop_50_light,
    parameters,
    long_rtt,
    synchronization,
    resources,
    fairness,
    theory,
    ndp,
    rivals,
)

SCENARIOS: Mapping[str, Scenario] = {module.SCENARIO.name: module.SCENARIO for module in _MODULES}
"""Four general scenarios, then the scenarios of the paper's experiments in the paper's order."""
