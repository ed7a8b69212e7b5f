# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The names of a compiled program (BMv2 JSON), by which calls name what they are about. They are names in full."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import chain
from pathlib import Path
from typing import Any

from softswitch.codegen import CodegenError
from softswitch.codegen.ir.blocks import Array, Calculation, Profile, Table
from softswitch.codegen.ir.nodes import Action
from softswitch.codegen.load.program import load_program
from softswitch.thrift.refusals import INVALID_RESOURCE_NAME, INVALID_RESOURCE_TYPE, Refused, TableCode


class Program:
    """What a program has, and its JSON as clients ask for it. Raises CodegenError for what is none."""

    def __init__(self, source: bytes, name: str) -> None:
        try:
            self.text = source.decode()
            document = json.loads(self.text)
        except ValueError as error:
            raise CodegenError(f"{name} is not JSON: {error}") from error
        self.md5 = hashlib.md5(source, usedforsecurity=False).digest()
        compiled = load_program(document, name)
        self.tables = {table.name: table for table in compiled.tables}
        self.calculations: Mapping[str, Calculation] = compiled.calculations
        self._profiles = {profile.name: profile for profile in compiled.profiles}
        self._arrays = {"register": compiled.registers, "counter": compiled.counters, "meter": compiled.meters}
        self.digests = {
            number: (each.name, tuple(ref.field.bits for ref in each.fields))
            for number, each in compiled.digests.items()
        }
        """Name, and the bits of each field, by number."""
        self._ids = _ids(document)

    @classmethod
    def read(cls, path: Path) -> Program:
        """The program in a file; OSError when it cannot be read."""
        return cls(path.read_bytes(), path.name)

    def table(self, name: str) -> Table:
        if name not in self.tables:
            raise Refused(TableCode.INVALID_TABLE_NAME, f"no table {name!r}")
        return self.tables[name]

    def direct_table(self, name: str) -> Table:
        """One whose entries name an action."""
        table = self.table(name)
        if table.profile is not None:
            raise Refused(TableCode.WRONG_TABLE_TYPE, f"table {name} takes members and groups")
        return table

    def indirect_table(self, name: str, *, has_groups: bool) -> Table:
        """One whose entries name a member, or a group."""
        table = self.table(name)
        if table.profile is None or (has_groups and table.profile.selector is None):
            raise Refused(TableCode.WRONG_TABLE_TYPE, f"table {name} takes no {'groups' if has_groups else 'members'}")
        return table

    def profile(self, name: str, *, has_groups: bool = False) -> Profile:
        if name not in self._profiles:
            raise Refused(TableCode.INVALID_PROFILE_NAME, f"no action profile {name!r}")
        if has_groups and self._profiles[name].selector is None:
            raise Refused(TableCode.NO_SELECTOR, f"action profile {name} has no selector")
        return self._profiles[name]

    def profile_actions(self, name: str) -> tuple[Action, ...]:
        """Those of the tables that use it."""
        users = (table.actions for table in self.tables.values() if table.profile and table.profile.name == name)
        return tuple(chain.from_iterable(users))

    def array(self, kind: str, name: str, code: int) -> Array:
        """A register, counter or meter array that belongs to no table."""
        found = self._arrays[kind].get(name)
        if found is None or found.direct:
            raise Refused(code, f"no {kind} {name!r}")
        return found

    def identifier(self, resource: int, name: str) -> int:
        """The number of something in the JSON, by the number of its kind."""
        if not 0 <= resource < len(self._ids):
            raise Refused(INVALID_RESOURCE_TYPE, f"no kind {resource} of things")
        if name not in self._ids[resource]:
            raise Refused(INVALID_RESOURCE_NAME, f"nothing of kind {resource} is {name!r}")
        return self._ids[resource][name]


def action_of(actions: tuple[Action, ...], name: str) -> Action:
    """The action of that name."""
    for action in actions:
        if action.name == name:
            return action
    raise Refused(TableCode.INVALID_ACTION_NAME, f"no action {name!r} there")


def _ids(document: Mapping[str, Any]) -> tuple[dict[str, int], ...]:
    """By kind, in the order of BMv2's resource types."""
    pipelines = document["pipelines"]
    kinds = (
        [table for pipeline in pipelines for table in pipeline["tables"]],
        [profile for pipeline in pipelines for profile in pipeline.get("action_profiles", [])],
        *(document.get(key, []) for key in ("counter_arrays", "meter_arrays", "register_arrays", "learn_lists")),
    )
    return tuple({each["name"]: each["id"] for each in items} for items in kinds)
