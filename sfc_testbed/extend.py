# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What a file of `--use` calls to add its classes and functions to the testbed (docs/extensions.md).

Each function adds a row to the same table that has the testbed's own rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import is_dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from sfc_testbed.hosts.transport.congestion import CONGESTION_CONTROLS, CongestionControl, PathContext
from sfc_testbed.hosts.transport.flow_control import FLOW_CONTROLS, FlowControl
from sfc_testbed.hosts.transport.load_balancing import LOAD_BALANCINGS as HOST_LOAD_BALANCINGS
from sfc_testbed.hosts.transport.load_balancing import LoadBalancing as HostLoadBalancing
from sfc_testbed.hosts.transport.loss_recovery import LOSS_RECOVERIES, LossRecovery
from sfc_testbed.request.arguments import checked_call
from sfc_testbed.request.checks import StrictModel
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.extensions import folder, owner
from sfc_testbed.request.load_balancing import LOAD_BALANCINGS, LoadBalancing
from sfc_testbed.request.schemes import RATE_CONTROLS, SCHEMES, RateControl, Scheme
from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.scenarios.catalogue import SCENARIOS
from sfc_testbed.scenarios.model.scenario import Scale, ScaleName, Scenario, Workload
from sfc_testbed.scenarios.traffic.collectives.schedule import CollectiveAlgorithm
from sfc_testbed.scenarios.traffic.collectives.table import COLLECTIVES
from sfc_testbed.testbed.program.registered import SWITCH_PROGRAMS, Entries, SwitchProgram
from sfc_testbed.topologies.shapes import SHAPES, Shape

Kind = TypeVar("Kind", bound=type[Any])
Name = str
"""A name. The function checks it, because it is a class if somebody forgets the parentheses of a decorator."""
Chosen = Mapping[str, Any]
_NONE: Chosen = {}
_LONGEST_PAUSE_NS = 1_000_000
_TIMEOUT_NS = 1_000_000
_SELECTIVE: Chosen = {"loss_recovery": "irn", "loss_recovery_parameters": {}}


class Settings(StrictModel):
    """The base class of the settings of a P4 program: pydantic checks names, types and bounds."""


@checked_call
def congestion_control(
    name: Name,
    summary: str = "",
    *,
    switch: Chosen = _NONE,
    transport: Chosen = _NONE,
    replaces_irn_cap: bool = True,
) -> Callable[[Kind], Kind]:
    """Add a subclass of CongestionControl, so that `--scheme irn+NAME` selects it.

    `switch` and `transport` are the settings that it needs, such as `{"ecn_kmin_bdp": 1, "ecn_kmax_bdp": 1}`; switches
    write telemetry if the class wants it. With `replaces_irn_cap`, IRN has no cap of its own.
    """
    _check_call("congestion_control", name)

    def added(kind: Kind) -> Kind:
        _check_algorithm(kind, CongestionControl, name, "congestion control")
        _try(kind, name, "congestion control")
        telemetry = {"int_telemetry": True} if kind.wants_telemetry else {}
        row = RateControl(
            name,
            summary or _summary(kind),
            {"congestion": name, "ack_priority": "data", **transport},
            {**telemetry, **switch},
            replaces_irn_cap,
        )
        RATE_CONTROLS.add(name, row, owner())
        CONGESTION_CONTROLS.add(name, kind, owner())
        return kind

    return added


@checked_call
def flow_control(
    name: Name, summary: str = "", *, switch: Chosen = _NONE, transport: Chosen = _NONE
) -> Callable[[Kind], Kind]:
    """Add a subclass of FlowControl and a scheme of the same name, with selective retransmission.

    `switch` and `transport` are further settings of the scheme, such as `{"bts": "ingress", "pause_cache": True}`.
    """
    _check_call("flow_control", name)

    def added(kind: Kind) -> Kind:
        _check_algorithm(kind, FlowControl, name, "flow control")
        _try(kind, name, "flow control", _LONGEST_PAUSE_NS)
        scheme(name, summary or _summary(kind), switch=switch, transport={"flow_control": name, **transport})
        FLOW_CONTROLS.add(name, kind, owner())
        return kind

    return added


@checked_call
def loss_recovery(
    name: Name, summary: str = "", *, switch: Chosen = _NONE, transport: Chosen = _NONE
) -> Callable[[Kind], Kind]:
    """Add a subclass of LossRecovery and a scheme of the same name. The arguments are those of `flow_control`."""
    _check_call("loss_recovery", name)

    def added(kind: Kind) -> Kind:
        _check_algorithm(kind, LossRecovery, name, "loss recovery")
        _try(kind, name, "loss recovery", _TIMEOUT_NS, 0)
        own = {"loss_recovery": name, "loss_recovery_parameters": {}}
        scheme(name, summary or _summary(kind), switch=switch, transport={**own, **transport})
        LOSS_RECOVERIES.add(name, kind, owner())
        return kind

    return added


@checked_call
def scheme(
    name: Name, summary: str = "", *, switch: Chosen = _NONE, transport: Chosen = _NONE, congestion: str = "window"
) -> None:
    """Add a scheme: settings of switches and hosts, and the congestion control that applies without `+`."""
    SCHEMES.add(name, Scheme(name, summary or name, switch, {**_SELECTIVE, **transport}, congestion), owner())


@checked_call
def load_balancing(
    name: Name,
    summary: str = "",
    *,
    switch: Chosen = _NONE,
    transport: Chosen = _NONE,
    program: Chosen = _NONE,
    reorders: bool = False,
) -> Callable[[Kind], Kind]:
    """Add a load balancing: settings of switches and hosts, so that `--load-balancing NAME` selects them.

    As a decorator, it also adds a subclass of sfc.LoadBalancing, with which hosts choose the UDP source port of each
    packet. `program` are settings of a P4 program that `switch_program` added. Switches keep each flow on one path
    (ECMP) unless `switch` has another `load_balancing`. With `reorders`, IRN tolerates reordering.
    """
    _check_call("load_balancing", name)
    paths = {"int_path": True, **transport}
    row = LoadBalancing(name, summary or name, {"load_balancing": "ecmp", **switch}, paths, reorders, program)
    LOAD_BALANCINGS.add(name, row, owner())

    def added(kind: Kind) -> Kind:
        _check_algorithm(kind, HostLoadBalancing, name, "load balancing")
        _try(kind, name, "load balancing", 0, 1)
        by_host = {"load_balancing": name, **paths}
        own = replace(row, summary=summary or _summary(kind), transport=by_host, reorders=reorders or kind.reorders)
        LOAD_BALANCINGS.replace(name, own)
        HOST_LOAD_BALANCINGS.add(name, kind, owner())
        return kind

    return added


@checked_call
def collective_algorithm(collective: str, name: Name) -> Callable[[Kind], Kind]:
    """Add a subclass of CollectiveAlgorithm, which `--set collective=COLLECTIVE --set algorithm=NAME` selects."""
    if collective not in COLLECTIVES:
        near = nearest(collective, COLLECTIVES)
        raise UsageError(f"unknown collective {shown(collective)}; choose from {', '.join(COLLECTIVES)}{near}")

    def added(kind: Kind) -> Kind:
        _check(kind, CollectiveAlgorithm, name, f"algorithm of {collective}")
        COLLECTIVES[collective].algorithms.add(name, kind, owner())
        return kind

    return added


@checked_call
def topology(name: Name) -> Callable[[Kind], Kind]:
    """Add a subclass of Shape as `--topology NAME`. Its fields are settings; lists show its docstring's first line."""
    _check_call("topology", name)

    def added(kind: Kind) -> Kind:
        _check(kind, Shape, name, "topology")
        kind.name = name
        SHAPES.add(name, kind, owner())
        return kind

    return added


@checked_call
def scenario(
    name: Name,
    summary: str = "",
    *,
    scale: Scale | None = None,
    laptop: Scale | None = None,
    paper: Scale | None = None,
) -> Callable[[Kind], Kind]:
    """Add a subclass of Workload as scenario NAME. Its fields are settings.

    `scale` is the network and what differs from the defaults, by default `Scale("clos")`. The scales `laptop` and
    `paper` are the same unless they are given.
    """
    _check_call("scenario", name)

    def added(kind: Kind) -> Kind:
        _check(kind, Workload, name, "scenario")
        small = scale or Scale("clos")
        scales: dict[ScaleName, Scale] = {"ci": small, "laptop": laptop or small, "paper": paper or laptop or small}
        SCENARIOS.add(name, Scenario(name, summary or _summary(kind), kind, scales), owner())
        return kind

    return added


@checked_call
def switch_program(name: Name, file: str, *, settings: type[BaseModel] = Settings) -> Callable[[Entries], Entries]:
    """Add a P4 program as `--p4 NAME`: a path of P4 or BMv2 JSON, relative to the extension's file.

    The decorated function returns the entries of the program's own tables for one switch, as TableEntry: it gets the
    switch's name, the Topology, the settings (`--set program.SETTING=VALUE`) and the Dilation. Settings are in model
    units; `dilation.wall_ns` and `dilation.wall_bps` convert them. All entries of the testbed's mechanisms stay.
    """

    def added(entries: Entries) -> Entries:
        if not (isinstance(settings, type) and issubclass(settings, BaseModel)):
            raise UsageError(f"switch program {shown(name)}: settings is not a subclass of sfc.Settings")
        path = str(folder() / file)
        SWITCH_PROGRAMS.add(name, SwitchProgram(name, path, settings, entries), owner())
        return entries

    return added


def _check_call(decorator: str, name: object) -> None:
    if not isinstance(name, str):
        raise UsageError(f'@sfc.{decorator} needs a name: write @sfc.{decorator}("my-name")')


def _check(kind: object, base: type[Any], name: str, what: str) -> None:
    if not (isinstance(kind, type) and issubclass(kind, base) and kind is not base):
        raise UsageError(
            f"{what} {shown(name)}: {shown(getattr(kind, '__name__', kind))} is not a subclass of {base.__name__}"
        )
    if missing := sorted(getattr(kind, "__abstractmethods__", ())):
        raise UsageError(f"{what} {shown(name)}: class {kind.__name__} lacks the method {missing[0]}")


def _check_algorithm(kind: type[Any], base: type[Any], name: str, what: str) -> None:
    """Raise UsageError also for parameters that cannot be set, and for a hook that is never called."""
    _check(kind, base, name, what)
    parameters = kind.Parameters
    if not (is_dataclass(parameters) and vars(parameters)["__dataclass_params__"].frozen):
        raise UsageError(f"{what} {name}: Parameters is not a frozen dataclass: @dataclass(frozen=True, slots=True)")
    for hook in vars(kind):
        if hook.startswith("on_") and not hasattr(base, hook):
            known = [other for other in dir(base) if other.startswith("on_")]
            raise UsageError(f"{what} {name}: nothing calls {kind.__name__}.{hook}{nearest(hook, known)}")


def _try(kind: type[Any], name: str, what: str, *more: int) -> None:
    """Make an object of an algorithm and read its attributes. UsageError if that fails."""
    path = PathContext(line_rate_bps=10**11, base_rtt_ns=10_000, payload_bytes=1_000, bdp_bytes=125_000)
    try:
        made = kind(kind.resolve(kind.Parameters(), path), path, *more)
        for attribute in ("window_bytes", "rate_bps") if issubclass(kind, CongestionControl) else ():
            getattr(made, attribute)
    except AttributeError as error:
        call = "; does __init__ call super().__init__(...)?" if "_bytes'" in str(error) else ""
        raise UsageError(f"{what} {name}: AttributeError: {error}{call}") from error


def _summary(kind: type[Any]) -> str:
    """Return the first line of a docstring, without the full stop."""
    return next(iter((kind.__doc__ or kind.__name__).strip().splitlines()), kind.__name__).rstrip(".")
