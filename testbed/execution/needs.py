# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a run will take of the machine, reckoned from its plan: room on disk, files, descriptors, memory.

Rough, and meant to be too much rather than too little:

- packets = sum over flows of bytes / payload; the run lasts until the last start plus the time that the busiest host's
  bytes take at its rate, at most the duration asked for: intervals = that time / sampling interval;
- queue rows = intervals x switches (whole buffers) + the fewer of intervals x ports and packets x links of a path;
- disk = flows, queue rows, signals (a tenth of the packets, with BTS), goodput rows (at most one a packet) and captured
  packets, each at its size in a file, + pages and plots + a block for each file; on the real clock also a raw sample
  for each queue row, and the words that agents and switches are given;
- descriptors, real clock: 2 a node of Mininet, 3 a switch, 2 an agent and 4 a capture in the runner; 4 a host (6 with
  programs) in its agent; a port each in a switch; in all of them some for themselves. Virtual clock: one a capture.
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
"""A page that holds plots of fixed width, and five of them beside it once `report` has drawn them."""
_LARGEST_PAGE_BYTES = 300_000
_COMPARISON_BYTES, _COMPARED_RUN_BYTES = 600_000, 250_000
_COMPARISON_FILES = 11
"""The page of a comparison, its two tables and at most seven plots, and their folder."""
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
"""Of a packet and of its acknowledgement: all that is not payload, and what a file says of each."""
_LINKS_OF_A_PATH = 4
_PACKETS_PER_SIGNAL = 10
_AGENT_HOST_BYTES, _AGENT_FLOW_BYTES = 512, 256
_COMMANDS_BYTES = 64
"""A line of a switch's commands: there are some for each host and port."""
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
    """What one run takes. Descriptors are those of the process that takes most."""

    disk_bytes: int
    files: int
    largest_file_bytes: int
    descriptors: int
    memory_bytes: int
    """Of its own data, besides what every run takes."""

    def times(self, count: int) -> Needs:
        """Of so many runs that follow each other."""
        return replace(self, disk_bytes=self.disk_bytes * count, files=self.files * count)


def needs_of(plan: RunPlan) -> Needs:
    """The needs of one run, as the top of this file says."""
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
    """Of a comparison of runs that are there, which takes more than any other page that is no run's own."""
    size_bytes = _COMPARISON_BYTES + _COMPARED_RUN_BYTES * runs
    return Needs(size_bytes, _COMPARISON_FILES, size_bytes, descriptors=0, memory_bytes=0)


def wall_seconds(plan: RunPlan) -> float:
    """How long the flows of a live run take at its dilation, as the top of this file says; besides its start."""
    return _intervals(plan) * SAMPLE_NS * plan.dilation.factor / 1e9


def sum_of(needs: Sequence[Needs]) -> Needs:
    """Runs that follow each other: what they leave adds up, what a process holds does not."""
    return Needs(
        disk_bytes=sum(each.disk_bytes for each in needs),
        files=sum(each.files for each in needs),
        largest_file_bytes=max(each.largest_file_bytes for each in needs),
        descriptors=max(each.descriptors for each in needs),
        memory_bytes=max(each.memory_bytes for each in needs),
    )


def _packets(plan: RunPlan) -> int:
    return int(_packets_of_flows(plan).sum())


def _packets_of_flows(plan: RunPlan) -> Integers:
    packets: Integers = -(-plan.columns.size_bytes // plan.transport.payload_bytes)
    return packets


def _intervals(plan: RunPlan) -> int:
    """Sampling intervals until the busiest host has sent or received all."""
    flows, hosts = plan.columns, plan.topology.hosts
    ends = np.concatenate([flows.src, flows.dst])
    moved = np.bincount(ends, np.concatenate([flows.size_bytes, flows.size_bytes]), len(hosts))
    busy_ns = float(np.max(8e9 * moved / np.array([host.rate_bps for host in hosts]), initial=0.0))
    last_ns = int(np.max(flows.start_ns, initial=0))
    return int(min(last_ns + busy_ns, plan.config.duration_ms * 1e6) // SAMPLE_NS) + 1


def _queue_rows(plan: RunPlan) -> int:
    ports = sum(len(each) for each in plan.topology.ports.values())
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
    """A port that faces a host sees its flows; any other at most those between racks. On the real clock the last one
    is there twice for a while."""
    hosts = plan.topology.hosts
    number = {host.name: place for place, host in enumerate(hosts)}
    racks = {name: place for place, name in enumerate(plan.topology.switch)}
    rack = np.array([racks[host.switch] for host in hosts], dtype=np.int64)
    seen = np.zeros(len(hosts), dtype=np.int64)
    uplinks = 0
    for end in plan.captured:
        link = plan.topology.link_at[end]
        near = next((each.node for each in (link.a, link.b) if each.node in number), None)
        if near is None:
            uplinks += 1
        else:
            seen[number[near]] += 1
    src, dst = plan.columns.src, plan.columns.dst
    times = seen[src] + seen[dst] + uplinks * (rack[src] != rack[dst])
    packets = int((_packets_of_flows(plan) * times).sum())
    copies = 2 if plan.config.clock == "real" else 1
    return copies * packets * (plan.transport.payload_bytes + _CAPTURED_HEADERS_BYTES)


def _log_bytes(plan: RunPlan) -> int:
    """Of a live run: what agents and switches are told, and the raw samples that become queue rows."""
    if plan.config.clock != "real":
        return 0
    hosts, switches = len(plan.topology.hosts), len(plan.topology.switches)
    ports = sum(len(each) for each in plan.topology.ports.values())
    told = _AGENT_HOST_BYTES * hosts + _AGENT_FLOW_BYTES * 2 * len(plan.flows)
    return told + _COMMANDS_BYTES * (ports + hosts) * switches + _RAW_SAMPLE_BYTES * _queue_rows(plan)


def _live_files(plan: RunPlan) -> int:
    """Commands, samples, log and statistics of a switch; words and log of an agent; 5 files a capture."""
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
    switch = _SPARE_OF_CHILDREN + max(len(each) for each in plan.topology.ports.values())
    return max(runner, agent, switch)
