# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads header types, headers, stacks and unions of a BMv2 JSON.

Owns the location of each header in the phv (its place). It must not know expressions or control flow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.limits import MOST_HEADER_BITS, MOST_MEMBERS, MOST_OBJECTS, MOST_PHV_BYTES
from softswitch.codegen.ir.names import Scope
from softswitch.codegen.ir.nodes import Field, Header, HeaderType, Stack, Union, UnionStack
from softswitch.codegen.ir.source import Json


def load_types(root: Json, program: Program) -> None:
    """Load the program's types, headers, stacks and unions."""
    scope = Scope("t")
    for item in root.items("header_types"):
        header_type = _header_type(item, scope)
        program.types[header_type.name] = header_type
    _Headers(root, program).load()


def _header_type(item: Json, scope: Scope) -> HeaderType:
    name = item["name"].text()
    if item.get("length_exp") is not None:
        raise item["length_exp"].error(f"P4_14 header length expression of '{name}' is not supported")
    rows = list(item.items("fields"))
    signs = [row[1].value != "*" and len(row.value) > 2 and bool(row[2].value) for row in rows]
    widths = [None if r[1].value == "*" else r[1].width(least=int(s)) for r, s in zip(rows, signs, strict=True)]
    if any(len(row.value) > 3 and row[3].value for row in rows):
        raise item.error(f"header type '{name}' has a saturating field, which is not supported")
    fixed = sum(bits for bits in widths if bits is not None)
    if fixed > MOST_HEADER_BITS:
        raise item.error(f"header type '{name}' of {fixed} bits; the limit is {MOST_HEADER_BITS}")
    if widths.count(None) > 1:
        raise item.error(f"header type '{name}' has more than one varbit")
    members = Scope("f")
    fields = []
    for row, sign, bits in zip(rows, signs, widths, strict=True):
        room = 8 * item["max_length"].integer(0, MOST_HEADER_BITS // 8) - fixed if bits is None else bits
        if room < 0:
            raise item["max_length"].error(f"header type '{name}' is longer than its largest size")
        fields.append(Field(row[0].text(), members.unique(), room, sign, bits is None))
    return HeaderType(name, scope.unique(), tuple(fields))


class _Headers:
    """A loader that gives every header instance its place in the phv."""

    def __init__(self, root: Json, program: Program) -> None:
        self.root = root
        self.program = program
        self.scope = Scope("h")
        self.by_id: dict[int, Header] = {}
        self.items = {item["id"].integer(): item for item in root.items("headers")}
        self.phv_bytes = 0

    def load(self) -> None:
        unions = {u["id"].integer(): u for u in self.root.items("header_unions")}
        names = Counter(item["name"].text() for item in self.items.values())
        for item in self.items.values():
            if names[item["name"].text()] > 1:
                raise item.error(f"more than one header is named '{item['name'].text()}'")
        for item in self.root.items("header_stacks"):
            self._stack(item)
        stacked: set[int] = set()
        for item in self.root.items("header_union_stacks"):
            members = [_of_id(unions, i, "header union") for i in item.items("header_union_ids")]
            stacked.update(u["id"].integer() for u in members)
            self._union_stack(item, members)
        for header_id, item in self.items.items():
            if header_id not in self.by_id:
                self._header(item, header_id, self.scope.unique())
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
        metadata = item.flag("metadata") and "[" not in place  # an element of a stack has a validity of its own
        if not metadata and header_type.fixed_bits % 8:
            raise item.error(f"header '{item['name'].text()}' is not a whole number of bytes")
        header = Header(item["name"].text(), header_type, metadata, place)
        if header_id in self.by_id:
            raise item.error(f"header '{header.name}' is an element of two stacks or unions")
        self.by_id[header_id] = header
        self._count(item, header_type)
        return header

    def _count(self, item: Json, header_type: HeaderType) -> None:
        """Count a header's bytes in the phv. Raise CodegenError above the limit."""
        self.phv_bytes += sum((field.bits + 7) // 8 + 2 * field.varbit for field in header_type.fields)
        if self.phv_bytes > MOST_PHV_BYTES:
            raise item.error(f"the headers of the program up to here have more than {MOST_PHV_BYTES} bytes")

    def _array(self, header_type: HeaderType, size: int) -> str:
        array = self.scope.unique()
        self.program.arrays.append((array, header_type, size))
        return array

    def _stack(self, item: Json) -> None:
        name = item["name"].text()
        elements = self._elements(item, MOST_OBJECTS)
        header_type = self._type(item)
        array = self._array(header_type, len(elements))
        headers = [
            self._header(element, element["id"].integer(), f"{array}[{n}]") for n, element in enumerate(elements)
        ]
        for header, element in zip(headers, elements, strict=True):
            if header.type is not header_type:
                raise element.error(f"header '{header.name}' has another type than its stack '{name}'")
        self.program.stacks[name] = Stack(name, header_type, array, tuple(headers))

    def _elements(self, item: Json, most: int = MOST_MEMBERS) -> list[Json]:
        """Return the headers of a stack or union."""
        return [_of_id(self.items, i, "header") for i in item.items("header_ids", most)]

    def _union(self, item: Json) -> Union:
        name = item["name"].text()
        ids = [element["id"].integer() for element in self._elements(item)]
        places = [self.by_id[i].place for i in ids]
        for i in ids:
            header = self.by_id[i]
            if header.metadata:
                raise item.error(f"metadata '{header.name}' in header union '{name}' is not supported")
            self.by_id[i] = replace(header, union=tuple(p for p in places if p != header.place))
        union = Union(name, tuple(self.by_id[i] for i in ids))
        self.program.unions[name] = union
        return union

    def _union_stack(self, item: Json, union_items: list[Json]) -> None:
        name = item["name"].text()
        if not union_items:
            raise item.error(f"header union stack '{name}' is empty")
        members = self._member_names(item["union_type"])
        types = tuple(map(self._type, self._elements(union_items[0])))
        arrays = tuple(self._array(t, len(union_items)) for t in types)
        for position, union_item in enumerate(union_items):
            elements = self._elements(union_item)
            if [self._type(element) for element in elements] != list(types) or len(members) != len(types):
                raise union_item.error(f"the unions of stack '{name}' have different members")
            for array, element in zip(arrays, elements, strict=True):
                self._header(element, element["id"].integer(), f"{array}[{position}]")
        unions = tuple(self._union(u) for u in union_items)
        self.program.union_stacks[name] = UnionStack(name, self.scope.unique(), members, types, arrays, unions)

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


def _of_id(items: Mapping[int, Json], number: Json, kind: str) -> Json:
    """Return the item with an id."""
    item = items.get(number.integer())
    if item is None:
        raise number.error(f"no {kind} has the id {number.integer()}")
    return item
