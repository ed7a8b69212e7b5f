# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Networks of texts, for the tests of all formats."""

from __future__ import annotations

from typing import Any

import pytest

from sfc_testbed.request.network_file import NetworkFile
from sfc_testbed.topologies.files.network import FileNetwork
from sfc_testbed.topologies.model import Topology, TopologyError


def network(text: str, name: str = "net.txt", **parameters: Any) -> Topology:
    """Return the network of a file with this text. TopologyError if it is invalid."""
    return FileNetwork(**parameters).build_from(NetworkFile(f"folder/{name}", "", text))


def refusal(text: str, name: str = "net.txt") -> str:
    """Return the line with which a file with this text is refused."""
    with pytest.raises(TopologyError) as refused:
        network(text, name)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def links_of(topology: Topology) -> set[tuple[str, str, int, int]]:
    return {(link.a.node, link.b.node, link.rate_bps, link.delay_ns) for link in topology.links}
