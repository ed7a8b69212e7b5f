# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Restores the network and the flows of a stored run from its folder."""

from __future__ import annotations

import shlex
from pathlib import Path

from pydantic import ValidationError

from sfc_testbed.request.shown import shown
from sfc_testbed.request.spec import RunConfig
from sfc_testbed.scenarios.model.scenario import ScenarioError
from sfc_testbed.scenarios.traffic.flow_file import FILE_NAME, FlowList, read_flows
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.checks import network_of_file
from sfc_testbed.topologies.model import Topology, TopologyError
from sfc_testbed.topologies.shapes import SHAPES, shape


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
    if config is None:
        raise UsageError("config.json cannot be read")
    if config.network_file is not None:
        return network_of_file(config.network_file, config.topology_parameters)
    if config.topology not in SHAPES:
        words = " ".join(f"--use {shlex.quote(extension.word)}" for extension in config.uses)
        added = f"; an extension may have added it: add {words}" if words else ""
        raise UsageError(f"there is no topology {shown(config.topology)}{added}")
    try:
        return shape(config.topology, config.topology_parameters).build()
    except (TypeError, ValidationError, TopologyError) as error:
        raise UsageError(str(error)) from error
