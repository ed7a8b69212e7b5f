# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of random links: how many are drawn, from which links, and by which seed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sfc_testbed.scenarios.faults.fault import FaultError, LinkedFault
from sfc_testbed.scenarios.faults.spec import parse_fault
from sfc_testbed.topologies.model import Link
from sfc_testbed.topologies.routes import Paths
from sfc_testbed.topologies.shapes import shape

TREE = shape("fat-tree", {"k": 4}).build()


def _links(text: str, seed: int = 1) -> tuple[Link, ...]:
    fault = parse_fault(text).seeded(seed)
    assert isinstance(fault, LinkedFault)
    return fault.links(TREE)


@given(seed=st.integers(0, 2**31 - 1), share=st.integers(5, 40))
@settings(max_examples=40, deadline=None)
def test_hosts_stay_connected_without_the_links(seed: int, share: int) -> None:
    try:
        down = set(_links(f"links:{share}%,down=0us", seed))
    except FaultError:
        return
    assert len(down) == round(32 * share / 100)
    assert not any({link.a.node, link.b.node} & TREE.host.keys() for link in down)
    remaining = Paths(replace(TREE, links=tuple(link for link in TREE.links if link not in down)))
    assert all(remaining.between("h1", host.name) for host in TREE.hosts[1:])


def test_the_seed_decides_which_links() -> None:
    drawn = {_links("links:10%,down=0us", seed) for seed in range(20)}
    assert len(drawn) > 10
    assert _links("links:10%,down=0us", 3) == _links("links:10%,down=0us", 3)
    assert _links("links:10%,down=0us,seed=5", 1) == _links("links:10%,down=0us,seed=5", 2)


def test_all_links_can_be_slow_but_not_down() -> None:
    assert len(_links("links:100%,rate=50%")) == 32
    with pytest.raises(FaultError, match="without disconnecting hosts"):
        _links("links:100%,down=0us")
