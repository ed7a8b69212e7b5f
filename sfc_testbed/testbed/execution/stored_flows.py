# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Restores the network and the flows of a stored run from its folder."""

from __future__ import annotations

from pathlib import Path

from sfc_testbed.request.spec import RunConfig
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.flow_file import FILE_NAME, FlowList, read_flows
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.files.stored import topology_of
from sfc_testbed.topologies.model import Topology, TopologyError


def stored_flows(folder: Path, config: RunConfig | None) -> tuple[Topology, FlowList]:
    """Return the network and the flow list of a run.

    Raises UsageError, worded as the end of a sentence, if either is missing or invalid.
    """
    topology = stored_topology(config)
    try:
        return topology, read_flows(folder / FILE_NAME, topology)
    except ScenarioError as error:
        raise UsageError(str(error)) from error


def stored_topology(config: RunConfig | None) -> Topology:
    """Return the network of a run.

    Raises UsageError, worded as the end of a sentence, if the configuration is incomplete or invalid.
    """
    try:
        return topology_of(config)
    except TopologyError as error:
        raise UsageError(str(error)) from error
