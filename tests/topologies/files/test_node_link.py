# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Node-link JSON, as NetworkX writes it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sfc_testbed.topologies.files.node_link import as_node_link
from sfc_testbed.topologies.shapes import SHAPES, shape
from tests.topologies.files.networks import links_of, network, refusal

GRAPH: dict[str, Any] = {
    "directed": False,
    "multigraph": False,
    "graph": {},
    "nodes": [{"id": "a"}, {"id": "leaf-switch-1"}, {"id": 7}, {"id": "spine", "type": "switch"}],
    "edges": [
        {"source": "a", "target": "leaf-switch-1", "rate": "25Gbps", "delay_ns": 300},
        {"source": 7, "target": "leaf-switch-1", "bw": 1000, "delay": "2us"},
        {"source": "leaf-switch-1", "target": "spine"},
    ],
}


def test_nodes_with_one_link_are_hosts_unless_they_have_a_type() -> None:
    """A name that no interface can have is replaced, and the run says so."""
    built = network(json.dumps(GRAPH))
    assert [host.name for host in built.hosts] == ["a", "h1"]
    assert [switch.name for switch in built.switches] == ["s1", "spine"]
    assert ("a", "s1", 25_000_000_000, 300) in links_of(built)
    assert ("h1", "s1", 1_000_000_000, 2_000) in links_of(built)
    assert "net.txt: renamed nodes: h1 is '7', s1 is 'leaf-switch-1'." in built.notes


@pytest.mark.parametrize("name", SHAPES)
def test_a_network_is_the_same_after_export(name: str) -> None:
    original = shape(name, {}).build()
    text = json.dumps(as_node_link(original))
    again = network(text)
    assert (again.hosts, again.links) == (original.hosts, original.links)
    assert [switch.name for switch in again.switches] == [switch.name for switch in original.switches]
    assert again.notes == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"directed": True}, "the graph is directed"),
        ({"nodes": [{"id": "a"}, {"id": "a"}]}, "node 'a' is given twice"),
        ({"nodes": [{"name": "a"}]}, "a node is an object with an id"),
        ({"nodes": [{"id": "a", "type": "toaster"}]}, "type of node 'a': must be host, server, switch, not 'toaster'"),
        ({"edges": [{"source": "a"}]}, "a link is an object with source and target"),
        ({"edges": [{"source": "a", "target": "b", "rate": 5}]}, "rate must be a rate such as"),
        ({"edges": [{"source": "a", "target": "b", "rate": "5G", "bw": 5}]}, "a link has one of rate_bps, rate, bw"),
        ({"edges": [*GRAPH["edges"], GRAPH["edges"][2]]}, "'leaf-switch-1' and 'spine' are already linked"),
    ],
)
def test_a_bad_graph_is_refused(change: dict[str, Any], words: str) -> None:
    assert words in refusal(json.dumps({**GRAPH, **change}, indent=1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "unknown format; the testbed reads topology.txt of the HPCC simulator, htsim's .topo"),
        ("{}", "unknown format"),
        ("{", "line 1: not JSON"),
        ('{"nodes": [1,\n}', "line 2: not JSON"),
        ("<xml>", "unknown format"),
    ],
)
def test_other_files_are_refused(text: str, words: str) -> None:
    assert words in refusal(text)


def test_planes_are_the_same_after_export() -> None:
    original = shape("rail", {"pods": 1, "planes": 3}).build()
    again = network(json.dumps(as_node_link(original)))
    assert (again.hosts, again.switches, set(again.links)) == (original.hosts, original.switches, set(original.links))
    assert again.planes == 3


@pytest.mark.parametrize(
    ("planes", "message"),
    [
        ("2", "planes: must be a whole number from 1 to 16, not '2'"),
        (17, "planes: must be a whole number from 1 to 16, not 17"),
        (3, "16 hosts cannot be divided among 3 planes"),
        (4, "line 1: 'h5' and 'rail1' are linked, but are in different planes"),
        (1, "the network is disconnected: no path from 'h1' to 'h1p2' (8 of 16 hosts are out of reach)"),
    ],
)
def test_planes_are_separate_networks_of_equal_size(planes: object, message: str) -> None:
    graph = as_node_link(shape("rail", {"pods": 1, "servers_per_pod": 2, "spines": 4, "planes": 2}).build())
    graph["graph"]["planes"] = planes
    assert message in refusal(json.dumps(graph))
