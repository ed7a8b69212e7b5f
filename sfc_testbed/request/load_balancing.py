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
    program: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the P4 program of an extension, which `--p4` selects."""


def _in_switches(name: str, summary: str) -> LoadBalancing:
    return LoadBalancing(name, summary, {"load_balancing": name})


_ROWS = (
    _in_switches("ecmp", "ECMP: each flow keeps one path, chosen by the hash of its 5-tuple"),
    _in_switches("spray", "switches send every packet over a random path"),
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
    return replace(
        resolved, switch={**resolved.switch, **row.switch}, transport={**resolved.transport, **row.transport}
    )


def program_settings_of(load_balancing: str | None) -> Mapping[str, Any]:
    """Return the settings of a P4 program that a load balancing has."""
    return {} if load_balancing is None else _row(load_balancing).program


def _row(name: str) -> LoadBalancing:
    if name not in LOAD_BALANCINGS:
        near = nearest(name, LOAD_BALANCINGS)
        raise UsageError(f"unknown load balancing {shown(name)}; choose from {', '.join(LOAD_BALANCINGS)}{near}")
    return LOAD_BALANCINGS[name]
