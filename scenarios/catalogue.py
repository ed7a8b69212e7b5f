# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The tables of scenarios and of experiments."""

from __future__ import annotations

from collections.abc import Mapping

from scenarios import datacentre, incast
from scenarios.experiment import Experiment
from scenarios.experiments import (
    fairness,
    hadoop_50,
    hadoop_50_light,
    hadoop_80,
    incast_degree,
    long_rtt,
    parameters,
    resources,
    rpc_30,
    signaling,
    synchronization,
    testbed_hol,
    testbed_incast,
    theory,
    websearch_50,
)
from scenarios.scenario import Scenario

_MODULES = (
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
)

EXPERIMENTS: Mapping[str, Experiment] = {module.EXPERIMENT.name: module.EXPERIMENT for module in _MODULES}
"""The experiments of the paper, in its order."""

SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        incast.SCENARIO,
        datacentre.SCENARIO,
        *(experiment.scenario for experiment in EXPERIMENTS.values()),
    )
}
