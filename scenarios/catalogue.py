# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table of scenarios."""

from __future__ import annotations

from sfc_testbed.request.table import Table
from sfc_testbed.scenarios.model.scenario import Scenario

SCENARIOS: Table[Scenario] = Table.of_modules(
    "scenario",
    "sfc_testbed.scenarios",
    {
        "incast": "incast:SCENARIO",
        "bystanders": "bystanders:SCENARIO",
        "datacentre": "datacentre:SCENARIO",
        "allreduce": "allreduce:SCENARIO",
        "collective": "collective:SCENARIO",
        "trace": "trace:SCENARIO",
        "signaling": "paper.incasts:SIGNALING",
        "incast-degree": "paper.data_centre:INCAST_DEGREE",
        "testbed-incast": "paper.testbed:TESTBED_INCAST",
        "testbed-hol": "paper.testbed:TESTBED_HOL",
        "hadoop-50": "paper.data_centre:HADOOP_50",
        "rpc-30": "paper.data_centre:RPC_30",
        "websearch-50": "paper.data_centre:WEBSEARCH_50",
        "hadoop-80": "paper.data_centre:HADOOP_80",
        "hadoop-50-light": "paper.data_centre:HADOOP_50_LIGHT",
        "parameters": "paper.data_centre:PARAMETERS",
        "long-rtt": "paper.data_centre:LONG_RTT",
        "synchronization": "paper.incasts:SYNCHRONIZATION",
        "resources": "paper.data_centre:RESOURCES",
        "fairness": "paper.fairness:SCENARIO",
        "theory": "paper.theory:SCENARIO",
        "ndp": "paper.data_centre:NDP",
        "rivals": "paper.data_centre:RIVALS",
        "ai-fabric": "ai_fabric:SCENARIO",
    },
)
"""Six general scenarios, then the scenarios of the paper's experiments in the paper's order."""
