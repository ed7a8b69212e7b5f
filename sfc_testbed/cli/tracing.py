# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The history of one flow of a stored run, from its traces and captures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from sfc_testbed.analysis.formatting import amount
from sfc_testbed.analysis.life.captured import Sighting, sightings
from sfc_testbed.analysis.life.events import LifeEvent, joined
from sfc_testbed.analysis.life.hops import packet_events, unseen_ports
from sfc_testbed.analysis.life.stored import stored_events
from sfc_testbed.analysis.metrics.iterations import ChainLink, messages_of, slowest_chain
from sfc_testbed.analysis.results.result import RESULT_FILE
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.request.shown import shown
from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.telemetry.captures.flow_packets import FlowOnWire
from sfc_testbed.telemetry.captures.pcapng import CaptureError
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.execution.stored_flows import stored_flows
from sfc_testbed.testbed.plan.captured_ports import captured_flows, captured_ports, on_wire
from sfc_testbed.testbed.recording.captures import FOLDER, SUFFIX
from sfc_testbed.testbed.targets.common.interfaces import interface_of
from sfc_testbed.topologies.model import Port, Topology
from sfc_testbed.topologies.routes import ports_between
from sfc_testbed.wire.constants import DEFAULT_PAYLOAD_BYTES

_EACH_ALONE = -1.0
_MOST_JOBS = 8
"""The most jobs that a message names."""


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
    wire = on_wire(flows, number, topology, _payload_bytes(run))
    if packet is not None and packet >= wire.packets:
        raise UsageError(f"{run.folder}: no packet {packet} in flow {number}; packets are 0 to {wire.packets - 1}")
    seen, problems = _sightings_by_port(run, topology, flows, wire)
    needed = _needed_ports(run, topology, row)
    packets = packet_events(seen, topology, str(row["src"]), str(row["dst"]), needed)
    if packet is None:
        if any(event.what == "arrived" for event in packets):
            events = [event for event in events if event.what != "received"]  # the arrivals are exact
        events += joined(packets, run.result.base_rtt_us)
    else:
        events = joined((event for event in packets if event.packet == packet), _EACH_ALONE)
    events.sort(key=lambda event: event.time_us)
    has_switches = any(end.node in topology.switch for end in seen)
    unseen = unseen_ports(seen, topology, needed) if has_switches else None
    notes = _notes(run, number, captured_flows(_captures(run), flows), unseen)
    return FlowLife(row, events, notes, [*run.problems, *problems])


def critical_chain(run: Run, words: str) -> list[ChainLink]:
    """Return the slowest chain of an iteration, given as JOB/ITERATION. UsageError if there is none."""
    numbers = re.fullmatch(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})", words)
    if numbers is None:
        raise UsageError(f"--critical {shown(words)}: must be JOB/ITERATION, such as 1/3")
    job, iteration = map(int, numbers.groups())
    messages = messages_of(run.flows, job).filter(pl.col("iteration") == iteration)
    if messages.is_empty():
        known = ", ".join(f"{of.job}/1 to {of.job}/{len(of.took_us)}" for of in run.result.jobs[:_MOST_JOBS])
        raise UsageError(f"{run.folder}: --critical {words}: there are {known or 'no jobs in this run'}")
    if messages["received_us"].null_count():
        raise UsageError(
            f"{run.folder}: --critical {words}: {messages['received_us'].null_count()} of "
            f"{amount(messages.height, 'message')} were not received, so the iteration has no end"
        )
    try:
        _, listed = stored_flows(run.folder, run.config)
    except UsageError as error:
        raise UsageError(f"{run.folder}: the messages that others wait for are unknown: {error}") from error
    return slowest_chain(messages, number_flows(listed.requests).waits)


def _payload_bytes(run: Run) -> int:
    payload_bytes = None if run.config is None else run.config.transport_settings.get("payload_bytes")
    return payload_bytes if isinstance(payload_bytes, int) and payload_bytes > 0 else DEFAULT_PAYLOAD_BYTES


def _sightings_by_port(
    run: Run, topology: Topology, flows: FlowTable, wire: FlowOnWire
) -> tuple[dict[Port, list[Sighting]], list[str]]:
    """Return the captured packets of the flow by port, and a sentence for each unreadable capture."""
    by_port: dict[Port, list[Sighting]] = {}
    problems: list[str] = []
    for end in captured_ports(_captures(run), topology, flows):
        path = run.folder / FOLDER / f"{interface_of(topology, end)}{SUFFIX}"
        try:
            by_port[end] = sightings(path, wire)
        except CaptureError as error:
            problems.append(f"{error}.")
        except OSError as error:
            problems.append(f"{path} cannot be read ({error.strerror}).")
    return by_port, problems


def _needed_ports(run: Run, topology: Topology, row: Mapping[str, Any]) -> dict[str, set[int]]:
    """Return the ports of each switch that the flow may use: on its shortest paths, or all if faults change routes."""
    if run.config is not None and run.config.fault_spans:
        return {switch: {port.number for port in ports} for switch, ports in topology.ports.items()}
    needed: dict[str, set[int]] = {}
    for end in ports_between(topology, row["src"], row["dst"]):
        needed.setdefault(end.node, set()).add(end.number)
    return needed


def _captures(run: Run) -> tuple[str, ...]:
    return () if run.config is None else run.config.captures


def _notes(
    run: Run, number: int, kept: Sequence[int], unseen_by_switch: Mapping[str, Sequence[int]] | None
) -> list[str]:
    """Return sentences about packet events that the captures lack, and the command that records them.

    `kept`: the flows whose packets were captured; none for all flows. `unseen_by_switch`: None without captures at
    switches.
    """
    record = f"To record them: {'the run' if _captures(run) else run.command} --pcap flow:{number}"
    if kept and number not in kept:
        return [f"The captures have only packets of flow {', '.join(map(str, kept))}. {record}"]
    if unseen_by_switch is None:
        missing = "Queueing and loss of single packets were not recorded: this needs captures of hosts and switches."
        return [f"{missing} {record}"]
    return [
        f"{switch}: waiting times and losses are unknown, because ports {', '.join(map(str, ports))} were not "
        f"captured (--pcap {switch} captures all)."
        for switch, ports in unseen_by_switch.items()
    ]
