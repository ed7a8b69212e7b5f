# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Topology files of the P4 tutorials (`topology.json`) and of p4-utils (`p4app.json`).

Both have `hosts`, `switches` and `links`; p4-utils has them in `topology`. A link of the tutorials is
`[A, B, latency, bandwidth]`, where a switch has its port as in `s1-p2`, a latency without a unit is in ms, and a
bandwidth is in Mb/s. A link of p4-utils is `[A, B, {"delay": ..., "bw": ...}]` in the same units. Addresses,
programs and commands of the files are not used (docs/sources.md#network-files).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from sfc_testbed.request.shown import shown
from sfc_testbed.topologies.files.description import (
    DescribedLink,
    Description,
    NetworkFileError,
    bounded_delay,
    bounded_rate,
)
from sfc_testbed.topologies.files.json_text import line_of, read_each

_PORT = re.compile(r"(.+)-p([0-9]{1,5})")
_FEWEST_WORDS, _MOST_WORDS = 2, 4
_OPTIONS = 2


def is_tutorial(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a file of the P4 tutorials."""
    return {"hosts", "switches", "links"} <= content.keys()


def is_p4_utils(content: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a file of p4-utils."""
    topology = content.get("topology")
    return isinstance(topology, dict) and "links" in topology


def read_tutorial(content: Mapping[str, Any], text: str) -> Description:
    """Return the network of a file of the P4 tutorials. NetworkFileError names an invalid line."""
    links = _links(content, text, ("links",), _tutorial_link)
    return Description(
        _names(content, "hosts"),
        _names(content, "switches"),
        links,
        lambda number: line_of(text, ("links", number)),
        may_repeat=True,
    )


def read_p4_utils(content: Mapping[str, Any], text: str) -> Description:
    """Return the network of a file of p4-utils. NetworkFileError names an invalid line."""
    topology = content["topology"]
    if topology.get("routers"):
        router = next(iter(_names(topology, "routers")))
        line = line_of(text, ("topology", "routers"))
        raise NetworkFileError(f"router {shown(router)}: routers run FRR, which the testbed does not have", line)
    defaults = topology.get("default", {})
    if not isinstance(defaults, dict):
        raise NetworkFileError(f"default: must be an object, not {shown(defaults)}", line_of(text, ("topology",)))
    path = ("topology", "links")
    links = _links(topology, text, path, partial(_p4_utils_link, defaults))
    options = [link[_OPTIONS] for link in topology["links"] if len(link) > _OPTIONS]
    notes = []
    if any(link.get("loss") for link in (defaults, *options)):
        notes.append("losses of links are not used; use --fault loss:A-B,rate=SHARE")
    if any("weight" in link for link in (defaults, *options)):
        notes.append("weights of links are not used: routes have the fewest links")
    return Description(
        _names(topology, "hosts"),
        _names(topology, "switches"),
        links,
        lambda number: line_of(text, (*path, number)),
        may_repeat=True,
        notes=notes,
    )


def _names(content: Mapping[str, Any], key: str) -> list[str]:
    """Return the names of nodes, which may be a list or the keys of an object."""
    nodes = content.get(key, [])
    if not isinstance(nodes, list | dict) or not all(isinstance(name, str) for name in nodes):
        raise NetworkFileError(f"{key}: must be an object with a name for each node, not {shown(nodes)}")
    if len(set(nodes)) < len(nodes):
        raise NetworkFileError(f"{key}: a name is given twice")
    return list(nodes)


def _links(
    content: Mapping[str, Any], text: str, path: tuple[str, ...], read: Callable[[list[Any]], DescribedLink]
) -> list[DescribedLink]:
    links = content.get("links")
    if not isinstance(links, list):
        raise NetworkFileError(f"links: must be a list, not {shown(links)}")
    return read_each(links, partial(_link, read), text, path)


def _link(read: Callable[[list[Any]], DescribedLink], link: Any) -> DescribedLink:
    is_link = isinstance(link, list) and _FEWEST_WORDS <= len(link) <= _MOST_WORDS
    if not is_link or not all(isinstance(end, str) for end in link[:2]):
        raise NetworkFileError(f"a link is a list that begins with two names, not {shown(link)}")
    return read(link)


def _tutorial_link(link: list[Any]) -> DescribedLink:
    (a, a_port), (b, b_port) = map(_end, link[:2])
    delay_ns = _delay(link[2]) if len(link) > 2 else None
    rate_bps = _rate(link[3]) if len(link) > 3 else None
    return DescribedLink(a, b, rate_bps, delay_ns, (a_port, b_port))


def _end(text: str) -> tuple[str, int | None]:
    """Return node and port of an end such as `s1-p2`. A host has no port."""
    match = _PORT.fullmatch(text)
    return (text, None) if match is None else (match[1], int(match[2]))


def _p4_utils_link(defaults: Mapping[str, Any], link: list[Any]) -> DescribedLink:
    options = link[_OPTIONS] if len(link) > _OPTIONS else {}
    if not isinstance(options, dict):
        raise NetworkFileError(f"the options of a link are an object, not {shown(options)}")
    options = {**defaults, **options}
    ports = tuple(options.get(name) for name in ("port1", "port2"))
    if not all(port is None or isinstance(port, int) for port in ports):
        raise NetworkFileError(f"port1 and port2 are whole numbers, not {shown(ports)}")
    rate_bps = None if options.get("bw") is None else _rate(options["bw"])
    delay_ns = None if options.get("delay") is None else _delay(options["delay"])
    return DescribedLink(link[0], link[1], rate_bps, delay_ns, (ports[0], ports[1]))


def _delay(value: Any) -> int:
    """Return a delay in ns; a number has no unit and is in ms."""
    return bounded_delay(value if isinstance(value, str) and not _is_number(value) else f"{value}ms")


def _rate(value: Any) -> int:
    """Return a rate in bit/s; a number is in Mb/s."""
    return bounded_rate(value if isinstance(value, str) and not _is_number(value) else f"{value}Mbps")


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[0-9]{1,20}(\.[0-9]{1,12})?", text) is not None
