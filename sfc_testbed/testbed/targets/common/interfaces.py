# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Names of the interfaces of a live network."""

from __future__ import annotations

from sfc_testbed.topologies.model import Port, Topology

HOST_INTERFACE = "{name}-eth0"
SWITCH_INTERFACE = "{name}-eth{port}"


def interface_of(topology: Topology, end: Port) -> str:
    """Return the name of the interface at one end of a link."""
    if end.node in topology.host:
        return HOST_INTERFACE.format(name=end.node)
    return SWITCH_INTERFACE.format(name=end.node, port=end.number)
