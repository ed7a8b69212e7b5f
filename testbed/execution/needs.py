# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Estimates what a run needs of the machine: disk space, files, descriptors and memory.

The estimates are rough and on the high side:

- packets = sum over flows of bytes / payload. The run lasts until the last start plus the time that the busiest host's
  bytes take at its rate, limited by the requested duration; intervals = that time / sampling interval.
- queue rows = intervals x switches (whole buffers) + min(intervals x ports, packets x links of a path).
- disk = flows, queue rows, signals (with BTS, a tenth of the packets), goodput rows (at most one per packet) and
  captured packets, each at its size in a file, + pages and plots + one block per file. The real clock adds a raw
  sample per queue row, and the commands for agents and switches.
- descriptors on the real clock: the runner has 2 per node of Mininet, 3 per switch, 2 per agent and 4 per capture; an
  agent has 4 per host (6 with programs); a switch has one per port; all have some spare ones. On the virtual clock:
  one per capture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from testbed.flows.columns import Integers
from testbed.load.agents import agent_count
from testbed.plan.plan import RunPlan
from testbed.targets.common.commands import SAMPLE_NS

_BLOCK_BYTES = 4096
_PAGES_BYTES = 600_000
"""The page of a run with its plots, and the five plot files beside it that `report` draws."""
_LARGEST_PAGE_BYTES = 300_000
_COMPARISON_BYTES, _COMPARED_RUN_BYTES = 600_000, 250_000
_COMPARISON_FILES = 11
"""The files of a comparison: its page, two tables and at most seven plots, and their folder."""
_FILES = 24
_FLOW_BYTES = 48 + 32
"""A row of the trace and a line of the flow list."""
_QUEUE_ROW_BYTES = 8
_WHOLE_BUFFER_LINE_BYTES = 48
_SIGNAL_BYTES = 32
_GOODPUT_ROW_BYTES = 8
_CC_ROW_BYTES = 24
_RAW_SAMPLE_BYTES = 32
_CAPTURED_HEADERS_BYTES = 224
"""Headers of a packet and of its acknowledgment in a capture, with the file's metadata of both."""
_LINKS_OF_A_PATH = 4
_PACKETS_PER_SIGNAL = 10
_AGENT_HOST_BYTES, _AGENT_FLOW_BYTES = 512, 256
_COMMANDS_BYTES = 64
"""A line of a switch's commands; there are several for each host and port."""
_SPARE_DESCRIPTORS = 40
_SPARE_OF_CHILDREN = 16
_ROW_IN_MEMORY_BYTES, _FLOW_IN_MEMORY_BYTES, _SWITCH_IN_MEMORY_BYTES, _HOST_IN_MEMORY_BYTES = (
    200,
    8000,
    4_000_000,
    200_000,
)


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of one run. Descriptors are the number in the process that has most."""

    disk_bytes: int
    files: int
    largest_file_bytes: int
    descriptors: int
    memory_bytes: int
    """Memory for the run's own data, without the constant part of every run."""

    def times(self, count: int) -> Needs:
        """Return the needs of `count` such runs in sequence."""
        return replace(self, disk_bytes=self.disk_bytes * count, files=self.files * count)


def needs_of(plan: RunPlan) -> Needs:
    """Return the needs of one run, estimated as described at the top of this file."""
    traces, captured, logs = _trace_bytes(plan), _captured_bytes(plan), _log_bytes(plan)
    files = _FILES + _live_files(plan)
    raw = _RAW_SAMPLE_BYTES * _queue_rows(plan) if plan.config.clock == "real" else 0
    return Needs(
        disk_bytes=traces + captured + logs + _PAGES_BYTES + _BLOCK_BYTES * files,
        files=files,
        largest_file_bytes=max(_LARGEST_PAGE_BYTES, traces, captured, raw),
        descriptors=_descriptors(plan),
        memory_bytes=_ROW_IN_MEMORY_BYTES * _queue_rows(plan)
        + _FLOW_IN_MEMORY_BYTES * len(plan.flows)
        + _SWITCH_IN_MEMORY_BYTES * len(plan.topology.switches)
        + _HOST_IN_MEMORY_BYTES * len(plan.topology.hosts),
    )


def needs_of_page(runs: int = 1) -> Needs:
    """Return the needs of a comparison page of `runs` existing runs, the largest page that belongs to no single run."""
    size_bytes = _COMPARISON_BYTES + _COMPARED_RUN_BYTES * runs
    return Needs(size_bytes, _COMPARISON_FILES, size_bytes, descriptors=0, memory_bytes=0)


def wall_seconds(plan: RunPlan) -> float:
    """Return how long a live run's flows take at its dilation, estimated as at the top of this file."""
    return _intervals(plan) * SAMPLE_NS * plan.dilation.factor / 1e9


def sum_of(needs: Sequence[Needs]) -> Needs:
    """Return the needs of runs in sequence: files and disk space add up, needs of a process are the maximum."""
    return Needs(
        disk_bytes=sum(need.disk_bytes for need in needs),
        files=sum(need.files for need in needs),
        largest_file_bytes=max(need.largest_file_bytes for need in needs),
        descriptors=max(need.descriptors for need in needs),
        memory_bytes=max(need.memory_bytes for need in needs),
    )


def _packets(plan: RunPlan) -> int:
    return int(_packets_of_flows(plan).sum())


def _packets_of_flows(plan: RunPlan) -> Integers:
    packets: Integers = -(-plan.columns.size_bytes // plan.transport.payload_bytes)
    return packets


def _intervals(plan: RunPlan) -> int:
    """Return the number of sampling intervals until the busiest host has sent or received everything."""
    flows, hosts = plan.columns, plan.topology.hosts
    ends = np.concatenate([flows.src, flows.dst])
    moved = np.bincount(ends, np.concatenate([flows.size_bytes, flows.size_bytes]), len(hosts))
    busy_ns = float(np.max(8e9 * moved / np.array([host.rate_bps for host in hosts]), initial=0.0))
    last_ns = int(np.max(flows.start_ns, initial=0))
    return int(min(last_ns + busy_ns, plan.config.duration_ms * 1e6) // SAMPLE_NS) + 1


def _queue_rows(plan: RunPlan) -> int:
    ports = sum(len(switch_ports) for switch_ports in plan.topology.ports.values())
    intervals = _intervals(plan)
    busy = min(intervals * ports, _packets(plan) * _LINKS_OF_A_PATH)
    return intervals * len(plan.topology.switches) + busy


def _trace_bytes(plan: RunPlan) -> int:
    packets = _packets(plan)
    signals = packets // _PACKETS_PER_SIGNAL if plan.switch_settings.makes_bts else 0
    states = packets if plan.transport.cc_trace_ns else 0
    return (
        _FLOW_BYTES * len(plan.flows)
        + _QUEUE_ROW_BYTES * _queue_rows(plan)
        + _WHOLE_BUFFER_LINE_BYTES * _intervals(plan) * len(plan.topology.switches)
        + _SIGNAL_BYTES * signals
        + _CC_ROW_BYTES * states
        + _GOODPUT_ROW_BYTES * min(packets, len(plan.flows) + _intervals(plan) * len(plan.topology.hosts))
    )


def _captured_bytes(plan: RunPlan) -> int:
    """Return the size of the captures; on the real clock the last one exists twice for a while.

    A port that faces a host captures the host's flows. Other ports capture at most the flows between racks.
    """
    hosts = plan.topology.hosts
    number = {host.name: place for place, host in enumerate(hosts)}
    racks = {name: place for place, name in enumerate(plan.topology.switch)}
    rack = np.array([racks[host.switch] for host in hosts], dtype=np.int64)
    captures_of_host = np.zeros(len(hosts), dtype=np.int64)
    uplinks = 0
    for end in plan.captured:
        link = plan.topology.link_at[end]
        near = next((link_end.node for link_end in (link.a, link.b) if link_end.node in number), None)
        if near is None:
            uplinks += 1
        else:
            captures_of_host[number[near]] += 1
    src, dst = plan.columns.src, plan.columns.dst
    times = captures_of_host[src] + captures_of_host[dst] + uplinks * (rack[src] != rack[dst])
    packets = int((_packets_of_flows(plan) * times).sum())
    copies = 2 if plan.config.clock == "real" else 1
    return copies * packets * (plan.transport.payload_bytes + _CAPTURED_HEADERS_BYTES)


def _log_bytes(plan: RunPlan) -> int:
    """Return the size of a live run's logs: commands for agents and switches, and raw samples of queues."""
    if plan.config.clock != "real":
        return 0
    hosts, switches = len(plan.topology.hosts), len(plan.topology.switches)
    ports = sum(len(switch_ports) for switch_ports in plan.topology.ports.values())
    commands_bytes = _AGENT_HOST_BYTES * hosts + _AGENT_FLOW_BYTES * 2 * len(plan.flows)
    return commands_bytes + _COMMANDS_BYTES * (ports + hosts) * switches + _RAW_SAMPLE_BYTES * _queue_rows(plan)


def _live_files(plan: RunPlan) -> int:
    """Return the number of extra files: 4 per switch, 2 per agent and 5 per capture."""
    captures = len(plan.captured)
    if plan.config.clock != "real":
        return captures
    return 4 * len(plan.topology.switches) + 2 * agent_count(len(plan.topology.hosts)) + 5 * captures


def _descriptors(plan: RunPlan) -> int:
    captures = len(plan.captured)
    if plan.config.clock != "real":
        return _SPARE_DESCRIPTORS + captures
    hosts, switches = len(plan.topology.hosts), len(plan.topology.switches)
    agents = agent_count(hosts)
    runner = _SPARE_DESCRIPTORS + 2 * (hosts + switches) + 3 * switches + 2 * (agents + 2 * captures)
    agent = _SPARE_OF_CHILDREN + (6 if plan.has_programs else 4) * -(-hosts // agents)
    switch = _SPARE_OF_CHILDREN + max(len(switch_ports) for switch_ports in plan.topology.ports.values())
    return max(runner, agent, switch)
