# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of scenarios."""

from __future__ import annotations

from sfc_testbed.request.table import Table
from sfc_testbed.scenarios import allreduce, bystanders, datacentre, incast
from sfc_testbed.scenarios.paper import data_centre, fairness, incasts, testbed, theory

_SCENARIOS = (
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
SCENARIOS = Table("scenario", ((scenario.name, scenario) for scenario in _SCENARIOS))
"""Four general scenarios, then the scenarios of the paper's experiments in the paper's order."""
