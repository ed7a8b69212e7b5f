# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Load balancing over equal-cost paths: named settings of switches and hosts, which any scheme can have.

A row overrides the scheme's own load balancing, and settings typed by `--set` override the row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.schemes import Scheme, resolve_scheme
from sfc_testbed.request.shown import nearest, shown
from sfc_testbed.request.table import Table


@dataclass(frozen=True)
class LoadBalancing:
    """The settings by which switches or hosts distribute packets over equal-cost paths."""

    name: str
    summary: str
    switch: Mapping[str, Any] = field(default_factory=dict)
    transport: Mapping[str, Any] = field(default_factory=dict)
    reorders: bool = False
    """Whether packets of a flow may overtake one another. IRN then tolerates this."""
    program: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the P4 program of an extension, which `--p4` selects."""
    marking: Mapping[str, Any] = field(default_factory=dict)
    """ECN settings of switches, unless the scheme's congestion control has a marking of its own."""


# Packets of a flow take different paths, so that HPCC and PowerTCP must know which path a packet took.
_CHANGING_PATHS: Mapping[str, Any] = {"int_path": True}
# A packet that a later one has overtaken counts as lost after this time (docs/sources.md#irn).
_IRN_TOLERANCE: Mapping[str, Any] = {"reordering_rtts": 1.0}
# ECN marking of the UEC simulator (docs/sources.md#load-balancing-of-hosts). Its queues are as long as one BDP.
_MARKING: Mapping[str, Any] = {"ecn_kmin_bdp": 0.2, "ecn_kmax_bdp": 0.8, "ecn_pmax": 1.0}


def _in_switches(name: str, summary: str, *, reorders: bool = True) -> LoadBalancing:
    return LoadBalancing(name, summary, {"load_balancing": name}, _CHANGING_PATHS, reorders=reorders)


def _in_hosts(name: str, summary: str, marking: Mapping[str, Any]) -> LoadBalancing:
    """Return a load balancing by the UDP source port, with the marking that it needs."""
    switch = {"load_balancing": "ecmp", "suppression_key": "queue-pair"}
    return LoadBalancing(
        name, summary, switch, {"load_balancing": name, **_CHANGING_PATHS}, reorders=True, marking=marking
    )


_ROWS = (
    LoadBalancing(
        "ecmp", "ECMP: each flow keeps one path, chosen by the hash of its 5-tuple", {"load_balancing": "ecmp"}
    ),
    _in_switches("spray", "switches send every packet to a random port"),
    _in_switches("round-robin", "switches send successive packets to successive ports"),
    _in_switches("flowlet", "LetFlow: after a gap, a flow takes another random port", reorders=False),
    _in_switches("drill", "DRILL: every packet takes the least queued of two random ports and the last best one"),
    _in_switches("adaptive", "every packet, or flowlet, takes the least queued port"),
    _in_switches(
        "conga", "CONGA: a flowlet takes the uplink whose path to the destination ToR is least loaded", reorders=False
    ),
    _in_hosts("oblivious", "hosts send packets with different UDP source ports in turn", {}),
    _in_hosts("reps", "REPS: hosts use the UDP source ports of packets that were not marked again", _MARKING),
    _in_hosts("plb", "PLB: hosts change a flow's UDP source port after congested round trips", _MARKING),
)
LOAD_BALANCINGS = Table("load balancing", ((row.name, row) for row in _ROWS))


def scheme_with(scheme: str, load_balancing: str | None) -> Scheme:
    """Return a scheme by name, with the settings of a load balancing; None: the scheme's own load balancing.

    Raise UsageError for an unknown name.
    """
    resolved = resolve_scheme(scheme)
    if load_balancing is None:
        return resolved
    row = _row(load_balancing)
    marking = {} if any(name.startswith("ecn_") for name in resolved.switch) else row.marking
    transport = {**resolved.transport, **row.transport}
    if row.reorders and transport["loss_recovery"] == "irn":
        parameters = {**_IRN_TOLERANCE, **transport.get("loss_recovery_parameters", {})}
        transport = {**transport, "loss_recovery_parameters": parameters}
    return replace(resolved, switch={**resolved.switch, **marking, **row.switch}, transport=transport)


def program_settings_of(load_balancing: str | None) -> Mapping[str, Any]:
    """Return the settings of a P4 program that a load balancing has."""
    return {} if load_balancing is None else _row(load_balancing).program


def _row(name: str) -> LoadBalancing:
    if name not in LOAD_BALANCINGS:
        near = nearest(name, LOAD_BALANCINGS)
        raise UsageError(f"unknown load balancing {shown(name)}; choose from {', '.join(LOAD_BALANCINGS)}{near}")
    return LOAD_BALANCINGS[name]
