# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads header types, headers, stacks and unions of a BMv2 JSON.

Owns the location of each header in the phv (its place). It must not know expressions or control flow.
"""

from __future__ import annotations

from dataclasses import replace

from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.names import Scope
from softswitch.codegen.ir.nodes import Field, Header, HeaderType, Stack, Union, UnionStack
from softswitch.codegen.ir.source import Json

WIDEST_FIELD_BITS = 2048

# The fields of standard_metadata_t with the names of struct sw_standard_metadata; the target stores them.
STANDARD_FIELDS = [
    "ingress_global_timestamp",
    "egress_global_timestamp",
    "ingress_port",
    "egress_spec",
    "egress_port",
    "instance_type",
    "packet_length",
    "enq_timestamp",
    "enq_qdepth",
    "deq_timedelta",
    "deq_qdepth",
    "mcast_grp",
    "egress_rid",
    "checksum_error",
    "parser_error",
    "priority",
    "qid",
]
OWN_METADATA = "softswitch_metadata_h"
"""The type of a header in a program's metadata whose fields are softswitch's own. p4c keeps the names of header types,
but not of metadata. The header is never valid, and BMv2 ignores it."""
OWN_FIELDS = ["egress_queue"]


def load_types(root: Json, program: Program) -> None:
    """Load the program's types, headers, stacks, unions and the mapping of standard metadata."""
    scope = Scope()
    for item in root.items("header_types"):
        header_type = _header_type(item, scope)
        program.types[header_type.name] = header_type
    _Headers(root, program).load()
    _standard_metadata(root, program)


def _header_type(item: Json, scope: Scope) -> HeaderType:
    name = item["name"].text()
    if item.get("length_exp") is not None:
        raise item["length_exp"].error(f"P4_14 header length expression of '{name}' is not supported")
    fixed = sum(f[1].integer() for f in item.items("fields") if f[1].value != "*")
    members = Scope()
    fields = []
    for f in item.items("fields"):
        field_name = f[0].text()
        signed = len(f.value) > 2 and bool(f[2].value)
        varbit = f[1].value == "*"
        bits = item["max_length"].integer() * 8 - fixed if varbit else f[1].integer()
        if not varbit and bits > WIDEST_FIELD_BITS:
            raise f.error(f"field '{name}.{field_name}' of {bits} bits is wider than {WIDEST_FIELD_BITS}")
        fields.append(Field(field_name, members.unique(field_name), bits, signed, varbit))
    if sum(f.varbit for f in fields) > 1:
        raise item.error(f"header type '{name}' has more than one varbit")
    return HeaderType(name, scope.unique(name), tuple(fields))


class _Headers:
    """A loader that gives every header instance its place in the phv."""

    def __init__(self, root: Json, program: Program) -> None:
        self.root = root
        self.program = program
        self.scope = Scope()
        self.by_id: dict[int, Header] = {}
        self.items = {item["id"].integer(): item for item in root.items("headers")}

    def load(self) -> None:
        unions = {u["id"].integer(): u for u in self.root.items("header_unions")}
        for item in self.root.items("header_stacks"):
            self._stack(item)
        stacked: set[int] = set()
        for item in self.root.items("header_union_stacks"):
            ids = [i.integer() for i in item.items("header_union_ids")]
            stacked.update(ids)
            self._union_stack(item, [unions[i] for i in ids])
        for header_id, item in self.items.items():
            if header_id not in self.by_id:
                self._header(item, header_id, self.scope.unique(item["name"].text()))
        for union_id, item in unions.items():
            if union_id not in stacked:
                self._union(item)
        self.program.headers = {h.name: h for h in self.by_id.values()}
        self._rebind_stacks()

    def _type(self, item: Json) -> HeaderType:
        name = item["header_type"].text()
        if name not in self.program.types:
            raise item.error(f"unknown header type '{name}'")
        return self.program.types[name]

    def _header(self, item: Json, header_id: int, place: str) -> Header:
        header_type = self._type(item)
        metadata = item.flag("metadata")
        if not metadata and header_type.fixed_bits % 8:
            raise item.error(f"header '{item['name'].text()}' is not a whole number of bytes")
        header = Header(item["name"].text(), header_type, metadata, place)
        self.by_id[header_id] = header
        return header

    def _array(self, name: str, header_type: HeaderType, size: int) -> str:
        array = self.scope.unique(name)
        self.program.arrays.append((array, header_type, size))
        return array

    def _stack(self, item: Json) -> None:
        name = item["name"].text()
        ids = [i.integer() for i in item.items("header_ids")]
        header_type = self._type(item)
        array = self._array(name, header_type, len(ids))
        headers = [self._header(self.items[i], i, f"{array}[{n}]") for n, i in enumerate(ids)]
        self.program.stacks[name] = Stack(name, header_type, array, tuple(headers))

    def _union(self, item: Json) -> Union:
        name = item["name"].text()
        ids = [i.integer() for i in item.items("header_ids")]
        places = [self.by_id[i].place for i in ids]
        for i in ids:
            header = self.by_id[i]
            self.by_id[i] = replace(header, union=tuple(p for p in places if p != header.place))
        union = Union(name, tuple(self.by_id[i] for i in ids))
        self.program.unions[name] = union
        return union

    def _union_stack(self, item: Json, union_items: list[Json]) -> None:
        name = item["name"].text()
        if not union_items:
            raise item.error(f"header union stack '{name}' is empty")
        member_ids = [[i.integer() for i in u.items("header_ids")] for u in union_items]
        types = tuple(self._type(self.items[i]) for i in member_ids[0])
        arrays = tuple(self._array(f"{name}_{n}_{t.name}", t, len(union_items)) for n, t in enumerate(types))
        for position, ids in enumerate(member_ids):
            for member, i in enumerate(ids):
                self._header(self.items[i], i, f"{arrays[member]}[{position}]")
        unions = tuple(self._union(u) for u in union_items)
        members = self._member_names(item["union_type"])
        self.program.union_stacks[name] = UnionStack(name, self.scope.unique(name), members, types, arrays, unions)

    def _member_names(self, union_type: Json) -> tuple[str, ...]:
        for item in self.root.items("header_union_types"):
            if item["name"].text() == union_type.text():
                return tuple(h[0].text() for h in item.items("headers"))
        raise union_type.error(f"unknown header union type '{union_type.text()}'")

    def _rebind_stacks(self) -> None:
        """Replace the headers in stacks and unions by the final ones, which know their union siblings."""
        headers = self.program.headers
        for name, stack in self.program.stacks.items():
            self.program.stacks[name] = replace(stack, headers=tuple(headers[h.name] for h in stack.headers))
        for name, union in self.program.unions.items():
            self.program.unions[name] = replace(union, members=tuple(headers[h.name] for h in union.members))


def _standard_metadata(root: Json, program: Program) -> None:
    """Map header fields, by name or by alias, to members of struct sw_standard_metadata."""
    for name in STANDARD_FIELDS:
        program.std_fields["standard_metadata", name] = name
    for alias in root.items("field_aliases"):
        outside = alias[0].text().rsplit(".", 1)[-1]
        header, member = alias[1][0].text(), alias[1][1].text()
        if outside in STANDARD_FIELDS:
            program.std_fields[header, member] = outside
    for instance in program.headers.values():
        if instance.type.name == OWN_METADATA:
            program.std_fields.update({(instance.name, member): member for member in OWN_FIELDS})
