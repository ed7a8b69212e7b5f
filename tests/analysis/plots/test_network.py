# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Pictures of networks: rows by the distance from the hosts, and a file for every shape."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.analysis.plots.network import draw_network
from sfc_testbed.analysis.plots.places import tiers
from sfc_testbed.topologies.shapes import SHAPES, shape


def test_switches_are_in_the_row_of_their_distance_from_hosts() -> None:
    tier = tiers(shape("fat-tree", {"k": 4}).build())
    assert {name: tier[name] for name in ("tor8", "agg1", "core4")} == {"tor8": 1, "agg1": 2, "core4": 3}


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_can_be_drawn(name: str, tmp_path: Path) -> None:
    path = tmp_path / "net.svg"
    topology = shape(name, {}).build()
    draw_network(topology, path)
    text = path.read_text()
    assert f"{len(topology.hosts)} hosts, {len(topology.switches)} switches" in text or "<use" in text
    assert text.count("<use") >= len(topology.hosts) + len(topology.switches)


def test_the_end_of_the_name_decides_the_format(tmp_path: Path) -> None:
    draw_network(shape("star", {}).build(), tmp_path / "net.png")
    assert (tmp_path / "net.png").read_bytes().startswith(b"\x89PNG")
