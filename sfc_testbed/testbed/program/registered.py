# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""P4 programs of extensions. They have settings, from which entries of further tables follow."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import BaseModel

from sfc_testbed.request.extensions import described
from sfc_testbed.request.spec import P4Program
from sfc_testbed.request.table import Table
from sfc_testbed.testbed.control_plane.commands import MoreEntries, no_entries
from sfc_testbed.testbed.control_plane.entries import TableEntry
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.topologies.model import Topology
from sfc_testbed.wire.dilation import Dilation

Entries = Callable[[str, Topology, Any, Dilation], Iterable[TableEntry]]
"""A function that returns the entries of a switch, from its name, the network, the settings and the dilation."""


@dataclass(frozen=True)
class SwitchProgram:
    """A program that `--p4 NAME` selects."""

    name: str
    path: str
    """The absolute path of its P4 source or its BMv2 JSON."""
    settings: type[BaseModel]
    """The class of its settings, which `--set program.SETTING=VALUE` sets."""
    entries: Entries


SWITCH_PROGRAMS: Table[SwitchProgram] = Table("switch program")


def registered(program: P4Program | None) -> SwitchProgram | None:
    """Return the row that a run's program comes from, or None."""
    return None if program is None else SWITCH_PROGRAMS.get(program.word or "")


def entries_of(row: SwitchProgram | None, topology: Topology, settings: BaseModel | None) -> MoreEntries:
    """Return the entries of a program for each switch and dilation. They raise UsageError if the user's code fails."""
    if row is None or settings is None:
        return no_entries
    return partial(_entries, row, topology, settings)


def _entries(
    row: SwitchProgram, topology: Topology, settings: BaseModel, switch: str, dilation: Dilation
) -> list[TableEntry]:
    try:
        entries = list(row.entries(switch, topology, settings, dilation))
    except UsageError:
        raise
    except Exception as error:
        raise UsageError(f"switch program {row.name}: {described(error)}") from error
    for entry in entries:
        if not isinstance(entry, TableEntry):
            raise UsageError(f"switch program {row.name}: {type(entry).__name__} is no TableEntry")
    return entries
