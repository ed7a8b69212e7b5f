# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The frames of a run over time, counted in a dry run: the same plan in virtual time, or its busiest window.

The dry run has the hosts, scheme, P4 program and faults of the live run, and records nothing. The P4 program runs on
softswitch, even if the live run uses BMv2; if softswitch cannot run it, the testbed's own program is used instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sfc_testbed.hosts.crash import engine_crash
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.request.spec import P4Program
from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.testbed.plan.dilations import VIRTUAL_DILATION
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.targets.common.commands import build_engine
from sfc_testbed.testbed.virtual.part import FrameLog, Part, lookahead_ns, round_end_ns
from sfc_testbed.testbed.virtual.shares import shares
from sfc_testbed.testbed.virtual.work import Work
from sfc_testbed.topologies.model import Topology
from softswitch.build import BuildError
from softswitch.codegen.ir.source import CodegenError

Tell = Callable[[float], None]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

BINS_PER_RTT = 32
MOST_WORK = 120_000
"""The most packets of a dry run: two to three seconds on one core. Longer runs are cut to their busiest window."""
_MESSAGE_WORK = 4
"""The work of a message in addition to its packets, expressed in packets."""
_MOST_FRAMES = 4 * MOST_WORK
"""The frames from hosts after which an unfinished dry run ends, since a message may be longer than a window."""
_TOLD_ROUNDS = 64
"""Rounds between two reports of progress."""


@dataclass(frozen=True)
class Traffic:
    """Frames per bin of model time. Rows are bins; bins without frames are left out."""

    bin_ns: float
    numbers: Integers
    """The number of each row's bin."""
    hosts: Floats
    """Frames that each host sends or receives."""
    switches: Floats
    """Frames that each switch sends."""
    message_starts: Floats
    """Messages that begin at each host; a message counts at both its ends."""


def ignore(share: float) -> None:
    """Ignore the share of a dry run that is done."""


def dry_run(plan: RunPlan, tell: Tell = ignore) -> Traffic:
    """Return the frames of a plan, or of its busiest window. They are the same at every dilation.

    `tell` gets the share that is done, from 0 to 1.
    """
    window = busiest_window(plan.columns, plan.transport.payload_bytes)
    if len(window) < len(plan.flows):
        plan = _cut(plan, window)
    plan = replace(plan, spec=replace(plan.spec, captures=())).at_dilation(VIRTUAL_DILATION)
    if not _runs_on_softswitch(plan.spec.program):
        plan = replace(plan, spec=replace(plan.spec, program=None))
    [whole] = shares(plan.topology, plan.columns, 1)
    part = Part(plan, Path(), _ignore, whole)
    try:
        part.log_frames()
        _run(part, plan, tell)
        return _traffic(part.logged_frames(), plan)
    finally:
        part.close()


def _run(part: Part, plan: RunPlan, tell: Tell) -> None:
    """Run until nothing is left to do. An algorithm that crashes ends the dry run: the live run reports the crash."""
    round_ns = lookahead_ns(plan.topology, plan.dilation)
    work, rounds = Work(plan), 0
    try:
        while (until_ns := round_end_ns(part.next_ns(), round_ns, plan.duration_wall_ns)) != NEVER:
            part.run(until_ns)
            rounds += 1
            if rounds % _TOLD_ROUNDS == 0:
                tell(work.share(part.delivered_packets(), until_ns))
            if part.frames_from_hosts > _MOST_FRAMES:
                break
    except Exception as error:
        if engine_crash(error) is None:
            raise


def busiest_window(flows: FlowTable, payload_bytes: int) -> Sequence[int]:
    """Return the indices of all flows, or of the flows in the shortest window with a work of MOST_WORK packets."""
    work = -(-flows.size_bytes // payload_bytes) + _MESSAGE_WORK
    if work.sum() <= MOST_WORK:
        return range(len(work))
    order = np.argsort(flows.start_ns, kind="stable")
    starts_ns = flows.start_ns[order]
    work_before = np.concatenate(([0], np.cumsum(work[order])))
    ends = np.searchsorted(work_before, work_before[:-1] + MOST_WORK).clip(max=len(order))
    is_full = work_before[ends] - work_before[:-1] >= MOST_WORK
    lengths_ns = np.where(is_full, starts_ns[ends - 1] - starts_ns, np.iinfo(np.int64).max)
    first = int(np.argmin(lengths_ns))
    return sorted(order[first : ends[first]].tolist())


def _cut(plan: RunPlan, window: Sequence[int]) -> RunPlan:
    """Return the plan with some of its flows. A flow that waits for others begins when it would in an idle network."""
    order = np.argsort(plan.columns.start_ns[window], kind="stable")
    return replace(plan, flows=plan.columns.independent(np.asarray(window)[order]))


def _runs_on_softswitch(program: P4Program | None) -> bool:
    try:
        build_engine(program)
    except (BuildError, CodegenError):
        return False
    return True


def _ignore(_host: str, _event: Event) -> None:
    """Drop an event: a dry run has no traces."""


def _traffic(log: FrameLog, plan: RunPlan) -> Traffic:
    topology, columns = plan.topology, plan.columns
    bin_ns = plan.transport.base_rtt_ns / BINS_PER_RTT
    host_count = len(topology.hosts)
    ends = _SwitchEnds(topology)
    plugs = ends.numbers(*np.array(log.plugs, dtype=np.int64).T)
    host_of_end = np.full(len(ends.switch), -1)
    host_of_end[plugs] = np.arange(host_count)
    end = np.concatenate(
        (
            host_of_end[ends.numbers(log.from_hosts["engine"], log.from_hosts["port"])],
            host_count + ends.numbers(log.from_switches["engine"], log.from_switches["port"]),
        )
    )
    wall_ns = np.concatenate((log.from_hosts["time_ns"], log.from_switches["due_ns"]))
    model_ns: Floats = np.concatenate((wall_ns / plan.dilation.factor, columns.start_ns))
    numbers, rows = np.unique((model_ns / bin_ns).astype(np.int64), return_inverse=True)
    frame_rows, flow_rows = rows[: len(end)], rows[len(end) :]
    host_at_end = np.concatenate((np.arange(host_count), host_of_end))[end]
    at_host, from_switch = host_at_end >= 0, end >= host_count
    of_hosts, of_switches = (len(numbers), host_count), (len(numbers), len(topology.switches))
    return Traffic(
        bin_ns=bin_ns,
        numbers=numbers,
        hosts=_table(frame_rows[at_host], host_at_end[at_host], of_hosts),
        switches=_table(frame_rows[from_switch], ends.switch[end[from_switch] - host_count], of_switches),
        message_starts=_table(flow_rows, columns.src, of_hosts) + _table(flow_rows, columns.dst, of_hosts),
    )


class _SwitchEnds:
    """The ends of links at switches, numbered in the topology's order."""

    def __init__(self, topology: Topology) -> None:
        ports = [topology.ports[switch.name] for switch in topology.switches]
        ends = [(switch, port.number) for switch, switch_ports in enumerate(ports) for port in switch_ports]
        self.switch = np.array([switch for switch, _ in ends])
        self._number = np.full((len(ports), 1 + max(number for _, number in ends)), -1)
        self._number[tuple(np.array(ends).T)] = np.arange(len(ends))

    def numbers(self, switch: Integers, port: Integers) -> Integers:
        """Return the number of each end, from its switch's place in the topology and its port."""
        numbers: Integers = self._number[switch, port]
        return numbers


def _table(rows: Integers, columns: Integers, shape: tuple[int, int]) -> Floats:
    """Return a table that counts how often each cell is named."""
    return np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).reshape(shape).astype(float)
