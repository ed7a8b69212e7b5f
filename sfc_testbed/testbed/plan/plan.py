# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Turns a `RunSpec` into a `RunPlan`, which has everything that a run needs.

Nothing is started here; invalid input raises UsageError.
"""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sfc_testbed.hosts.transport.algorithms import resolved
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES
from sfc_testbed.hosts.transport.settings import TransportSettings
from sfc_testbed.place import command_name
from sfc_testbed.request.command import repeat_command
from sfc_testbed.request.extensions import is_compiled, load
from sfc_testbed.request.installed import version_of
from sfc_testbed.request.load_balancing import LOAD_BALANCINGS, LoadBalancing, scheme_with
from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES, RateControl, Scheme
from sfc_testbed.request.settings import SettingsByPart, by_part, settings_words
from sfc_testbed.request.spec import FaultSpan, RunConfig, RunSpec
from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.scenarios.model.scenario import Job, Scale, Scenario
from sfc_testbed.telemetry.captures.flow_packets import FlowFilter
from sfc_testbed.testbed.control_plane.commands import Configured, MoreEntries, SwitchCommands
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.flows.iterations import job_plans
from sfc_testbed.testbed.flows.waits import Waits, ideal_waits
from sfc_testbed.testbed.plan import checks
from sfc_testbed.testbed.plan.captured_ports import captured_flows, captured_ports, on_wire
from sfc_testbed.testbed.plan.dilations import NETWORK_DILATION, VIRTUAL_DILATION, DecidedDilation
from sfc_testbed.testbed.plan.fixed_point import commands_at, commands_near
from sfc_testbed.testbed.plan.goodput import goodput_interval_ns
from sfc_testbed.testbed.plan.network_settings import NetworkSettings, network_settings, on_target
from sfc_testbed.testbed.plan.suitability import path_change, setting_warnings
from sfc_testbed.testbed.plan.switch_targets import SWITCH_TARGETS, SwitchTarget, check_faults
from sfc_testbed.testbed.program.fit import check_fits
from sfc_testbed.testbed.program.sources import check_artifacts
from sfc_testbed.testbed.program.user_program import own_program
from sfc_testbed.testbed.system.garbage import without_garbage_collection
from sfc_testbed.testbed.system.limits import cores
from sfc_testbed.topologies.model import Port, Topology
from sfc_testbed.topologies.routes import equal_cost_ports
from sfc_testbed.wire import ethernet
from sfc_testbed.wire.constants import DSCP_DATA
from sfc_testbed.wire.dilation import Dilation
from sfc_testbed.wire.units import NS_PER_US

if TYPE_CHECKING:
    from sfc_testbed.scenarios.faults.fault import Fault

_HOSTS_PER_AGENT = 256


@dataclass(frozen=True)
class RunPlan:
    """A checked run: its network, flows and settings."""

    spec: RunSpec
    config: RunConfig
    topology: Topology
    flows: FlowTable
    switch_settings: SwitchSettings
    transport: TransportSettings
    commands: SwitchCommands
    """The commands that configure the P4 program of each switch, at the dilation."""
    faults: tuple[Fault, ...] = ()

    @property
    def dilation(self) -> Dilation:
        return Dilation(self.config.dilation)

    @property
    def decided(self) -> DecidedDilation:
        """The dilation and its prediction, for another plan of the same request."""
        return DecidedDilation(self.config.dilation, self.config.dilation_choice)

    def at_dilation(self, most: int) -> RunPlan:
        """Return the same plan at a dilation, or at the largest smaller one that the data plane can represent."""
        if most == self.config.dilation:
            return self
        dilation, commands = commands_near(
            self.topology, self.switch_settings, Dilation(most), self.spec.seed, self.more_entries
        )
        if self.spec.program is not None:
            check_fits(self.spec.program, self.topology, commands, SWITCH_TARGETS[self.config.switch].registers)
        command = repeat_command(self.spec, dilation.factor)
        return replace(self, config=replace(self.config, dilation=dilation.factor, command=command), commands=commands)

    @property
    def configured(self) -> Configured:
        """The configuration of the switches."""
        return Configured(self.switch_settings, self.commands)

    @property
    def more_entries(self) -> MoreEntries:
        """The entries of a user's P4 program for each switch and dilation."""
        return checks.entries_of_program(self.spec, self.config.program_settings, self.topology)

    @property
    def duration_wall_ns(self) -> int:
        return self.dilation.wall_ns(self.config.duration_ms * 1e6)

    @cached_property
    def columns(self) -> FlowTable:
        """The flows, with the start times of an idle network for flows that wait for others."""
        return _waits(self.topology, self.flows, self.transport, self.switch_settings).expected(self.flows)

    @cached_property
    def captured(self) -> tuple[Port, ...]:
        """The ends of links whose frames are captured."""
        return captured_ports(self.spec.captures, self.topology, self.flows)

    @cached_property
    def captured_flows(self) -> FlowFilter | None:
        """The selection of the frames that are captured; None for all frames."""
        numbers = captured_flows(self.spec.captures, self.flows)
        payload_bytes = self.transport.payload_bytes
        on_wires = [on_wire(self.flows, number, self.topology, payload_bytes) for number in numbers]
        return FlowFilter(on_wires) if on_wires else None

    @property
    def has_programs(self) -> bool:
        """Whether ordinary programs on the hosts use the NICs, beside the flows."""
        return self.spec.background is not None or self.spec.hosts is not None

    @property
    def resends_successors(self) -> bool:
        """Whether the hosts send a lost packet and all packets after it again."""
        return LOSS_RECOVERIES[self.transport.loss_recovery].resends_successors

    @property
    def mtu_bytes(self) -> int:
        """The longest IP packet that the run's interfaces must accept, at least the usual MTU for ordinary programs."""
        return max(ethernet.ORDINARY_MTU_BYTES, self.transport.largest_frame_bytes - ethernet.HEADER_BYTES)


@dataclass(frozen=True)
class _Traffic:
    """The network of a run and the flows in it."""

    topology: Topology
    flows: FlowTable
    duration_ms: float
    recorded: Mapping[str, Any]
    """The fields of config.json that describe the traffic."""
    notes: tuple[str, ...]
    """Sentences about how the file of the traffic was read."""
    jobs: Sequence[Job]


@without_garbage_collection()
def plan_run(spec: RunSpec, decided: DecidedDilation | None = None) -> RunPlan:
    """Check a specification and plan the run. Raises UsageError, as one line, for invalid ones.

    A `decided` dilation replaces the requested one.
    """
    load(spec.uses)
    scenario, scale = checks.scenario_at_scale(spec)
    scheme = scheme_with(spec.scheme, spec.load_balancing)
    settings = by_part(spec.settings)
    traffic = _traffic(spec, scenario, scale, settings)
    topology = traffic.topology
    goodput = {"goodput_interval_ns": goodput_interval_ns(topology, traffic.flows, traffic.duration_ms)}
    network = network_settings(
        topology,
        (scale.switch, scheme.switch, settings.switch),
        (goodput, scale.transport, scheme.transport, settings.transport),
    )
    checks.check_programs(spec)
    if spec.background is not None or spec.hosts is not None:
        # Programs beside a scenario share the class of its data, so that they meet in the same queues.
        network = replace(network, transport=replace(network.transport, program_dscp=DSCP_DATA))
    flows = traffic.flows
    target = checks.target_for(spec, spec.clock, network.switch, f"{scenario.name} {scheme.name}")
    network = on_target(network, target)
    faults = checks.faults_in(topology, (*scale.faults, *spec.faults), spec.seed)
    check_faults(target, faults, topology)
    captured_flows(spec.captures, flows)
    captured_ports(spec.captures, topology, flows)
    waits = _waits(topology, flows, network.transport, network.switch)
    requested = spec.dilation if decided is None else decided.factor
    more = checks.entries_of_program(spec, settings.program, topology)
    dilation, commands = _dilation_and_commands(spec, requested, topology, network.switch, more)
    checks.check_table_sizes(spec, commands)
    if faults:
        from sfc_testbed.testbed.control_plane.slow_links import check_rate_codes, check_slow_links

        check_rate_codes(network.transport.link_rates_bps, faults, topology)
        check_slow_links(topology, faults, dilation, Configured(network.switch, commands))
    fields_of_run = {
        **traffic.recorded,
        "scenario": scenario.name,
        "scheme": scheme.name,
        "overridden": _overridden(scheme, settings),
        "program_settings": checks.program_settings(spec, settings.program),
        "fault_spans": _fault_spans(faults),
        "setting_warnings": (
            *topology.notes,
            *traffic.notes,
            *setting_warnings(network.switch, network.transport, topology, faults),
        ),
        "ideal_completion_us": {tag: ideal_ns / 1000 for tag, ideal_ns in waits.completion_ns.items()},
        "jobs": job_plans(
            topology,
            flows,
            traffic.jobs,
            network.transport.payload_bytes,
            nic_bps=network.transport.line_rate_bps,
            change=path_change(network.switch, network.transport),
        ),
        "command": repeat_command(spec, dilation.factor),
        "dilation_choice": None if decided is None else decided.choice,
    }
    config = _config(spec, dilation, target, topology, network, commands, fields_of_run)
    return RunPlan(spec, config, topology, flows, network.switch, network.transport, commands, faults)


def plan_network(spec: RunSpec) -> RunPlan:
    """Plan an interactive network without flows: `topology` and `scheme` are used, the scenario is ignored."""
    load(spec.uses)
    checks.check_hosts(spec.hosts, "real")
    scheme = scheme_with(spec.scheme, spec.load_balancing)
    settings = by_part(spec.settings)
    if settings.workload:
        raise UsageError(f"--set {next(iter(settings.workload))}: a network without a scenario has no such setting")
    topology = checks.interactive_network(spec)
    programs = {"program_dscp": DSCP_DATA}  # programs share the class, queues and signals of messages
    network = network_settings(
        topology, (scheme.switch, settings.switch), (programs, scheme.transport, settings.transport)
    )
    target = checks.target_for(spec, "real", network.switch, f"scheme {scheme.name}")
    network = on_target(network, target)
    dilation = Dilation(spec.dilation or NETWORK_DILATION)
    more = checks.entries_of_program(spec, settings.program, topology)
    commands = commands_at(topology, network.switch, dilation, spec.seed, more)
    balancing = "" if spec.load_balancing is None else f" --load-balancing {spec.load_balancing}"
    p4_option = "" if spec.program is None else f" --p4 {shlex.quote(str(spec.program.word))}"
    uses = "".join(f" --use {shlex.quote(extension.word)}" for extension in spec.uses)
    options = f"{balancing}{p4_option}{uses}"
    fields_of_network = {
        "scenario": "none",
        "scheme": scheme.name,
        "scale": "none",
        "clock": "real",
        "duration_ms": 0.0,
        "workload": {},
        "program_settings": checks.program_settings(spec, settings.program),
        "setting_warnings": topology.notes,
        "command": f"{command_name()} cli --topology {shlex.quote(spec.topology or topology.name)} "
        f"--scheme {scheme.name}{options}",
    }
    config = _config(spec, dilation, target, topology, network, commands, fields_of_network)
    return RunPlan(spec, config, topology, checks.numbered((), topology), network.switch, network.transport, commands)


def _traffic(spec: RunSpec, scenario: Scenario, scale: Scale, settings: SettingsByPart) -> _Traffic:
    """Return the network and the flows of the scenario, or of the file that replaces them."""
    checks.check_traffic_settings(spec, settings.workload)
    topology = checks.network_of(spec, scale, settings)
    workload = checks.workload_of(scenario, scale, settings)
    listed = checks.flow_list(spec, workload, topology)
    flows = checks.numbered(listed.requests, topology)
    duration_ms = checks.duration_ms_of(spec, scale, flows, topology)
    recorded = {
        "duration_ms": duration_ms,
        "workload": workload.model_dump() if spec.flow_file is None else {},
        "measured_window_us": listed.measured_window_us,
        "has_fixed_duration": scale.has_fixed_duration and spec.flow_file is None,
    }
    jobs = workload.described_jobs() if spec.flow_file is None else ()
    return _Traffic(topology, flows, duration_ms, recorded, listed.notes, jobs)


def _dilation_and_commands(
    spec: RunSpec, requested: int | None, topology: Topology, switch: SwitchSettings, more: MoreEntries
) -> tuple[Dilation, SwitchCommands]:
    """Return the requested dilation, or the one of runs in virtual time, and the commands of the switches.

    Slow links may need a smaller one. A live run without a requested dilation keeps this one for its dry run, and
    `testbed.speed.dilation` replaces it.
    """
    dilation = Dilation(requested or VIRTUAL_DILATION)
    if requested is None:
        return commands_near(topology, switch, dilation, spec.seed, more)
    return dilation, commands_at(topology, switch, dilation, spec.seed, more)


def _waits(topology: Topology, flows: FlowTable, transport: TransportSettings, switch: SwitchSettings) -> Waits:
    nic_bps, change = transport.line_rate_bps, path_change(switch, transport)
    return ideal_waits(topology, flows, transport.payload_bytes, nic_bps=nic_bps, change=change)


_NAMED_BY_SCHEMES = ("congestion", "flow_control", "loss_recovery")
"""The settings of the transport of which a scheme's name says the value."""


def _switch_features() -> frozenset[str]:
    """Return the mechanisms of switches that some scheme or load balancing selects, such as `bts`."""
    rows: list[Scheme | RateControl | LoadBalancing] = [
        *SCHEMES.values(),
        *RATE_CONTROLS.values(),
        *LOAD_BALANCINGS.values(),
    ]
    return frozenset(name for row in rows for name, value in row.switch.items() if isinstance(value, (bool, str)))


def _overridden(scheme: Scheme, settings: SettingsByPart) -> tuple[str, ...]:
    """Return the settings that contradict the scheme's name, as words for --set."""
    transport = {**asdict(TransportSettings()), **scheme.transport}
    switch = {**SwitchSettings().model_dump(), **scheme.switch}
    features = _switch_features()
    typed = [
        *(
            (f"transport.{name}", settings.transport.get(name, transport[name]), transport[name])
            for name in _NAMED_BY_SCHEMES
        ),
        *((f"switch.{name}", value, switch[name]) for name, value in settings.switch.items() if name in features),
    ]
    return settings_words({key: value for key, value, own in typed if value != own})


def _fault_spans(faults: Sequence[Fault]) -> tuple[FaultSpan, ...]:
    """Return the time spans of all faults."""
    return tuple(
        FaultSpan(
            spec=str(fault),
            label=span.label,
            begin_us=span.begin_ns / NS_PER_US,
            end_us=None if span.end_ns is None else span.end_ns / NS_PER_US,
        )
        for fault in faults
        for span in fault.spans()
    )


def _config(
    spec: RunSpec,
    dilation: Dilation,
    target: SwitchTarget,
    topology: Topology,
    network: NetworkSettings,
    commands: SwitchCommands,
    chosen: Mapping[str, Any],
) -> RunConfig:
    """Return config.json: the options, `chosen` fields that replace or complete them, and the network's settings.

    Raises UsageError for commands that do not fit the program.
    """
    if spec.program is None or target.has_wires:
        check_artifacts()
    if spec.program is not None:
        check_fits(spec.program, topology, commands, target.registers)
    options = {entry.name: getattr(spec, entry.name) for entry in fields(spec)}
    resolved_fields = {
        "switch": target.name,
        "dilation": dilation.factor,
        "dilation_given": spec.dilation is not None,
        "program": own_program() if spec.program is None else replace(spec.program, text=""),
        "topology": topology.name,
        "network_file": checks.file_of(spec),
        "topology_parameters": dict(topology.parameters),
        "physics": network.physics_config,
        "switch_settings": network.switch.model_dump(),
        "transport_settings": asdict(resolved(network.transport)),
        "thresholds_bytes": network.thresholds_bytes,
        "equal_cost_ports": equal_cost_ports(topology),
        "versions": _versions(spec),
    }
    return RunConfig(**{**options, **resolved_fields, **chosen})


def _versions(spec: RunSpec) -> dict[str, str]:
    """Return the versions of this package, Python, the kernel, and packages that affect results.

    For each extension, say whether its algorithms are compiled.
    """
    result = {"python": platform.python_version(), "kernel": platform.release()}
    for package in ("sfc-testbed", "numpy", "polars"):
        result[package] = version_of(package) or "not installed"
    return result | {
        f"--use {extension}": "compiled" if is_compiled(extension) else "interpreted" for extension in spec.uses
    }


def agent_count(hosts: int) -> int:
    """Return the number of agents: one per core, more for very many hosts, and at most one per host."""
    return max(1, min(hosts, max(cores(), -(-hosts // _HOSTS_PER_AGENT))))
