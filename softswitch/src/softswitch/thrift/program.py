# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The objects of a compiled program (BMv2 JSON) by name. Calls use full names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from softswitch.codegen.ir.blocks import Array, Calculation, Profile, Table
from softswitch.codegen.ir.nodes import Action
from softswitch.codegen.ir.source import Json
from softswitch.codegen.load.document import read_document
from softswitch.codegen.load.program import load_program
from softswitch.thrift.refusals import INVALID_RESOURCE_NAME, INVALID_RESOURCE_TYPE, ArrayCode, Refused, TableCode


class Program:
    """A program's objects, and its JSON for clients that request it. Raises CodegenError for invalid JSON."""

    def __init__(self, source: bytes, name: str) -> None:
        document = read_document(source, name)
        self.text = source.decode(errors="backslashreplace")
        self.md5 = hashlib.md5(source, usedforsecurity=False).digest()
        compiled = load_program(document, name)
        self.tables = {table.name: table for table in compiled.tables}
        self.calculations: Mapping[str, Calculation] = compiled.calculations
        self._profiles = {profile.name: profile for profile in compiled.profiles}
        self._arrays = {"register": compiled.registers, "counter": compiled.counters, "meter": compiled.meters}
        self.digests = {
            number: (digest.name, tuple(ref.field.bits for ref in digest.fields))
            for number, digest in compiled.digests.items()
        }
        """The name and the field widths of each digest, by number."""
        self.value_sets = {name: value_set.bits for name, value_set in compiled.value_sets.items()}
        """The width of each parser value set in bits, by name."""
        self._ids = _ids(Json(document))

    @classmethod
    def read(cls, path: Path) -> Program:
        """Read a program from a file. Raise OSError if the file cannot be read."""
        return cls(path.read_bytes(), path.name)

    def table(self, name: str) -> Table:
        if name not in self.tables:
            raise Refused(TableCode.INVALID_TABLE_NAME, f"no table {name!r}")
        return self.tables[name]

    def direct_table(self, name: str) -> Table:
        """Return a table whose entries name an action."""
        table = self.table(name)
        if table.profile is not None:
            raise Refused(TableCode.WRONG_TABLE_TYPE, f"table {name} takes members and groups")
        return table

    def indirect_table(self, name: str, *, has_groups: bool) -> Table:
        """Return a table whose entries name a member (or a group)."""
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
        """Return the actions of the tables that use a profile."""
        users = (table.actions for table in self.tables.values() if table.profile and table.profile.name == name)
        return tuple(chain.from_iterable(users))

    def array(self, kind: str, name: str) -> Array:
        """Return a register, counter or meter array that belongs to no table."""
        array = self._arrays[kind].get(name)
        if array is None or array.direct:
            raise Refused(ArrayCode.INVALID_NAME, f"no {kind} {name!r}")
        return array

    def identifier(self, resource: int, name: str) -> int:
        """Return the id of an object in the JSON; `resource` is BMv2's number of the kind of object."""
        if not 0 <= resource < len(self._ids):
            raise Refused(INVALID_RESOURCE_TYPE, f"unknown resource type {resource}")
        if name not in self._ids[resource]:
            raise Refused(INVALID_RESOURCE_NAME, f"no resource {name!r} of type {resource}")
        return self._ids[resource][name]


def _ids(root: Json) -> tuple[dict[str, int], ...]:
    """Return the ids by name for each kind of object, in the order of BMv2's resource types."""
    pipelines = list(root.items("pipelines"))
    kinds = (
        [table for pipeline in pipelines for table in pipeline.items("tables")],
        [profile for pipeline in pipelines for profile in pipeline.items("action_profiles")],
        *(root.items(key) for key in ("counter_arrays", "meter_arrays", "register_arrays", "learn_lists")),
    )
    return tuple({item["name"].text(): item["id"].integer() for item in items} for items in kinds)
