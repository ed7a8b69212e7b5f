# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Builds the network of a stored run from its configuration."""

from __future__ import annotations

import shlex

from pydantic import ValidationError

from sfc_testbed.request.extensions import described
from sfc_testbed.request.network_file import SETTING
from sfc_testbed.request.shown import shown
from sfc_testbed.request.spec import RunConfig
from sfc_testbed.topologies.files.network import FileNetwork
from sfc_testbed.topologies.model import Topology, TopologyError
from sfc_testbed.topologies.shapes import SHAPES, shape


def topology_of(config: RunConfig | None) -> Topology:
    """Return the network of a run.

    Raises TopologyError, worded as the end of a sentence, if the configuration is incomplete or invalid.
    """
    if config is None:
        raise TopologyError("config.json cannot be read")
    try:
        if config.network_file is not None:
            typed = {name: value for name, value in config.topology_parameters.items() if name != _FILE}
            return FileNetwork(**typed).build_from(config.network_file)
        if config.topology not in SHAPES:
            words = " ".join(f"--use {shlex.quote(extension.word)}" for extension in config.uses)
            added = f"; an extension may have added it: add {words}" if words else ""
            raise TopologyError(f"there is no topology {shown(config.topology)}{added}")
        return shape(config.topology, config.topology_parameters).build()
    except TopologyError:
        raise
    except (TypeError, ValidationError) as error:
        raise TopologyError(str(error)) from error
    except Exception as error:
        if config.topology not in SHAPES or SHAPES.owner(config.topology) is None:
            raise
        raise TopologyError(described(error)) from error  # the code of an extension


_FILE = SETTING.partition(".")[2]
