# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks of a specification: each function returns the object that a word names, or raises a one-line UsageError."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from sfc_testbed.request.checks import refusal
from sfc_testbed.request.extensions import described, load
from sfc_testbed.request.load_balancing import program_settings_of, scheme_with
from sfc_testbed.request.network_file import SETTING, NetworkFile, read_network_file
from sfc_testbed.request.seeds import check_seed
from sfc_testbed.request.settings import SettingsByPart, by_part
from sfc_testbed.request.shown import nearest, shortened, shown
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.scenarios.listed import LISTED
from sfc_testbed.scenarios.model.flow import FlowRequest
from sfc_testbed.scenarios.model.flow_table import FlowTable
from sfc_testbed.scenarios.model.numbering import number_flows
from sfc_testbed.scenarios.model.planes import over_planes
from sfc_testbed.scenarios.model.scenario import Scale, Scenario, ScenarioError, Workload, random_stream
from sfc_testbed.scenarios.traffic.flow_file import FlowList, check_flow, read_flows
from sfc_testbed.testbed.control_plane.commands import MoreEntries, SwitchCommands
from sfc_testbed.testbed.control_plane.entries import TableEntry
from sfc_testbed.testbed.control_plane.settings import SwitchSettings
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.switch_targets import SwitchTarget, switch_target
from sfc_testbed.testbed.program.registered import entries_of, registered
from sfc_testbed.topologies.files.network import FileNetwork
from sfc_testbed.topologies.model import Topology, TopologyError
from sfc_testbed.topologies.shapes import SHAPES, shape
from sfc_testbed.wire.constants import TABLE_SIZES
from sfc_testbed.wire.units import serialization_ns

if TYPE_CHECKING:
    from sfc_testbed.scenarios.faults.fault import Fault

MAX_DURATION_MS = 3_600_000.0
BACKGROUND_NAMES = ("iperf3",)
"""Background programs; `testbed.live.run` starts `Iperf3` for the only one."""
_IMAGE = re.compile("[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}")
Model = TypeVar("Model", bound=BaseModel)


def scenario_at_scale(spec: RunSpec) -> tuple[Scenario, Scale]:
    """Return the scenario and its scale; `LISTED` is the scenario of a flow list without a named scenario."""
    if spec.scenario == LISTED.name and spec.flow_file is not None:
        if spec.scale not in LISTED.scales:
            raise UsageError(
                f"--scale {spec.scale}: flows from a file have no scale; leave it out, or name a scenario "
                "to use its network"
            )
        return LISTED, LISTED.scales["ci"]
    if spec.scenario not in SCENARIOS:
        raise UsageError(
            f"unknown scenario {spec.scenario!r}; choose from {', '.join(SCENARIOS)}{nearest(spec.scenario, SCENARIOS)}"
        )
    scenario = SCENARIOS[spec.scenario]
    scales: Mapping[str, Scale] = {str(name): scale for name, scale in scenario.scales.items()}
    if spec.scale not in scales:
        choices = f"{', '.join(scales)}{nearest(spec.scale, scales)}"
        raise UsageError(f"scenario {scenario.name} has no scale {spec.scale!r}; choose from {choices}")
    return scenario, scales[spec.scale]


def check_names(spec: RunSpec) -> None:
    """Raise UsageError for unknown names and for impossible settings of the traffic and of the network.

    This needs neither flows nor the modules of hosts. A plan makes the same checks and more.
    """
    load(spec.uses)
    scenario, scale = scenario_at_scale(spec)
    scheme_with(spec.scheme, spec.load_balancing)
    settings = by_part(spec.settings)
    network_of(spec, scale, settings)
    workload_of(scenario, scale, settings)


def network_of(spec: RunSpec, scale: Scale, settings: SettingsByPart) -> Topology:
    """Return the network of a request, which replaces that of the scale."""
    file = file_of(spec)
    if file is not None:
        return network_of_file(file, settings.topology)
    parameters = scale.topology_parameters if spec.topology is None else {}
    return network_named(spec.topology or scale.topology, {**parameters, **settings.topology})


def file_of(spec: RunSpec) -> NetworkFile | None:
    """Return the file of a request's network; None for a named topology."""
    return spec.network_file or read_network_file(spec.topology, spec.settings)


def workload_of(scenario: Scenario, scale: Scale, settings: SettingsByPart) -> Workload:
    """Return the workload of a scenario with the settings of a request."""
    return validated(scenario.workload, {**scale.workload, **settings.workload}, f"scenario {scenario.name}")


def interactive_network(spec: RunSpec) -> Topology:
    """Return the network of a request without a scenario."""
    file, settings = file_of(spec), by_part(spec.settings).topology
    if file is not None:
        return network_of_file(file, settings)
    return network_named("clos" if spec.topology is None else spec.topology, settings)


def network_of_file(file: NetworkFile, typed: Mapping[str, Any]) -> Topology:
    """Return the network of a file; the settings count where the file has no value."""
    parameters = {name: value for name, value in typed.items() if name != SETTING.partition(".")[2]}
    shape_of_file = validated(FileNetwork, parameters, f"topology {file.name}")
    try:
        return shape_of_file.build_from(file)
    except TopologyError as error:
        raise UsageError(f"topology {error}") from error


def network_named(name: str, parameters: Mapping[str, Any]) -> Topology:
    """Return the network of a topology by name and parameters."""
    if name not in SHAPES:
        raise UsageError(f"unknown topology {name!r}; choose from {', '.join(SHAPES)}{nearest(name, SHAPES)}")
    try:
        built = shape(name, parameters).build()
        if not isinstance(built, Topology):
            raise UsageError(f"topology {name}: build() returned {type(built).__name__}, not a Topology")
        return built
    except ValidationError as error:
        raise UsageError(f"topology {name}: {refusal(error, SHAPES[name].model_fields)}") from error
    except TopologyError as error:
        raise UsageError(f"topology {name}: {error}") from error
    except Exception as error:
        if SHAPES.owner(name) is None:
            raise
        raise UsageError(f"topology {name}: {described(error)}") from error


def target_for(spec: RunSpec, clock: str, settings: SwitchSettings, wanted_by: str) -> SwitchTarget:
    """Return the requested switch target. Raises UsageError if it lacks the clock or features that a scheme sets."""
    switch_target(spec.switch, clock, SwitchSettings())
    try:
        return switch_target(spec.switch, clock, settings)
    except UsageError as error:
        raise UsageError(f"{wanted_by}: {error}") from error


def flow_list(spec: RunSpec, workload: Workload, topology: Topology) -> FlowList:
    """Return the flows of the named file, or else of the workload."""
    check_seed(spec.seed)
    try:
        if spec.flow_file is not None:
            return read_flows(spec.flow_file, topology)
        requests = workload.flows(topology.first_plane, random_stream(spec.seed, "workload"))
        if SCENARIOS.owner(spec.scenario) is not None:
            requests = _checked(list(requests), topology.first_plane)
        if topology.planes > 1:
            requests = over_planes(requests, topology, random_stream(spec.seed, "planes"))
        return FlowList(requests, workload.measured_window_us, workload.notes)
    except ScenarioError as error:
        raise UsageError(str(error)) from error
    except Exception as error:
        if SCENARIOS.owner(spec.scenario) is None:
            raise
        raise UsageError(f"scenario {spec.scenario}: {described(error)}") from error


def _checked(requests: Sequence[FlowRequest], topology: Topology) -> Sequence[FlowRequest]:
    """Return the flows of a user's workload. ScenarioError, which counts from 1, if one is impossible here."""
    for number, request in enumerate(requests, start=1):
        if not isinstance(request, FlowRequest):
            raise ScenarioError(f"flow {number} is {shown(request)}, not a FlowRequest")
        try:
            check_flow(request, topology)
        except ScenarioError as error:
            raise ScenarioError(f"flow {number}: {error}") from error
    return requests


def numbered(requests: Sequence[FlowRequest], topology: Topology) -> FlowTable:
    """Return the requests of a list as numbered flows, with the hosts in the order of the topology."""
    try:
        return number_flows(requests).with_names(tuple(host.name for host in topology.hosts))
    except ScenarioError as error:
        raise UsageError(str(error)) from error


def faults_in(topology: Topology, texts: Sequence[str], seed: int) -> tuple[Fault, ...]:
    """Return the faults of these specifications in this network, with their random seeds."""
    if not texts:
        return ()
    from sfc_testbed.scenarios.faults.spec import parse_faults  # most runs have none

    try:
        return tuple(fault.seeded(seed) for fault in parse_faults(texts, topology))
    except ScenarioError as error:
        raise UsageError(f"--fault {error}") from error


def check_table_sizes(spec: RunSpec, commands: SwitchCommands) -> None:
    """Raise UsageError for a switch with more entries than a table of the testbed's program has."""
    if spec.program is not None:
        return  # the tables of another program may have other sizes
    for switch, of_switch in commands.items():
        entries = Counter(command.table for command in of_switch if isinstance(command, TableEntry) and command.keys)
        for table, most in TABLE_SIZES.items():
            if entries[table] > most:
                raise UsageError(
                    f"switch {switch} needs {entries[table]} entries in its table {table}, which has {most} "
                    "(switch-bmv2/include/sizes.p4); use a smaller network"
                )


def duration_ms_of(spec: RunSpec, scale: Scale, flows: FlowTable, topology: Topology) -> float:
    """Return the requested duration, or else the scale's; for a flow list it is added to the last start."""
    default_ms = scale.duration_ms
    if scale.duration_from != "begin":
        default_ms += int(flows.start_ns.max(initial=0)) / 1e6
    if scale.duration_from == "serial_end":
        slowest_bps = min(host.rate_bps for host in topology.hosts)
        default_ms += serialization_ns(int(flows.size_bytes.sum()), slowest_bps) / 1e6
    duration_ms = min(default_ms, MAX_DURATION_MS) if spec.duration_ms is None else spec.duration_ms
    if not 0 < duration_ms <= MAX_DURATION_MS:
        raise UsageError(f"--duration must be above 0 and at most {MAX_DURATION_MS:g} ms of model time")
    return duration_ms


def check_traffic_settings(spec: RunSpec, workload: Mapping[str, Any]) -> None:
    """Raise UsageError for traffic settings if the flows come from a file."""
    if spec.flow_file is not None and workload:
        name = next(iter(workload))
        raise UsageError(f"--set {name}: --flows sets the traffic, so settings of traffic have no effect; leave it out")


def check_programs(spec: RunSpec) -> None:
    """Raise UsageError unless background programs and containers exist and the clock is real."""
    if spec.background is not None and spec.background not in BACKGROUND_NAMES:
        raise UsageError(f"unknown background {spec.background!r}; choose from {', '.join(BACKGROUND_NAMES)}")
    if spec.background is not None and spec.clock != "real":
        raise UsageError("--background needs --clock real: applications cannot run in virtual time")
    check_hosts(spec.hosts, spec.clock)


def check_hosts(hosts: str | None, clock: str) -> None:
    """Raise UsageError unless hosts in containers have the real clock and a valid image name."""
    if hosts is None:
        return
    kind, _, image = hosts.partition(":")
    if kind != "docker" or not _IMAGE.fullmatch(image):
        raise UsageError(f"--hosts is docker:IMAGE, such as docker:debian:12, not {shown(hosts)}")
    if clock != "real":
        raise UsageError("--hosts needs --clock real: applications in containers cannot run in virtual time")


def validated(model: type[Model], fields: Mapping[str, Any], where: str, more_names: Iterable[str] = ()) -> Model:
    """Return a model of these fields. Raises UsageError with `where` they come from.

    `more_names` are further valid names, for suggestions of similar names.
    """
    try:
        return model(**fields)
    except ValidationError as error:
        raise UsageError(f"{where}: {refusal(error, (*model.model_fields, *more_names))}") from error


def program_settings(spec: RunSpec, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the run's P4 program for config.json. UsageError if it has no such settings."""
    settings = _program_settings(spec, typed)
    return {} if settings is None else settings.model_dump(mode="json")


def entries_of_program(spec: RunSpec, typed: Mapping[str, Any], topology: Topology) -> MoreEntries:
    """Return the entries of the run's P4 program, if an extension added the program."""
    return entries_of(registered(spec.program), topology, _program_settings(spec, typed))


def _program_settings(spec: RunSpec, typed: Mapping[str, Any]) -> BaseModel | None:
    """Return the settings of the run's P4 program: the load balancing has some, and typed ones override them."""
    row, balancing = registered(spec.program), program_settings_of(spec.load_balancing)
    if row is None and balancing:
        raise UsageError(
            f"--load-balancing {spec.load_balancing}: sets program.{next(iter(balancing))} of the P4 program of an "
            "extension; select the program with --p4 NAME"
        )
    typed = {**balancing, **typed}
    if row is not None:
        return validated(row.settings, typed, f"program {row.name}")
    if typed:
        raise UsageError(
            f"--set program.{shortened(next(iter(typed)))}: only the P4 program of an extension has settings: "
            "--use FILE.py --p4 NAME"
        )
    return None
