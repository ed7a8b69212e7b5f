# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Turns a `RunRequest` into a `RunPlan`, which has everything that a run needs.

Nothing is started here; invalid input raises UsageError.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from hosts.transport.algorithms import resolved
from hosts.transport.settings import TransportSettings
from scenarios.faults.fault import Fault
from scenarios.model.flow import Flow
from testbed.errors import UsageError
from testbed.flows.columns import FlowColumns, flow_columns
from testbed.flows.waits import Waits, ideal_waits
from testbed.plan import checks
from testbed.plan.captured_ports import captured_ports
from testbed.plan.config import DilationConfig, RunConfig, fault_configs, program_config, versions
from testbed.plan.fixed_point import check_fixed_point, largest_fitting
from testbed.plan.goodput import goodput_interval_ns
from testbed.plan.network_settings import NetworkSettings, network_settings, on_target
from testbed.plan.overrides import parse_overrides
from testbed.plan.request import NETWORK_DILATION, ClockName, RunRequest, repeat_command
from testbed.plan.switch_targets import SWITCH_TARGETS, check_faults
from testbed.program.fit import check_fits
from testbed.program.given import GivenProgram
from testbed.program.sources import check_artifacts
from testbed.system.garbage import without_garbage_collection
from topologies.model import Port, Topology
from topologies.settings import SwitchSettings
from wire import ethernet
from wire.constants import DSCP_DATA
from wire.dilation import Dilation

VIRTUAL_DILATION = 1_000

__all__ = ["VIRTUAL_DILATION", "ClockName", "RunConfig", "RunPlan", "RunRequest", "plan_network", "plan_run"]


@dataclass(frozen=True)
class RunPlan:
    """A checked run: its network, flows and settings."""

    request: RunRequest
    config: RunConfig
    topology: Topology
    flows: tuple[Flow, ...]
    switch_settings: SwitchSettings
    transport: TransportSettings
    dilation: Dilation
    faults: tuple[Fault, ...] = ()
    program: GivenProgram | None = None
    """The program of the switches; None for the testbed's own."""

    def at_dilation(self, factor: int, choice: DilationConfig) -> RunPlan:
        """Return the same plan at another dilation."""
        changes = {
            "dilation": factor,
            "dilation_choice": choice,
            "command": repeat_command(self.request, factor),
        }
        return replace(self, config=self.config.model_copy(update=changes), dilation=Dilation(factor))

    @property
    def duration_wall_ns(self) -> int:
        return self.dilation.wall_ns(self.config.duration_ms * 1e6)

    @cached_property
    def columns(self) -> FlowColumns:
        """The flows as arrays; flows that wait for others have the start times of an idle network."""
        waits = _waits(self.topology, self.flows, self.transport)
        return waits.expected_columns(flow_columns(self.topology, self.flows))

    @cached_property
    def captured(self) -> tuple[Port, ...]:
        """The ends of links whose frames are captured."""
        return captured_ports(self.config.captures, self.topology)

    @property
    def has_programs(self) -> bool:
        """Whether ordinary programs on the hosts use the NICs, beside the flows."""
        return self.config.background is not None or self.config.hosts is not None

    @property
    def mtu_bytes(self) -> int:
        """The longest IP packet that the run's interfaces must accept, at least the usual MTU for ordinary programs."""
        return max(ethernet.ORDINARY_MTU_BYTES, self.transport.largest_frame_bytes - ethernet.HEADER_BYTES)


@without_garbage_collection()
def plan_run(request: RunRequest) -> RunPlan:
    """Check a request and plan the run. Raises UsageError, as one line, for invalid requests."""
    scenario, scale = checks.scenario_at_scale(request)
    scheme = checks.scheme_named(request.scheme)
    overrides = parse_overrides(request.settings)
    checks.check_traffic_settings(request, overrides.workload)
    shape_parameters = scale.topology_parameters if request.topology is None else {}
    topology = checks.network_named(request.topology or scale.topology, {**shape_parameters, **overrides.topology})
    workload = checks.validated(
        scenario.workload, {**scale.workload, **overrides.workload}, f"scenario {scenario.name}"
    )
    listed = checks.flow_list(request, workload, topology)
    duration_ms = checks.duration_ms_of(request, scale, listed.requests)
    derived = {"goodput_interval_ns": goodput_interval_ns(topology, listed.requests, duration_ms)}
    settings = network_settings(
        topology,
        (scale.switch, scheme.switch, overrides.switch),
        (derived, scale.transport, scheme.transport, overrides.transport),
    )
    checks.check_background(request)
    checks.check_hosts(request.hosts, request.clock)
    if request.background is not None or request.hosts is not None:
        # Programs beside a scenario share the class of its data, so that they meet in the same queues.
        settings = replace(settings, transport=replace(settings.transport, program_dscp=DSCP_DATA))
    flows = checks.numbered(listed.requests)
    target = checks.target_for(request, request.clock, settings.switch, f"{scenario.name} {scheme.name}")
    settings = on_target(settings, target)
    faults = checks.faults_in(topology, (*scale.faults, *request.faults), request.seed)
    check_faults(target, faults, topology)
    typed = request.dilation if request.retry is None else request.retry.dilation
    waits = _waits(topology, flows, settings.transport)
    dilation = typed or _provisional_dilation(request.clock, topology, settings.switch)
    fields: dict[str, Any] = {
        "scenario": scenario.name,
        "scheme": scheme.name,
        "scale": request.scale,
        "switch": target.name,
        "clock": request.clock,
        "dilation": dilation,
        "dilation_given": request.dilation is not None,
        "retry_of": None if request.retry is None else request.retry.of,
        "seed": request.seed,
        "duration_ms": duration_ms,
        "workload": workload.model_dump() if request.flow_file is None else {},
        "captures": _checked_captures(request, topology),
        "background": request.background,
        "hosts": request.hosts,
        "flow_file": None if request.flow_file is None else str(request.flow_file),
        "faults": fault_configs(faults),
        "measured_window_us": listed.measured_window_us,
        "ideal_completion_us": {tag: ideal_ns / 1000 for tag, ideal_ns in waits.completion_ns.items()},
        "command": repeat_command(request, dilation),
    }
    return replace(_plan(request, fields, topology, flows, settings), faults=faults)


def _provisional_dilation(clock: ClockName, topology: Topology, switch: SwitchSettings) -> int:
    """Return a dilation if the user typed none; `testbed.dilation.choice` replaces it for live runs."""
    return VIRTUAL_DILATION if clock == "virtual" else min(NETWORK_DILATION, largest_fitting(topology, switch))


def _waits(topology: Topology, flows: Sequence[Flow], transport: TransportSettings) -> Waits:
    return ideal_waits(topology, flows, transport.payload_bytes, nic_bps=transport.line_rate_bps)


def _checked_captures(request: RunRequest, topology: Topology) -> tuple[str, ...]:
    """Return the words of `--pcap` after checking that they name ports."""
    captured_ports(request.captures, topology)
    return tuple(request.captures)


def plan_network(request: RunRequest) -> RunPlan:
    """Plan an interactive network without flows: `topology` and `scheme` are used, the scenario is ignored."""
    checks.check_hosts(request.hosts, "real")
    scheme = checks.scheme_named(request.scheme)
    overrides = parse_overrides(request.settings)
    if overrides.workload:
        raise UsageError(f"--set {next(iter(overrides.workload))}: a network without a scenario has no such setting")
    topology = checks.network_named(request.topology or "clos", overrides.topology)
    programs = {"program_dscp": DSCP_DATA}  # programs share the class, queues and signals of messages
    transport = (programs, scheme.transport, overrides.transport)
    settings = network_settings(topology, (scheme.switch, overrides.switch), transport)
    target = checks.target_for(request, "real", settings.switch, f"scheme {scheme.name}")
    settings = on_target(settings, target)
    fields: dict[str, Any] = {
        "scenario": "none",
        "scheme": scheme.name,
        "scale": "none",
        "switch": target.name,
        "clock": "real",
        "dilation": request.dilation or NETWORK_DILATION,
        "seed": request.seed,
        "duration_ms": 0.0,
        "hosts": request.hosts,
        "workload": {},
        "command": f"./runner.py cli --topology {topology.name} --scheme {scheme.name}{_p4_option(request)}",
    }
    return _plan(request, fields, topology, (), settings)


def _p4_option(request: RunRequest) -> str:
    return "" if request.program is None else f" --p4 {shlex.quote(request.program.word)}"


def _plan(
    request: RunRequest,
    fields: Mapping[str, Any],
    topology: Topology,
    flows: tuple[Flow, ...],
    settings: NetworkSettings,
) -> RunPlan:
    """Complete config.json and return the plan. Raises UsageError for values that the data plane cannot hold."""
    program = request.program
    check_fixed_point(topology, settings.switch, fields["dilation"])
    target = SWITCH_TARGETS[fields["switch"]]
    if program is None or target.has_wires:
        check_artifacts()
    if program is not None:
        check_fits(program, topology, settings.switch, Dilation(fields["dilation"]), target.registers)
    config = RunConfig(
        **fields,
        program=program_config(program),
        topology=topology.name,
        topology_parameters=dict(topology.parameters),
        physics=settings.config,
        switch_settings=settings.switch.model_dump(),
        transport_settings=asdict(resolved(settings.transport)),
        thresholds_bytes=settings.thresholds_bytes,
        versions=versions(),
    )
    dilation = Dilation(config.dilation)
    return RunPlan(request, config, topology, flows, settings.switch, settings.transport, dilation, program=program)
