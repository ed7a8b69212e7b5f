# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run in virtual time: the hosts' NICs and the switches' engines in this process, joined by one order of events.

Nothing here reads a clock but for the run's own cost; for one seed every trace is the same to the byte. Switch events
of an instant come before host events (the fabric's contract), host events in the order in which they were scheduled.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Mapping
from pathlib import Path

from analysis.results.counters import RunCounters
from hosts.build import build_nics
from hosts.protocol import HostStatistics
from hosts.records import RecordWriter, SwitchClock
from hosts.transport.nic import Nic
from softswitch.engine import Fabric, SwitchEngine
from testbed.faults.nodes import END_OF_STALL, host_stalls
from testbed.faults.timeline import fault_commands
from testbed.interrupt import Interrupt
from testbed.live.capture import VirtualCapture, capture_folder
from testbed.plan.plan import RunPlan
from testbed.recording.counters import run_counters
from testbed.recording.outcome import ClockOutcome, Progress
from testbed.recording.recorder import Recorder
from testbed.targets.common.commands import SAMPLE_NS, build_engine, switch_commands
from testbed.targets.common.counters import read_all_lives
from testbed.targets.common.statistics import softswitch_statistics
from topologies.model import Topology

_NEVER = 2**63 - 1
_PROGRESS_EVENTS = 20_000


def simulate(plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt) -> ClockOutcome:
    """Runs the plan until all flows are done or its duration is over, then lets what is in flight arrive."""
    began_s = time.perf_counter()
    with _Simulation(plan, folder, recorder, progress) as simulation:
        interrupt.stop_if_requested()  # nothing is measured yet
        simulation.run_until(plan.duration_wall_ns, interrupt)
        interrupted = interrupt.is_requested
        simulation.drain(interrupt)
        simulation.record_unfinished()
        simulation.record_queues()
        counters = simulation.counters(interrupted, time.perf_counter() - began_s)
    return ClockOutcome(counters)


class _Simulation:
    """The event queue of one run. A host is known by its index in the topology."""

    def __init__(self, plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress) -> None:
        self._plan = plan
        self._recorder = recorder
        self._progress = progress
        self._engines = _engines(plan)
        self._fabric = Fabric()
        self._index = {name: self._fabric.add(engine) for name, engine in self._engines.items()}
        _connect(plan.topology, self._fabric, self._engines)
        stalls = host_stalls(plan.topology, plan.faults)
        self._nics: list[Nic] = build_nics(plan.topology, plan.flows, plan.transport, plan.dilation, stalls=stalls)
        clocks = {switch.switch_id: SwitchClock(switch.name) for switch in plan.topology.switches}
        self._records = RecordWriter(recorder.take, plan.dilation, start_ns=0, switches=clocks)
        self._edge_of_host, self._host_of_edge = _edges(plan.topology, self._index)
        captured = {
            index: host.name for index, host in enumerate(plan.topology.hosts) if host.name in plan.config.captures
        }
        self._capture = VirtualCapture(captured, capture_folder(folder, plan.config.captures))
        self._now_ns = 0
        self._events: list[tuple[int, int, int, bytes | None]] = []  # time, sequence, host, frame or None for a timer
        self._sequence = 0
        self._timer_ns = [_NEVER] * len(self._nics)
        self._is_sending = True

    def __enter__(self) -> _Simulation:
        self._recorder.begin(0)
        total = len(self._nics)
        self._progress.hosts_up(total, total)
        for host in range(total):
            self._arm(host)
        return self

    def __exit__(self, *_: object) -> None:
        self._capture.close()
        self._fabric.close()

    def run_until(self, limit_ns: int, interrupt: Interrupt) -> None:
        """Runs events until every flow is done at both ends, nothing is left to happen, the limit, or Ctrl-C."""
        total = len(self._plan.flows)
        handled = 0
        while not self._recorder.is_complete and not interrupt.is_requested and self._step(limit_ns):
            handled += 1
            if handled % _PROGRESS_EVENTS == 0:
                self._progress.flows_done(self._recorder.completed, total)
                if self._recorder.is_save_due:
                    self._save()
        self._progress.flows_done(self._recorder.completed, total)

    def drain(self, interrupt: Interrupt) -> None:
        """Hosts fall silent; what is on the way arrives and is counted. Faults that lie ahead do not happen, and what
        stands still goes on."""
        self._is_sending = False
        for engine in self._engines.values() if self._plan.faults else ():
            engine.command("at_clear")
            engine.command(END_OF_STALL)
        for nic in self._nics:
            nic.quiesce()
        while self._step(_NEVER - 1):
            interrupt.stop_if_urgent()

    def record_unfinished(self) -> None:
        """Hands over what is known of flows that the end of the run cut off."""
        for nic in self._nics:
            self._records.write_rest(nic)

    def record_queues(self) -> None:
        """Hands the switches' queue samples to the recorder."""
        for name, engine in self._engines.items():
            self._recorder.queue_samples(name, engine.telemetry())

    def _save(self) -> None:
        """Lets no time pass for the switches, so the traces are those of a run that was never saved before its end."""
        for name, engine in self._engines.items():
            self._recorder.queue_samples(name, engine.ready_telemetry())
        self._recorder.save()

    def counters(self, interrupted: bool, wall_s: float) -> RunCounters:
        """What hosts and switches counted, balanced."""
        ports = self._plan.topology.ports
        return run_counters(
            [HostStatistics(nic.address.name, nic.statistics()) for nic in self._nics],
            [
                read_all_lives(engine.command, [port.number for port in ports[name]])
                for name, engine in self._engines.items()
            ],
            [softswitch_statistics(name, engine.statistics()) for name, engine in self._engines.items()],
            undelivered=self._recorder.undelivered,
            interrupted=interrupted,
            wall_s=wall_s,
        )

    def _step(self, limit_ns: int) -> bool:
        """Runs up to the next host event; False when nothing happens until the limit any more."""
        next_event_ns = self._events[0][0] if self._events else _NEVER
        next_switch_ns = self._fabric.next_timer_ns()
        if next_switch_ns is not None and next_switch_ns <= min(next_event_ns, limit_ns):
            for engine, port, due_ns, frame in self._fabric.advance(min(next_event_ns, limit_ns)):
                self._schedule(due_ns, self._host_of_edge[engine, port], frame)
            return True
        if next_event_ns > limit_ns:
            return False
        self._handle(*heapq.heappop(self._events))
        return True

    def _handle(self, time_ns: int, _: int, host: int, frame: bytes | None) -> None:
        nic = self._nics[host]
        self._now_ns = time_ns
        if frame is not None:
            self._capture.frame(host, frame, time_ns)
            nic.receive(frame, time_ns)
        elif self._timer_ns[host] != time_ns:
            return  # a timer that was set anew since
        else:
            self._timer_ns[host] = _NEVER
        if self._is_sending:
            engine, port = self._edge_of_host[host]
            for left_ns, sent in nic.frames_to_send(time_ns):
                self._capture.frame(host, sent, left_ns)
                self._fabric.receive(engine, port, sent, left_ns)
            self._arm(host)
        self._records.write_events(nic)

    def _arm(self, host: int) -> None:
        timer_ns = self._nics[host].next_timer_ns()
        if timer_ns is not None and timer_ns < self._timer_ns[host]:
            self._timer_ns[host] = timer_ns
            self._schedule(max(timer_ns, self._now_ns), host, None)

    def _schedule(self, time_ns: int, host: int, frame: bytes | None) -> None:
        self._sequence += 1
        heapq.heappush(self._events, (time_ns, self._sequence, host, frame))


def _engines(plan: RunPlan) -> dict[str, SwitchEngine]:
    library = build_engine()
    sample_ns = plan.dilation.wall_ns(SAMPLE_NS)
    engines: dict[str, SwitchEngine] = {}
    for switch in plan.topology.switches:
        engine = SwitchEngine(library, seed=plan.config.seed, sample_ns=sample_ns)
        engines[switch.name] = engine
        for line in switch_commands(plan, switch.name):
            engine.command(line)
    for planned in fault_commands(plan.topology, plan.faults, plan.dilation):
        engines[planned.switch].command(f"at {plan.dilation.wall_ns(planned.time_ns)} {planned.line}")
    return engines


def _connect(topology: Topology, fabric: Fabric, engines: Mapping[str, SwitchEngine]) -> None:
    for link in topology.links:
        if link.a.node in engines and link.b.node in engines:
            fabric.connect(engines[link.a.node], link.a.number, engines[link.b.node], link.b.number)


def _edges(topology: Topology, index: Mapping[str, int]) -> tuple[list[tuple[int, int]], dict[tuple[int, int], int]]:
    """Where each host is plugged in, and the reverse."""
    plugs: list[tuple[int, int]] = []
    for host in topology.hosts:
        link = topology.host_link[host.name]
        port = link.b if link.a.node == host.name else link.a
        plugs.append((index[port.node], port.number))
    return plugs, {plug: host for host, plug in enumerate(plugs)}
