# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The network and the flows of a stored run, made again from its folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from scenarios.files.flow_file import FILE_NAME, FlowList, read_flows
from scenarios.model.scenario import ScenarioError
from testbed.errors import UsageError
from topologies.model import Topology, TopologyError
from topologies.shapes import shape


def stored_flows(folder: Path, config: Mapping[str, object]) -> tuple[Topology, FlowList]:
    """UsageError, the end of a sentence, where the configuration or the list of flows is not there or wrong."""
    try:
        topology = shape(str(config["topology"]), config["topology_parameters"]).build()  # type: ignore[arg-type]
        return topology, read_flows(folder / FILE_NAME, topology)
    except KeyError as error:
        raise UsageError(f"config.json has no {error}") from error
    except (TypeError, ValidationError, TopologyError, ScenarioError) as error:
        raise UsageError(str(error)) from error
