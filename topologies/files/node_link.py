# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Node-link JSON, as NetworkX reads and writes graphs (`nx.node_link_data`).

`nodes` have an `id`, and `links` (or `edges`) a `source` and a `target`. A node with a `type` of `host` or `switch` is
one; p4-utils' graphs have `isHost` instead. Without either, nodes with one link are hosts. A link may have `rate_bps`
and `delay_ns`, or `rate` and `delay` with a unit, or Mininet's `bw` in Mb/s (docs/sources.md#network-files). The
graph's attribute `planes` is the number of separate networks (ours), whose hosts and switches follow one another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.topologies.files.description import (
    DescribedLink,
    Description,
    NetworkFileError,
    bounded_delay,
    bounded_rate,
)
from sfc_testbed.topologies.files.json_text import line_of, read_each
from sfc_testbed.topologies.model import MAX_PLANES, Topology

_TYPES = {"host": True, "server": True, "switch": False}
_RATES = {"rate_bps": "{}bps", "rate": "{}", "bw": "{}Mbps"}
_DELAYS = {"delay_ns": "{}ns", "delay": "{}"}
"""The names of a rate and of a delay, and the text of a value."""


def is_node_link(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a graph in node-link form."""
    return isinstance(content.get("nodes"), list) and _links_key(content) is not None


def _links_key(content: Mapping[str, Any]) -> str | None:
    return next((key for key in ("links", "edges") if isinstance(content.get(key), list)), None)


def read_node_link(content: Mapping[str, Any], text: str) -> Description:
    """Return the network of a graph. NetworkFileError names an invalid line."""
    key = _links_key(content)
    assert key is not None
    if content.get("directed") is True:
        raise NetworkFileError("the graph is directed, but links have both directions; write it after to_undirected()")
    links = read_each(content[key], _link, text, (key,))
    degrees = Counter(end for link in links for end in (link.a, link.b))
    kinds: dict[str, bool] = {}
    for number, node in enumerate(content["nodes"]):
        try:
            name, is_host = _node(node, degrees)
            if name in kinds:
                raise NetworkFileError(f"node {shown(name)} is given twice")
        except NetworkFileError as error:
            raise NetworkFileError(str(error), line_of(text, ("nodes", number))) from error
        kinds[name] = is_host
    return Description(
        [name for name, is_host in kinds.items() if is_host],
        [name for name, is_host in kinds.items() if not is_host],
        links,
        lambda number: line_of(text, (key, number)),
        may_repeat=content.get("multigraph") is True,
        planes=_planes(content),
    )


def _planes(content: Mapping[str, Any]) -> int:
    graph = content.get("graph")
    planes = graph.get("planes", 1) if isinstance(graph, dict) else 1
    if type(planes) is not int or not 1 <= planes <= MAX_PLANES:
        raise NetworkFileError(f"planes: must be a whole number from 1 to {MAX_PLANES}, not {shown(planes)}")
    return planes


def _node(node: Any, degrees: Mapping[str, int]) -> tuple[str, bool]:
    """Return the name of a node, and whether it is a host."""
    if not isinstance(node, dict) or not isinstance(node.get("id"), str | int) or isinstance(node["id"], bool):
        raise NetworkFileError(f"a node is an object with an id, not {shown(node)}")
    name = str(node["id"])
    if isinstance(node.get("isHost"), bool):
        return name, node["isHost"]
    kind = node.get("type")
    if kind is None:
        return name, degrees.get(name, 0) == 1
    if not isinstance(kind, str) or kind not in _TYPES:
        near = nearest(kind, _TYPES) if isinstance(kind, str) else ""
        raise NetworkFileError(f"type of node {shown(name)}: must be {', '.join(_TYPES)}, not {shown(kind)}{near}")
    return name, _TYPES[kind]


def _link(link: Any) -> DescribedLink:
    if not isinstance(link, dict) or not all(
        isinstance(link.get(end), str | int) and not isinstance(link[end], bool) for end in ("source", "target")
    ):
        raise NetworkFileError(f"a link is an object with source and target, not {shown(link)}")
    rates = [form.format(link[name]) for name, form in _RATES.items() if link.get(name) is not None]
    delays = [form.format(link[name]) for name, form in _DELAYS.items() if link.get(name) is not None]
    for names, values in ((_RATES, rates), (_DELAYS, delays)):
        if len(values) > 1:
            raise NetworkFileError(f"a link has one of {', '.join(names)}")
    return DescribedLink(
        str(link["source"]),
        str(link["target"]),
        bounded_rate(rates[0]) if rates else None,
        bounded_delay(delays[0]) if delays else None,
        (_port(link, "source_port"), _port(link, "target_port")),
    )


def _port(link: Mapping[str, Any], name: str) -> int | None:
    port = link.get(name)
    if port is not None and (not isinstance(port, int) or isinstance(port, bool)):
        raise NetworkFileError(f"{name} is a whole number, not {shown(port)}")
    return port


def as_node_link(topology: Topology) -> dict[str, Any]:
    """Return a network in node-link form, with the ports and addresses that the testbed gave it."""
    nodes = [
        *({"id": host.name, "type": "host", "ip": str(host.ip), "mac": host.mac} for host in topology.hosts),
        *({"id": switch.name, "type": "switch"} for switch in topology.switches),
    ]
    links = [
        {
            "source": link.a.node,
            "target": link.b.node,
            "key": number,
            "rate_bps": link.rate_bps,
            "delay_ns": link.delay_ns,
            "source_port": link.a.number,
            "target_port": link.b.number,
        }
        for number, link in enumerate(topology.links)
    ]
    graph = {"name": topology.name} | ({"planes": topology.planes} if topology.planes > 1 else {})
    return {"directed": False, "multigraph": True, "graph": graph, "nodes": nodes, "links": links}
