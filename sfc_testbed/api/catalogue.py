# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The names that options and functions accept, by kind, with their meanings and with those of extensions in use.

The tables are imported when their kind is asked for, because some load slowly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.shown import nearest, shown


def _summary(row: Any) -> str:
    return str(row.summary)


def first_line(documented: type[object]) -> str:
    """Return the first line of a docstring, empty if there is none."""
    return next(iter((documented.__doc__ or "").splitlines()), "")


_KINDS: Mapping[str, tuple[str, str, Callable[[Any], str]]] = {
    "scenarios": ("scenarios.catalogue", "SCENARIOS", _summary),
    "schemes": ("request.schemes", "SCHEMES", _summary),
    "congestion controls": ("request.schemes", "RATE_CONTROLS", _summary),
    "load balancings": ("request.load_balancing", "LOAD_BALANCINGS", _summary),
    "switch programs": ("testbed.program.registered", "SWITCH_PROGRAMS", lambda row: str(row.path)),
    "faults": ("scenarios.faults.kinds", "FAULTS", _summary),
    "topologies": ("topologies.shapes", "SHAPES", first_line),
    "quantities": ("reproduction.model.quantities", "QUANTITIES", lambda row: str(row.unit)),
    "export formats": ("testbed.execution.export_formats", "EXPORT_FORMATS", _summary),
}
"""The module of each kind's table, the table, and what a row means."""


def names_of(kind: str) -> dict[str, str]:
    """Return the names of a kind and their meanings. UsageError for an unknown kind."""
    if kind not in _KINDS:
        raise UsageError(f"no kind {shown(kind)} of names; choose from {', '.join(_KINDS)}{nearest(kind, _KINDS)}")
    module, table, meaning = _KINDS[kind]
    rows: Mapping[str, Any] = getattr(import_module(f"sfc_testbed.{module}"), table)
    return {name: meaning(row) for name, row in rows.items()}
