# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of scenarios."""

from __future__ import annotations

from collections.abc import Mapping

from sfc_testbed.scenarios import allreduce, bystanders, datacentre, incast
from sfc_testbed.scenarios.model.scenario import Scenario
from sfc_testbed.scenarios.paper import data_centre, fairness, incasts, testbed, theory

SCENARIOS: Mapping[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        incast.SCENARIO,
        bystanders.SCENARIO,
        datacentre.SCENARIO,
        allreduce.SCENARIO,
        incasts.SIGNALING,
        data_centre.INCAST_DEGREE,
        testbed.TESTBED_INCAST,
        testbed.TESTBED_HOL,
        data_centre.HADOOP_50,
        data_centre.RPC_30,
        data_centre.WEBSEARCH_50,
        data_centre.HADOOP_80,
        data_centre.HADOOP_50_LIGHT,
        data_centre.PARAMETERS,
        data_centre.LONG_RTT,
        incasts.SYNCHRONIZATION,
        data_centre.RESOURCES,
        fairness.SCENARIO,
        theory.SCENARIO,
        data_centre.NDP,
        data_centre.RIVALS,
    )
}
"""Four general scenarios, then the scenarios of the paper's experiments in the paper's order."""
