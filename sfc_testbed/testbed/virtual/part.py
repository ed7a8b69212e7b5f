# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A part of a network in virtual time: switches, connected in C, and hosts' NICs. They exchange frames once per round.

This module does not know when a run ends or where its records go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from sfc_testbed.hosts.build import build_nics
from sfc_testbed.hosts.protocol import HostStatistics
from sfc_testbed.hosts.records import RecordWriter
from sfc_testbed.hosts.transport.loss_recovery.base import NEVER
from sfc_testbed.hosts.transport.nic import Nic
from sfc_testbed.hosts.transport.reports import Event
from sfc_testbed.hosts.transport.transmission import PAYLOAD_BLOCK
from sfc_testbed.telemetry.queue_samples import Samples
from sfc_testbed.testbed.control_plane.commands import switch_seed
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.system.garbage import collect_all_objects, collect_new_objects_only, without_garbage_collection
from sfc_testbed.testbed.targets.common.commands import LINK_SAMPLE_NS, SAMPLE_NS, build_engine, switch_commands
from sfc_testbed.testbed.targets.common.counters import SwitchCounts, read_all_lives
from sfc_testbed.testbed.targets.common.statistics import PartStatistics, softswitch_statistics
from sfc_testbed.testbed.virtual.capture import VirtualCapture
from sfc_testbed.testbed.virtual.flow_starts import FlowStarts
from sfc_testbed.testbed.virtual.host_rounds import HostRounds
from sfc_testbed.testbed.virtual.shares import Share
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.roce.packets import ICRC_BYTES
from softswitch.engine import ENTRY_RECORD, Fabric, SwitchEngine

if TYPE_CHECKING:
    from sfc_testbed.hosts.agent_config import HostRate, HostStall


@dataclass(frozen=True)
class FrameLog:
    """All frames that hosts and switches sent, with times in wall ns."""

    from_hosts: npt.NDArray[Any]
    """Arrivals of hosts' frames at switch ports, as ENTRY_RECORD."""
    from_switches: npt.NDArray[Any]
    """Arrivals of switches' frames at the far end of the sending port's link, as DEPARTURE_RECORD."""
    plugs: Sequence[tuple[int, int]]
    """The switch (as its index in the share) and port of each host."""


@dataclass(frozen=True)
class Counts:
    """Counters and statistics of hosts and switches."""

    hosts: list[HostStatistics]
    switches: list[SwitchCounts]
    parts: list[PartStatistics]


class Part:
    """Switches and NICs of a share, and the frames between them. Hosts are identified by their index in the share."""

    @without_garbage_collection()
    def __init__(self, plan: RunPlan, folder: Path, write: Callable[[str, Event], None], share: Share) -> None:
        """`write` gets the hosts' events with their names, in the order in which the hosts run."""
        topology = plan.topology
        self._plan = plan
        self._engines = _engines(plan, share.switches)
        self.fabric = Fabric()
        """The switches, which collect frames for other shares by the numbers of their workers."""
        index = {name: self.fabric.add(engine) for name, engine in self._engines.items()}
        _connect(topology, self.fabric, self._engines)
        self.fabric.set_block(PAYLOAD_BLOCK)
        for (engine, port), end in share.far.items():
            self.fabric.lead(engine, port, end.worker, end.engine, end.port)
        stalls, rates = _host_faults(plan)
        self._nics: list[Nic] = build_nics(
            topology, (), plan.transport, plan.dilation, stalls=stalls, rates=rates, only=share.hosts
        )
        for nic in self._nics:
            nic.fold_payloads(self.fabric.reach_bytes() + ICRC_BYTES)
        self._starts = FlowStarts(topology, plan.flows, self._nics, plan.dilation, stalls)
        self._capture = VirtualCapture(plan, share, folder)
        for switch, port in self._capture.ports:
            self.fabric.watch(switch, port)
        plugs = _plugs(topology, share.hosts, index)
        self._hosts = HostRounds(self._nics, plugs, write, self._capture.frame, self._capture.hosts)
        self._sent: list[bytes] | None = None
        self.frames_from_hosts = 0
        """The number of frames that hosts have sent since `log_frames`."""
        self._plugs = plugs
        collect_new_objects_only()

    def log_frames(self) -> None:
        """Log the frames that hosts and switches send from now on, for `logged_frames`."""
        self._sent = []
        self.fabric.log_departures()

    def logged_frames(self) -> FrameLog:
        """Return the frames sent since `log_frames`."""
        entries = np.frombuffer(b"".join(self._sent or ()), ENTRY_RECORD)
        return FrameLog(entries, self.fabric.logged_departures(), self._plugs)

    def next_ns(self) -> int:
        """Return the time of the next event, or of the first arrival at another share; NEVER if there is none."""
        switch_ns = self.fabric.next_timer_ns()
        host_ns = min(self._hosts.next_ns(), self._starts.next_ns)
        return host_ns if switch_ns is None or host_ns < switch_ns else switch_ns

    def run(self, until_ns: int) -> int:
        """Run one round up to and including an instant: switches, then hosts. Return how many hosts had an event.

        A round must not be longer than the lookahead, so that what hosts send in it reaches no switch before its end.
        """
        self.run_switches(until_ns)
        return self.run_hosts(until_ns)

    def run_switches(self, until_ns: int) -> None:
        """Run the switches for one round. Frames for other shares are then complete (`fabric.outgoing`)."""
        self._hosts.deliver(*self.fabric.run(until_ns))

    def run_switches_ahead(self, until_ns: int) -> None:
        """Run the switches up to an instant that the next round includes, unless a fault could still be cancelled."""
        if not self._plan.faults:
            self._hosts.deliver(*self.fabric.run_ahead(until_ns))

    def run_hosts(self, until_ns: int) -> int:
        """Run the hosts for one round, after the switches. Return how many hosts had an event."""
        for sender in self._starts.hand_over(until_ns):
            self._hosts.plan(sender)
        count = self._hosts.run(until_ns)
        entries, frames = self._hosts.to_switches.take()
        self.fabric.put(entries, frames)
        if self._sent is not None:
            self._sent.append(entries)
            self.frames_from_hosts += len(entries) // ENTRY_RECORD.itemsize
        if self._capture.ports:
            self._capture.frames_of_ports(self.fabric.seen(), until_ns)
        return count

    def quiesce(self) -> None:
        """Stop the hosts from sending, cancel future faults, and end stalls."""
        if self._plan.faults:
            from sfc_testbed.testbed.control_plane.faults import END_OF_STALL

            for engine in self._engines.values():
                engine.command("at_clear")
                engine.command(END_OF_STALL)
        self._starts.stop()
        self._hosts.quiesce()

    def write_rest(self, records: RecordWriter) -> None:
        """Write the records of flows that the end of the run cut off."""
        for nic in self._nics:
            records.write_rest(nic)

    def queue_samples(self) -> Iterator[tuple[str, Samples]]:
        """Yield the remaining samples of queues and links, by switch. No frame may be left in the network."""
        for name, engine in self._engines.items():
            yield name, engine.last_telemetry()

    def ready_queue_samples(self) -> Iterator[tuple[str, Samples]]:
        """Yield the samples that are complete, without advancing time, so that later samples are unaffected."""
        for name, engine in self._engines.items():
            yield name, engine.ready_telemetry()

    def delivered_packets(self) -> int:
        """Return the number of data packets that the hosts have received, each packet once."""
        return sum(nic.delivered_packets for nic in self._nics)

    def counts(self) -> Counts:
        """Return the counters so far."""
        ports = self._plan.topology.ports
        return Counts(
            [HostStatistics(nic.address.name, nic.statistics()) for nic in self._nics],
            [
                read_all_lives(engine.commands, [port.number for port in ports[name]])
                for name, engine in self._engines.items()
            ],
            [softswitch_statistics(name, engine.statistics()) for name, engine in self._engines.items()],
        )

    def close(self) -> None:
        """Close the captures and free the switches."""
        try:
            self._capture.close()
        finally:
            self.fabric.close()
            collect_all_objects()


def lookahead_ns(topology: Topology, dilation: Dilation) -> int:
    """Return the longest round in wall ns: no node may affect another one before the end of the round.

    It equals the shortest link delay, but at least 1 ns.
    """
    return max(1, min(dilation.wall_ns(link.delay_ns) for link in topology.links))


def round_end_ns(begin_ns: int, length_ns: int, limit_ns: int) -> int:
    """Return the last instant of a round that begins at `begin_ns`; NEVER if the round begins after the limit."""
    return NEVER if begin_ns > limit_ns else min(begin_ns + length_ns - 1, limit_ns)


def _engines(plan: RunPlan, names: Sequence[str]) -> dict[str, SwitchEngine]:
    library = build_engine(plan.spec.program)
    sample_ns, link_sample_ns = map(plan.dilation.wall_ns, (SAMPLE_NS, LINK_SAMPLE_NS))
    engines: dict[str, SwitchEngine] = {}
    for name in names:
        engine = SwitchEngine(
            library,
            seed=switch_seed(plan.config.seed, name, "random"),
            sample_ns=sample_ns,
            link_sample_ns=link_sample_ns,
        )
        engines[name] = engine
        engine.commands(switch_commands(plan, name))
    if plan.faults:
        from sfc_testbed.testbed.control_plane.faults import fault_commands  # most runs have none

        for planned in fault_commands(plan.topology, plan.faults, plan.dilation, plan.configured):
            if planned.switch in engines:
                engines[planned.switch].command(f"at {plan.dilation.wall_ns(planned.time_ns)} {planned.line}")
    return engines


def _host_faults(plan: RunPlan) -> tuple[Mapping[str, Sequence[HostStall]], Mapping[str, Sequence[HostRate]]]:
    """Return the stalls of each host that has any, and the changes of the rate of each host whose link is slow."""
    if not plan.faults:
        return {}, {}
    from sfc_testbed.testbed.control_plane.faults import host_stalls
    from sfc_testbed.testbed.control_plane.slow_links import nic_rates

    return host_stalls(plan.topology, plan.faults), nic_rates(plan.topology, plan.faults)


def _connect(topology: Topology, fabric: Fabric, engines: Mapping[str, SwitchEngine]) -> None:
    for link in topology.links:
        if link.a.node in engines and link.b.node in engines:
            fabric.connect(engines[link.a.node], link.a.number, engines[link.b.node], link.b.number)


def _plugs(topology: Topology, hosts: Sequence[str], index: Mapping[str, int]) -> list[tuple[int, int]]:
    """Return the engine and the port that each host is connected to."""
    ports = map(topology.tor_port, hosts)
    return [(index[port.node], port.number) for port in ports]
