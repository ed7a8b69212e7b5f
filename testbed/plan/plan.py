# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""From what a person asks for to everything a run needs: `RunRequest` -> `RunPlan`.

Starts nothing; bad input is a UsageError.
"""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hosts.transport.messages import NicAddress
from hosts.transport.nic import Nic
from hosts.transport.settings import TransportSettings
from scenarios.catalogue import SCENARIOS
from scenarios.files.flow_file import FlowList, read_flows
from scenarios.model.flow import Flow, number_flows
from scenarios.model.scenario import Scale, Scenario, ScenarioError, Workload, random_stream
from scenarios.schemes import Scheme, UnknownScheme, resolve_scheme
from testbed.errors import UsageError
from testbed.plan.dilation import choose_dilation
from testbed.plan.overrides import Overrides, parse_overrides
from topologies.model import Topology, TopologyError
from topologies.settings import SwitchSettings
from topologies.shapes import SHAPES, shape
from wire.constants import DSCP_DATA
from wire.dilation import Dilation

CONFIG_SCHEMA = "sfc-testbed/config/1"
MAX_SEED = 2**63 - 1
MAX_DURATION_MS = 3_600_000.0
BACKGROUND_NAMES = ("iperf3",)

ClockName = Literal["real", "virtual"]
SWITCH_TARGETS = ("soft", "bmv2")
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True)
class RunRequest:
    """What was typed. `dilation` None and `duration_ms` None are chosen; `topology` None is the scale's.

    Flows come from `flow_file` if there is one, else from the scenario's workload.
    """

    scenario: str
    scheme: str = "sfc"
    switch: str = "auto"
    clock: ClockName = "real"
    dilation: int | None = None
    scale: str = "ci"
    seed: int = 1
    duration_ms: float | None = None
    topology: str | None = None
    settings: Sequence[str] = field(default_factory=tuple)
    captures: Sequence[str] = field(default_factory=tuple)
    background: str | None = None
    flow_file: Path | None = None


class RunConfig(BaseModel):
    """config.json: all that is needed to repeat a run. Model units."""

    model_config = ConfigDict(frozen=True)

    schema_name: str = Field(default=CONFIG_SCHEMA, serialization_alias="schema")
    scenario: str
    scheme: str
    scale: str
    switch: str
    clock: ClockName
    dilation: int
    seed: int
    duration_ms: float
    topology: str
    topology_parameters: dict[str, Any]
    workload: dict[str, Any]
    switch_settings: dict[str, Any]
    transport_settings: dict[str, Any]
    thresholds_bytes: dict[str, int]
    captures: tuple[str, ...] = ()
    background: str | None = None
    measured_window_us: tuple[float, float] | None = None
    command: str
    versions: dict[str, str]


@dataclass(frozen=True)
class RunPlan:
    """A checked run: its network, flows and settings."""

    config: RunConfig
    topology: Topology
    flows: tuple[Flow, ...]
    switch_settings: SwitchSettings
    transport: TransportSettings
    dilation: Dilation

    @property
    def duration_wall_ns(self) -> int:
        return self.dilation.wall_ns(self.config.duration_ms * 1e6)


def plan_run(request: RunRequest) -> RunPlan:
    """Checks a request and works out the run. UsageError, one line, for anything that cannot be."""
    scenario, scale = _scenario_at_scale(request)
    scheme = _scheme(request.scheme)
    overrides = parse_overrides(request.settings)
    topology = _topology(request.topology or scale.topology, scale, request.topology is None, overrides)
    workload = _model(scenario.workload, {**scale.workload, **overrides.workload}, f"scenario {scenario.name}")
    switch_settings = _model(SwitchSettings, {**scale.switch, **scheme.switch, **overrides.switch}, "switch")
    transport = _beside_background(request, _transport(scheme, topology, overrides, scale))
    target = _switch_target(request.switch, request.clock, switch_settings)
    if not 0 <= request.seed <= MAX_SEED:
        raise UsageError(f"--seed must be between 0 and {MAX_SEED}")
    listed = _flow_list(request, workload, topology)
    flows = number_flows(listed.requests)
    duration_ms = scale.duration_ms if request.duration_ms is None else request.duration_ms
    if not 0 < duration_ms <= MAX_DURATION_MS:
        raise UsageError(f"--duration must be above 0 and at most {MAX_DURATION_MS:g} ms of model time")
    factor = request.dilation or choose_dilation(request.clock, target, topology, flows)
    config = RunConfig(
        scenario=scenario.name,
        scheme=scheme.name,
        scale=request.scale,
        switch=target,
        clock=request.clock,
        dilation=factor,
        seed=request.seed,
        duration_ms=duration_ms,
        topology=topology.name,
        topology_parameters=dict(topology.parameters),
        workload=workload.model_dump(),
        switch_settings=switch_settings.model_dump(),
        transport_settings=asdict(transport),
        thresholds_bytes=_thresholds(switch_settings),
        captures=_captures(request.captures, topology),
        background=request.background,
        measured_window_us=listed.measured_window_us,
        command=repeat_command(request, factor),
        versions=versions(),
    )
    return RunPlan(config, topology, flows, switch_settings, transport, Dilation(factor))


def plan_network(request: RunRequest) -> RunPlan:
    """A plan without flows, for a network to play with: `topology` and `scheme` count, the scenario does not."""
    scheme = _scheme(request.scheme)
    overrides = parse_overrides(request.settings)
    if overrides.workload:
        raise UsageError(f"--set {next(iter(overrides.workload))}: a network without a scenario has no such setting")
    topology = _topology(request.topology or "clos", Scale("clos"), True, overrides)
    switch_settings = _model(SwitchSettings, {**scheme.switch, **overrides.switch}, "switch")
    transport = _transport(scheme, topology, overrides)
    target = _switch_target(request.switch, "real", switch_settings)
    factor = request.dilation or choose_dilation("real", target, topology, ())
    config = RunConfig(
        scenario="none",
        scheme=scheme.name,
        scale="none",
        switch=target,
        clock="real",
        dilation=factor,
        seed=request.seed,
        duration_ms=0.0,
        topology=topology.name,
        topology_parameters=dict(topology.parameters),
        workload={},
        switch_settings=switch_settings.model_dump(),
        transport_settings=asdict(transport),
        thresholds_bytes=_thresholds(switch_settings),
        command=f"./runner.py cli --topology {topology.name} --scheme {scheme.name}",
        versions=versions(),
    )
    return RunPlan(config, topology, (), switch_settings, transport, Dilation(factor))


def repeat_command(request: RunRequest, factor: int) -> str:
    """The command line that repeats a run."""
    words = ["./runner.py", "run", request.scenario, "--scheme", request.scheme, "--clock", request.clock]
    if request.switch != "auto":
        words += ["--switch", request.switch]
    words += ["--scale", request.scale, "--seed", str(request.seed), "--dilation", str(factor)]
    if request.duration_ms is not None:
        words += ["--duration", f"{request.duration_ms:g}"]
    if request.topology is not None:
        words += ["--topology", request.topology]
    for setting in request.settings:
        words += ["--set", setting]
    if request.flow_file is not None:
        words += ["--flows", str(request.flow_file)]
    if request.captures:
        words += ["--pcap", ",".join(request.captures)]
    if request.background is not None:
        words += ["--background", request.background]
    return shlex.join(words)


def versions() -> dict[str, str]:
    """What ran: our version, Python, and the packages whose results depend on their version."""
    found = {"python": platform.python_version(), "kernel": platform.release()}
    for package in ("sfc-testbed", "numpy", "polars"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


def _scenario_at_scale(request: RunRequest) -> tuple[Scenario, Scale]:
    if request.scenario not in SCENARIOS:
        raise UsageError(f"no scenario {request.scenario!r}; there are {', '.join(SCENARIOS)}")
    scenario = SCENARIOS[request.scenario]
    scales: Mapping[str, Scale] = {str(name): scale for name, scale in scenario.scales.items()}
    if request.scale not in scales:
        raise UsageError(f"scenario {scenario.name} has no scale {request.scale!r}; there are {', '.join(scales)}")
    return scenario, scales[request.scale]


def _scheme(text: str) -> Scheme:
    try:
        return resolve_scheme(text)
    except UnknownScheme as error:
        raise UsageError(str(error)) from error


def _switch_target(name: str, clock: str, settings: SwitchSettings) -> str:
    """The target that a name stands for. UsageError for what it cannot do; whether it is there, nobody asks here."""
    if name == "auto":
        return "soft"
    if name not in SWITCH_TARGETS:
        raise UsageError(f"no switch {name!r}; there are auto, {', '.join(SWITCH_TARGETS)}")
    if name == "bmv2" and clock == "virtual":
        raise UsageError("--switch bmv2 has no virtual clock: BMv2 reads the machine's; use --clock real")
    if name == "bmv2" and settings.pfc:
        raise UsageError("--switch bmv2 cannot do pfc: a queue of BMv2 cannot be paused; use --switch soft")
    return name


def _topology(name: str, scale: Scale, is_scales_own: bool, overrides: Overrides) -> Topology:
    if name not in SHAPES:
        raise UsageError(f"no topology {name!r}; there are {', '.join(SHAPES)}")
    parameters = {**(scale.topology_parameters if is_scales_own else {}), **overrides.topology}
    try:
        return shape(name, parameters).build()
    except ValidationError as error:
        raise UsageError(_first_line(error, f"topology {name}")) from error
    except TopologyError as error:
        raise UsageError(f"topology {name}: {error}") from error


def _transport(
    scheme: Scheme, topology: Topology, overrides: Overrides, scale: Scale | None = None
) -> TransportSettings:
    """The NIC's settings, tried on an engine so that a wrong parameter is refused here."""
    line_rate_bps = topology.host_link[topology.hosts[0].name].rate_bps
    defaults = {"line_rate_bps": line_rate_bps, **(scale.transport if scale else {})}
    chosen: dict[str, Any] = {**defaults, **scheme.transport, **overrides.transport}
    unknown = set(chosen) - {each.name for each in fields(TransportSettings)}
    if unknown:
        raise UsageError(f"transport: there is no setting {', '.join(sorted(unknown))}")
    try:
        transport = TransportSettings(**chosen)
        Nic(NicAddress("probe", 0, 0, 0), transport, Dilation())
    except (ValueError, TypeError) as error:
        raise UsageError(f"transport: {error}") from error
    return transport


def _thresholds(settings: SwitchSettings) -> dict[str, int]:
    """The depths that plots draw as lines."""
    if settings.bts == "off":
        return {}
    return {"Q_th": settings.q_th_bytes, "Q_tg": settings.q_tg_bytes}


def _beside_background(request: RunRequest, transport: TransportSettings) -> TransportSettings:
    """Programs beside a scenario share the class of its data, so that they meet in the same queues."""
    if request.background is None:
        return transport
    if request.background not in BACKGROUND_NAMES:
        raise UsageError(f"no background {request.background!r}; there are {', '.join(BACKGROUND_NAMES)}")
    if request.clock != "real":
        raise UsageError("--background needs --clock real: programs know no virtual time")
    return replace(transport, program_dscp=DSCP_DATA)


def _captures(names: Sequence[str], topology: Topology) -> tuple[str, ...]:
    for name in names:
        if name not in topology.host:
            raise UsageError(f"--pcap: no host {name!r} in this network (h1 to h{len(topology.hosts)})")
    return tuple(names)


def _flow_list(request: RunRequest, workload: Workload, topology: Topology) -> FlowList:
    try:
        if request.flow_file is not None:
            return read_flows(request.flow_file, topology)
        made = workload.flows(topology, random_stream(request.seed, "workload"))
        return FlowList(tuple(made), workload.measured_window_us)
    except ScenarioError as error:
        raise UsageError(str(error)) from error


def _model(model: type[Model], fields: Mapping[str, Any], where: str) -> Model:
    try:
        return model(**fields)
    except ValidationError as error:
        raise UsageError(_first_line(error, where)) from error


def _first_line(error: ValidationError, where: str) -> str:
    """One line for a person out of pydantic's many."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "extra_forbidden":
        message = "there is no such setting"
    return f"{where}: {name + ': ' if name else ''}{message}"
