# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Parses the words of `--pcap`, which name hosts, switches, their ports and flows, and describes a flow's packets."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.telemetry.captures.flow_packets import FlowOnWire
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.model import Port, SwitchPort, Topology
from sfc_testbed.topologies.routes import ports_between

_NAMED_SWITCHES = 4
_FLOW = "flow:"


def captured_flows(words: Sequence[str], flows: FlowTable) -> tuple[int, ...]:
    """Return the numbers of the flows that the words `flow:NUMBER` name. Raises UsageError, also for repeated flows."""
    numbers: dict[int, None] = {}
    for word in words:
        if not names_flow(word):
            continue
        text = word.removeprefix(_FLOW)
        number = int(text) if re.fullmatch("[0-9]{1,10}", text) else 0
        if not 1 <= number <= len(flows):
            known = f"flows 1 to {len(flows)}" if len(flows) else "no flows"
            raise UsageError(f"--pcap: no flow {shown(text)} in this run, which has {known}")
        if number in numbers:
            raise UsageError(f"--pcap: {word} is named twice")
        numbers[number] = None
    return tuple(numbers)


def on_wire(flows: FlowTable, number: int, topology: Topology, payload_bytes: int) -> FlowOnWire:
    """Return how the packets of flow `number` are recognised.

    The PSNs of messages on one queue pair continue from message to message.
    """
    flow, earlier = flows[number - 1], slice(number - 1)
    is_on_same_pair = (flows.src[earlier] == flows.src[number - 1]) & (flows.source_qpn[earlier] == flow.source_qpn)
    sizes_bytes = flows.size_bytes[earlier][is_on_same_pair]
    return FlowOnWire(
        source_ip=topology.host[flow.src].ip.packed,
        destination_ip=topology.host[flow.dst].ip.packed,
        source_qpn=flow.source_qpn,
        destination_qpn=flow.destination_qpn,
        first_psn=int((-(-sizes_bytes // payload_bytes)).sum()),
        packets=-(-flow.size_bytes // payload_bytes),
    )


def captured_ports(words: Sequence[str], topology: Topology, flows: FlowTable) -> tuple[Port, ...]:
    """Return the ends of links that the words name. Raises UsageError.

    If the words name flows only, return both ends of every link on the flows' shortest paths.
    """
    ends = named_ports(words, topology)
    if ends:
        return ends
    named = [flows[number - 1] for number in captured_flows(words, flows)]
    return tuple(dict.fromkeys(end for flow in named for end in ports_between(topology, flow.src, flow.dst)))


def named_ports(words: Sequence[str], topology: Topology) -> tuple[Port, ...]:
    """Return the named ends of links in the order of the words. Raises UsageError, also for repeated ends.

    `h1` is a host's wire. `tor1:3` and `tor1:spine1` are a port by its number or neighbour. `tor1` is all ports of a
    switch.
    """
    ends: dict[Port, None] = {}
    for word in words:
        for end in () if names_flow(word) else _ends(word, topology):
            if end in ends:
                raise UsageError(f"--pcap: {word} is named twice")
            ends[end] = None
    return tuple(ends)


def names_flow(word: str) -> bool:
    """Whether a word of `--pcap` names a flow instead of a place."""
    return word.startswith(_FLOW)


def _ends(word: str, topology: Topology) -> list[Port]:
    name, colon, port = word.partition(":")
    if name in topology.host and not colon:
        link = topology.host_link[name]
        return [link.a if link.a.node == name else link.b]
    if name not in topology.switch:
        raise UsageError(f"--pcap: {_unknown(word, name, topology)}")
    ports = topology.ports[name]
    if not colon:
        return [Port(name, switch_port.number) for switch_port in ports]
    matches = [switch_port for switch_port in ports if port in (str(switch_port.number), switch_port.peer.node)]
    if len(matches) != 1:
        raise UsageError(f"--pcap: unknown or ambiguous port {shown(port)} of {name}; choose from {_listed(ports)}")
    return [Port(name, matches[0].number)]


def _unknown(word: str, name: str, topology: Topology) -> str:
    if name in topology.host:
        return f"{shown(word)}: a host has only one port; use the name of the host alone"
    switches = [switch.name for switch in topology.switches]
    few = ", ".join(switches[:_NAMED_SWITCHES]) + (", ..." if len(switches) > _NAMED_SWITCHES else "")
    names = f"hosts h1 to h{len(topology.hosts)}, switches {few}"
    return f"no host or switch {shown(name)} in this network ({names}){nearest(name, [*topology.host, *switches])}"


def _listed(ports: Sequence[SwitchPort]) -> str:
    return ", ".join(f"{port.number} ({port.peer.node})" for port in ports)
