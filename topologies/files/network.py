# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The network of a file: its format, its nodes under names that the testbed accepts, and values that it leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sfc_testbed.request.network_file import NetworkFile
from sfc_testbed.request.shown import shown
from sfc_testbed.topologies.files import hpcc, htsim, node_link, p4_json
from sfc_testbed.topologies.files.description import Description, NetworkFileError, check, kept_names
from sfc_testbed.topologies.files.json_text import read_json
from sfc_testbed.topologies.model import MAX_PORT, Topology, TopologyError
from sfc_testbed.topologies.shape import Fabric

_TEXT_FORMATS: Mapping[str, tuple[Callable[[str], bool], Callable[[str], Description]]] = {
    "topology.txt of the HPCC simulator": (hpcc.is_hpcc, hpcc.read_hpcc),
    "htsim's .topo": (htsim.is_htsim, htsim.read_htsim),
}
_JSON_FORMATS: Mapping[
    str, tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any], str], Description]]
] = {
    "topology.json of the P4 tutorials": (p4_json.is_tutorial, p4_json.read_tutorial),
    "p4app.json of p4-utils": (p4_json.is_p4_utils, p4_json.read_p4_utils),
    "node-link JSON of NetworkX": (node_link.is_node_link, node_link.read_node_link),
}
_MOST_RENAMED = 3


class FileNetwork(Fabric):
    """A network from a file. The parameters count only where the file has no rate, delay or latency."""

    name: ClassVar[str] = "file"

    def build(self) -> Topology:
        raise TopologyError("needs a file; use --topology FILE")

    def build_from(self, file: NetworkFile) -> Topology:
        """Build the network. TopologyError names the file and the line of an invalid part."""
        if self.host_rates_bps:
            raise TopologyError("host_rates_bps is for shapes; a file has the rate of each link")
        try:
            described = _read(file.text)
            check(described)
            return _Construction(self, file, described).build()
        except TopologyError as error:
            raise TopologyError(f"{file.name}, {error}") from error


def _read(text: str) -> Description:
    if text.lstrip().startswith("{"):
        content = read_json(text)
        for is_format, read in _JSON_FORMATS.values():
            if is_format(content):
                return read(content, text)
    else:
        for is_text_format, read_text in _TEXT_FORMATS.values():
            if is_text_format(text):
                return read_text(text)
    raise NetworkFileError(f"unknown format; the testbed reads {', '.join([*_TEXT_FORMATS, *_JSON_FORMATS])}")


@dataclass
class _Construction:
    """The construction of a network from its description."""

    shape: FileNetwork
    file: NetworkFile
    described: Description

    def build(self) -> Topology:
        described, shape = self.described, self.shape
        taken: set[str] = set()
        hosts = kept_names(described.hosts, "h", taken)
        switches = kept_names(described.switches, "s", taken)
        builder = shape.new_builder()
        builder.name = self.file.name
        builder.planes = described.planes
        tors = {end for link in described.links for end in (link.a, link.b) if {link.a, link.b} & hosts.keys()}
        for name, ours in switches.items():
            builder.add_switch(ours, has_hosts=name in tors, pass_latency_ns=described.pass_latency_ns.get(name))
        ports = self._ports()
        of_host = {end: number for number, link in enumerate(described.links) for end in (link.a, link.b)}
        for name, ours in hosts.items():
            number = of_host[name]
            link = described.links[number]
            switch = link.b if link.a == name else link.a
            builder.add_host(
                switches[switch],
                shape.host_rate_bps if link.rate_bps is None else link.rate_bps,
                shape.host_delay_ns if link.delay_ns is None else link.delay_ns,
                name=ours,
                port=ports[number, switch],
            )
        for number, link in enumerate(described.links):
            if not {link.a, link.b} & hosts.keys():
                builder.add_link(
                    switches[link.a],
                    switches[link.b],
                    shape.fabric_rate_bps if link.rate_bps is None else link.rate_bps,
                    shape.fabric_delay_ns if link.delay_ns is None else link.delay_ns,
                    ports=(ports[number, link.a], ports[number, link.b]),
                )
        return builder.build([*self._notes(hosts, switches)])

    def _ports(self) -> dict[tuple[int, str], int]:
        """Return the port of each end of a link at a switch: that of the file, if it has all ports from 1."""
        given: dict[str, list[tuple[int, int | None]]] = {name: [] for name in self.described.switches}
        for number, link in enumerate(self.described.links):
            for node, port in zip((link.a, link.b), link.ports, strict=True):
                if node in given:
                    given[node].append((number, port))
        ports = {}
        for switch, ends in given.items():
            if len(ends) > MAX_PORT:
                raise NetworkFileError(
                    f"switch {shown(switch)} has {len(ends)} links; a switch has at most {MAX_PORT} ports"
                )
            is_complete = {port for _, port in ends} == set(range(1, len(ends) + 1))
            for place, (number, port) in enumerate(ends, start=1):
                ports[number, switch] = port if is_complete and port is not None else place
        return ports

    def _notes(self, hosts: Mapping[str, str], switches: Mapping[str, str]) -> Iterator[str]:
        """Yield what the file leaves open, and what of it is not used."""
        for note in self.described.notes:
            yield f"{self.file.name}: {note}."
        links = self.described.links
        missing = Counter(
            what for link in links for what in ("rate", "delay") if getattr(link, f"{what}_{_UNITS[what]}") is None
        )
        for what, count in missing.items():
            unit = _UNITS[what]
            own, fabric = (
                _quantity(getattr(self.shape, f"{place}_{what}_{unit}"), unit) for place in ("host", "fabric")
            )
            yield (
                f"{self.file.name}: {count} of {len(links)} links have no {what}: hosts' links get {own} "
                f"(topology.host_{what}_{unit}), links between switches {fabric} (topology.fabric_{what}_{unit})."
            )
        renamed = [
            f"{ours} is {shown(name)}" for names in (hosts, switches) for name, ours in names.items() if ours != name
        ]
        if renamed:
            more = f" and {len(renamed) - _MOST_RENAMED} more" if len(renamed) > _MOST_RENAMED else ""
            yield f"{self.file.name}: renamed nodes: {', '.join(renamed[:_MOST_RENAMED])}{more}."


_UNITS = {"rate": "bps", "delay": "ns"}


def _quantity(value: int, unit: str) -> str:
    return f"{value / 1e9:g} Gb/s" if unit == "bps" else f"{value / 1e3:g} us"
