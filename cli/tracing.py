# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The history of one flow of a stored run, from its traces and captures."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.life.captured import FlowOnWire, Sighting, sightings
from analysis.life.events import LifeEvent, joined
from analysis.life.hops import packet_events, unseen_ports
from analysis.life.stored import stored_events
from analysis.results.result import RESULT_FILE
from analysis.results.stored import Run
from scenarios.model.flow import Flow
from scenarios.model.numbering import number_flows
from telemetry.captures.pcapng import CaptureError
from testbed.errors import UsageError
from testbed.execution.stored_flows import stored_flows
from testbed.plan.captured_ports import captured_ports
from testbed.recording.captures import FOLDER, SUFFIX
from testbed.targets.common.interfaces import interface_of
from topologies.model import Port, Topology
from wire.constants import DEFAULT_PAYLOAD_BYTES

_MOST_SWITCHES = 8
"""Switches outside the racks of a flow that a suggested command names at most."""
_EACH_ALONE = -1.0


@dataclass(frozen=True)
class FlowLife:
    """The events of a flow."""

    flow: Mapping[str, Any]
    events: list[LifeEvent]
    notes: list[str]
    """Sentences about events that were not recorded, and how to record them."""
    problems: list[str]


def newest_run(parent: Path) -> Path:
    """Return the run folder with the newest result. UsageError if there is none."""
    results = list(parent.glob(f"*/{RESULT_FILE}"))
    if not results:
        raise UsageError(f"no runs in {parent}; use --run FOLDER")
    return max(results, key=lambda path: path.stat().st_mtime_ns).parent


def flow_life(run: Run, number: int, packet: int | None) -> FlowLife:
    """Return the history of a flow, or of one of its packets. UsageError for an unknown flow or packet."""
    rows = run.flows.filter(run.flows["flow_id"] == number)
    if rows.is_empty():
        numbers = f"flows are 1 to {run.flows.height}" if run.flows.height else "no flow is readable"
        raise UsageError(f"{run.folder}: no flow {number}; {numbers}")
    row = rows.row(0, named=True)
    events = stored_events(row, run.signals, run.goodput)
    try:
        topology, listed = stored_flows(run.folder, run.config)
    except UsageError as error:
        problem = f"its captures cannot be assigned to flows: {error}"
        return FlowLife(row, events, [], [*run.problems, problem])
    flows = number_flows(listed.requests)
    if number > len(flows) or (flows[number - 1].src, flows[number - 1].dst) != (row["src"], row["dst"]):
        raise UsageError(f"{run.folder}: flows.parquet and the flow list are from different runs")
    wire = _on_wire(flows, flows[number - 1], topology, _payload_bytes(run))
    if packet is not None and packet >= wire.packets:
        raise UsageError(f"{run.folder}: no packet {packet} in flow {number}; packets are 0 to {wire.packets - 1}")
    sightings_by_port, problems = _sightings_by_port(run, topology, wire)
    packets = packet_events(sightings_by_port, topology, str(row["src"]), str(row["dst"]))
    if packet is None:
        events += joined(packets, run.result.base_rtt_us)
    else:
        events = joined((event for event in packets if event.packet == packet), _EACH_ALONE)
    events.sort(key=lambda event: event.time_us)
    return FlowLife(row, events, _notes(run, row, topology, sightings_by_port), [*run.problems, *problems])


def _payload_bytes(run: Run) -> int:
    payload_bytes = None if run.config is None else run.config.transport_settings.get("payload_bytes")
    return payload_bytes if isinstance(payload_bytes, int) and payload_bytes > 0 else DEFAULT_PAYLOAD_BYTES


def _on_wire(flows: Sequence[Flow], flow: Flow, topology: Topology, payload_bytes: int) -> FlowOnWire:
    """Return how the flow's packets are recognised. The PSNs of messages on one QP continue from message to message."""
    before = (
        earlier.size_bytes
        for earlier in flows[: flow.flow_id - 1]
        if (earlier.src, earlier.source_qpn) == (flow.src, flow.source_qpn)
    )
    return FlowOnWire(
        source_ip=topology.host[flow.src].ip.packed,
        destination_ip=topology.host[flow.dst].ip.packed,
        source_qpn=flow.source_qpn,
        destination_qpn=flow.destination_qpn,
        first_psn=sum(-(-size // payload_bytes) for size in before),
        packets=-(-flow.size_bytes // payload_bytes),
    )


def _sightings_by_port(run: Run, topology: Topology, wire: FlowOnWire) -> tuple[dict[Port, list[Sighting]], list[str]]:
    """Return the captured packets of the flow by port, and a sentence for each unreadable capture."""
    by_port: dict[Port, list[Sighting]] = {}
    problems: list[str] = []
    for end in captured_ports(_captures(run), topology):
        path = run.folder / FOLDER / f"{interface_of(topology, end)}{SUFFIX}"
        try:
            by_port[end] = sightings(path, wire)
        except CaptureError as error:
            problems.append(f"{error}.")
        except OSError as error:
            problems.append(f"{path} cannot be read ({error.strerror}).")
    return by_port, problems


def _captures(run: Run) -> tuple[str, ...]:
    return () if run.config is None else run.config.captures


def _notes(run: Run, row: Mapping[str, Any], topology: Topology, seen: Mapping[Port, object]) -> list[str]:
    unseen = unseen_ports(seen, topology)
    if any(end.node in topology.switch for end in seen):
        return [
            f"{switch}: waiting times and losses are unknown, because ports {', '.join(map(str, ports))} were not "
            f"captured (--pcap {switch} captures all)."
            for switch, ports in unseen.items()
        ]
    places = _places(row, topology)
    again = run.command if not _captures(run) else "the run"
    return [
        "Queueing and loss of single packets were not recorded: this needs captures of hosts and switches. "
        f"To record them: {again} --pcap {shlex.quote(places)}"
    ]


def _places(row: Mapping[str, Any], topology: Topology) -> str:
    """Return the hosts of a flow and the switches between them, separated by commas."""
    source, destination = topology.host[row["src"]], topology.host[row["dst"]]
    between = (
        [] if source.switch == destination.switch else [switch for switch in topology.switches if not switch.is_tor]
    )
    names = [source.name, source.switch, *(switch.name for switch in between[:_MOST_SWITCHES])]
    return ",".join(dict.fromkeys([*names, destination.switch, destination.name]))
