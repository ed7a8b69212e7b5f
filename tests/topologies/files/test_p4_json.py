# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Topology files of the P4 tutorials and of p4-utils."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.topologies.files.networks import links_of, network, refusal

TUTORIAL: dict[str, Any] = {
    "hosts": {"h1": {"ip": "10.0.1.1/24", "mac": "08:00:00:00:01:11"}, "h2": {}, "h11": {}},
    "switches": {"s1": {"runtime_json": "s1-runtime.json"}, "s2": {}},
    "links": [["h1", "s1-p2"], ["h11", "s1-p1", "5us"], ["s1-p3", "s2-p2", "0", 10], ["s2-p1", "h2", 2, 0.5]],
}
UTILS: dict[str, Any] = {
    "p4_src": "x.p4",
    "topology": {
        "default": {"bw": 100},
        "links": [["h1", "s1", {"delay": "20us"}], ["h2", "s1", {"loss": 1}], ["s1", "s2"], ["s1", "s2"], ["h3", "s2"]],
        "hosts": {"h1": {}, "h2": {}, "h3": {}},
        "switches": {"s1": {}, "s2": {}},
    },
}


def test_a_tutorial_keeps_names_and_ports() -> None:
    """A number is in ms or Mb/s, as the tutorials read it."""
    built = network(json.dumps(TUTORIAL))
    assert [host.name for host in built.hosts] == ["h1", "h2", "h11"]
    assert {port.number: port.peer.node for port in built.ports["s1"]} == {1: "h11", 2: "h1", 3: "s2"}
    assert {port.number: port.peer.node for port in built.ports["s2"]} == {1: "h2", 2: "s1"}
    assert links_of(built) == {
        ("h1", "s1", 100_000_000_000, 1_000),
        ("h11", "s1", 100_000_000_000, 5_000),
        ("s1", "s2", 10_000_000, 0),
        ("h2", "s2", 500_000, 2_000_000),
    }
    assert "2 of 4 links have no rate: hosts' links get 100 Gb/s (topology.host_rate_bps)" in built.notes[0]


def test_settings_replace_missing_values() -> None:
    built = network(json.dumps(TUTORIAL), host_rate_bps=10_000_000, host_delay_ns=7)
    assert ("h1", "s1", 10_000_000, 7) in links_of(built)


def test_p4_utils_has_parallel_links_and_defaults() -> None:
    built = network(json.dumps(UTILS))
    assert ("h1", "s1", 100_000_000, 20_000) in links_of(built)
    assert len([link for link in built.links if {link.a.node, link.b.node} == {"s1", "s2"}]) == 2
    assert "net.txt: losses of links are not used; use --fault loss:A-B,rate=SHARE." in built.notes


@pytest.mark.parametrize(
    ("link", "words"),
    [
        (["h2", "s2-p2"], "line 13: port 2 of 's2' already has a link, in line 12"),
        (["h2", "s2-p0"], "line 13: port 0 of 's2': must be from 1 to 509"),
        (["h2", "s3-p1"], "line 13: unknown node 's3'"),
        (["h2", "s2-p1", "soon"], "line 13: delay must be a time such as"),
        (["h2", "s2-p1", 0, "fast"], "line 13: rate must be a rate such as"),
        (["h2"], "line 13: a link is a list that begins with two names, not ['h2']"),
        (["h\n2", "s1"], "line 13: unknown node 'h\\n2'"),
        (7, "line 13: a link is a list"),
    ],
)
def test_a_bad_link_is_refused_with_its_line(link: object, words: str) -> None:
    links = [*TUTORIAL["links"][:3], link]
    lines = ",\n".join(json.dumps(each) for each in links)
    nodes = "".join(f'"{name}": {{\n}},\n' for name in ("h1", "h2"))
    text = f'{{"hosts": {{\n{nodes}"h11": {{}} }},\n"links": "first",\n"switches": {{"s1": {{}}, "s2": {{}}}},'
    text += f'\n"links": [\n{lines}]}}'
    assert words in refusal(text)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"routers": {"r1": {}}}, "router 'r1': routers run FRR"),
        ({"links": 7}, "links: must be a list, not 7"),
        ({"hosts": [1]}, "hosts: must be an object with a name for each node, not [1]"),
        ({"links": [["h1", "s1", {"port1": "x"}]]}, "port1 and port2 are whole numbers"),
        ({"links": [["h1", "s1", 7]]}, "the options of a link are an object, not 7"),
        ({"default": 3}, "default: must be an object, not 3"),
    ],
)
def test_a_bad_file_of_p4_utils_is_refused(change: dict[str, Any], words: str) -> None:
    assert words in refusal(json.dumps({"topology": {**UTILS["topology"], **change}}))
