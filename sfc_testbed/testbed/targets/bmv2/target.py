# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The BMv2 target: starts the switches and delay lines of a live run and notes BMv2's limitations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sfc_testbed.hosts.io.links import Links, turn_off_offloads
from sfc_testbed.scenarios.faults.fault import LinkedFault
from sfc_testbed.testbed.errors import RunError
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.program.declared import Program
from sfc_testbed.testbed.program.user_program import program_file
from sfc_testbed.testbed.targets.bmv2.installation import Installation, find_bmv2
from sfc_testbed.testbed.targets.bmv2.planned import PlannedLines
from sfc_testbed.testbed.targets.bmv2.poller import poll_interval_ns
from sfc_testbed.testbed.targets.bmv2.probes import PROBE_PORT, Prober, make_probe_port
from sfc_testbed.testbed.targets.bmv2.process import LocalSwitch, SwitchSpec
from sfc_testbed.testbed.targets.bmv2.slots import worst_rate_error
from sfc_testbed.testbed.targets.bmv2.switch import Bmv2Switch, SwitchHost
from sfc_testbed.testbed.targets.common.commands import SAMPLE_NS
from sfc_testbed.testbed.targets.common.interfaces import interface_of
from sfc_testbed.testbed.targets.common.statistics import PartStatistics
from sfc_testbed.testbed.targets.common.target import LiveNodes, RunningSwitch
from sfc_testbed.testbed.targets.common.wires import (
    LINK_COMMANDS,
    Wire,
    WireProcess,
    check_netem,
    command_of_wire,
    cut_links,
    missing_netem,
    netem_command,
    start_wires,
)
from sfc_testbed.topologies.model import Port

_FIRST_THRIFT_PORT = 9090
"""BMv2's default port. It is free, because the run's network namespace is new."""
_NOTABLE_RATE_ERROR = 0.005


class Bmv2Target:
    """All switches of a run on BMv2."""

    def __init__(self, plan: RunPlan, state: Path, logs: Path) -> None:
        installation = find_bmv2()
        if isinstance(installation, str):
            raise RunError(installation)
        self._installation: Installation = installation
        self._plan = plan
        self._state = state
        self._logs = logs
        self._program = program_file(plan.spec.program)
        self._delays_ns = _delays_by_end(plan)
        delays_bts = plan.switch_settings.makes_bts and any(switch.bts_latency_ns for switch in plan.topology.switches)
        is_cut = bool(plan.faults) or delays_bts  # delay lines in cut links make the faults and the delay of BTS
        self._has_netem = not is_cut and missing_netem(self._delays_ns.values()) is None
        faulty = {
            link for fault in plan.faults if isinstance(fault, LinkedFault) for link in fault.links(plan.topology)
        }
        self.wires: Sequence[Wire] = (
            () if self._has_netem else cut_links(plan.topology, faulty, makes_bts=plan.switch_settings.makes_bts)
        )
        self._switches: list[Bmv2Switch] = []
        self._wire_processes: list[WireProcess] = []
        self._planned = PlannedLines(0)

    def start(self, network: LiveNodes, epoch_ns: int) -> Sequence[RunningSwitch]:
        with Links() as links:
            links.set_up("lo")  # Thrift listens there
        self._wire_processes = start_wires(self.wires, self._plan.dilation, self._state, self._logs, epoch_ns)
        self._planned = PlannedLines(epoch_ns)
        for index, switch in enumerate(self._plan.topology.switches):
            network.checkpoint()
            self._switches.append(self._start_switch(switch.name, index))
        if self._has_netem:
            self._delay_by_netem(network)
        for process in self._wire_processes:
            process.wait_until_ready()
        program = Program.read(self._program)
        for running in self._switches:
            network.checkpoint()
            running.set_up(program, epoch_ns, self._logs / f"{running.name}-commands.txt")
        return self._switches

    def plan(self, switch: str, at_ns: int, line: str) -> None:
        """Schedule a command. Delay lines execute link commands on time; other commands are sent when they are due."""
        if not line.startswith(LINK_COMMANDS):
            [running] = [candidate for candidate in self._switches if candidate.name == switch]
            self._planned.add(at_ns, lambda: running.command(line))
            return
        port, command = command_of_wire(line)
        if not any(process.plan(Port(switch, port), at_ns, command) for process in self._wire_processes):
            raise RunError(f"no wire stands in for port {port} of {switch}")

    def other_parts(self) -> Sequence[PartStatistics]:
        return [process.statistics() for process in self._wire_processes]

    def troubles(self) -> Sequence[str]:
        parts: list[Bmv2Switch | WireProcess] = [*self._switches, *self._wire_processes]
        failed = self._planned.failure
        return [*(trouble for part in parts if (trouble := part.trouble())), *([failed] if failed else [])]

    def notes(self) -> Sequence[str]:
        plan = self._plan
        poll_ns = poll_interval_ns(plan.dilation.wall_ns(SAMPLE_NS), len(plan.topology.switches))
        notes = [
            f"BMv2 {self._installation.version} has slotted links: a slot holds one packet whatever its size, and each "
            "class of a port has slots of its own.",
            f"Queue depths were polled every {plan.dilation.model_us(poll_ns):.3g} us.",
        ]
        error = worst_rate_error(plan.topology, plan.transport.payload_bytes, plan.dilation)
        if error > _NOTABLE_RATE_ERROR:
            notes.append(f"Whole packets per second make the rate of some link {100 * error:.2g} % wrong.")
        notes += [
            f"{switch.name} still counts {switch.ghost_bytes} bytes in its queues: "
            "BMv2 itself lost packets that it had let in."
            for switch in self._switches
            if switch.ghost_bytes
        ]
        return notes

    def stop(self) -> None:
        self._planned.stop()
        for switch in self._switches:
            switch.end()
        for process in self._wire_processes:
            process.halt()

    def _start_switch(self, name: str, index: int) -> Bmv2Switch:
        ports = [port.number for port in self._plan.topology.ports[name]]
        if PROBE_PORT in ports:
            raise RunError(f"{name} has no port left for probes")
        interfaces = {number: interface_of(self._plan.topology, Port(name, number)) for number in [*ports, PROBE_PORT]}
        try:
            prober = Prober(make_probe_port(name, interfaces[PROBE_PORT]))
            # With offloads, libpcap sizes its ring for the longest possible frame: only 8 frames fit.
            turn_off_offloads(list(interfaces.values()))
        except OSError as error:
            raise RunError(f"cannot prepare the ports of {name}: {error.strerror}") from error
        spec = SwitchSpec(
            name=name,
            device_id=index,
            thrift_port=_FIRST_THRIFT_PORT + index,
            program=self._program,
            interfaces=interfaces,
            state=self._state,
            log=self._logs / name,
        )
        return Bmv2Switch(self._plan, spec, self._host, prober)

    def _host(self, spec: SwitchSpec) -> SwitchHost:
        spec.notifications.unlink(missing_ok=True)  # left behind by a switch that was killed
        if self._installation.path is not None:
            return LocalSwitch(self._installation.path, spec, self._state.name)
        from sfc_testbed.testbed.targets.bmv2.container import (
            ContainerSwitch,  # Docker's module loads slowly and is rarely needed
        )

        return ContainerSwitch(spec, self._state.name)

    def _delay_by_netem(self, network: LiveNodes) -> None:
        for end, delay_ns in self._delays_ns.items():
            interface = interface_of(self._plan.topology, end)
            check_netem(interface, delay_ns, network.shell(end.node, netem_command(interface, delay_ns)))


def _delays_by_end(plan: RunPlan) -> dict[Port, int]:
    """Return the wall delay of the frames leaving at each end of a link. Ends without a delay are left out."""
    ends = [end for link in plan.topology.links for end in (link.a, link.b)]
    delays_ns = {end: plan.dilation.wall_ns(plan.topology.departure_delay_ns(end)) for end in ends}
    return {end: delay_ns for end, delay_ns in delays_ns.items() if delay_ns}
