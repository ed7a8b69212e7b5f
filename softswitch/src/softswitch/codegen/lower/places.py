# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The locations of data in generated C: the lvalue of a field, the validity flag of a header.

Owns the spelling of phv and packet members. It must not know operations on them.
"""

from __future__ import annotations

from dataclasses import dataclass

from softswitch.codegen.ir.blocks import Calculation, Program
from softswitch.codegen.ir.nodes import Field, FieldRef, Header, HeaderType, Stack, UnionStack

NATIVE_BITS = (8, 16, 32, 64, 128)


def native_bits(bits: int) -> int | None:
    """Return the width of the smallest C integer that holds `bits`, or None beyond 128 bits."""
    return next((n for n in NATIVE_BITS if n >= bits), None)


def c_type(bits: int, signed: bool) -> str | None:
    """Return the C integer type of a field or register cell, or None if it is stored as bytes."""
    width = native_bits(bits)
    if width is None:
        return None
    if width == 128:
        return "sw_i128" if signed else "sw_u128"
    return f"int{width}_t" if signed else f"uint{width}_t"


@dataclass(frozen=True)
class HeaderPlace:
    """A header, possibly chosen at run time: its member path in the phv, its type and its union siblings."""

    path: str
    type: HeaderType
    metadata: bool = False
    siblings: tuple[str, ...] = ()

    @property
    def fields(self) -> str:
        return f"phv->{self.path}"

    @property
    def valid(self) -> str:
        return "1" if self.metadata else f"phv->valid.{self.path}"


def place_of(header: Header) -> HeaderPlace:
    """Return the place of a header known at compile time."""
    return HeaderPlace(header.place, header.type, header.metadata, header.union)


def stack_place(stack: Stack, index: str) -> HeaderPlace:
    """Return the place of a stack element chosen at run time; an index out of bounds selects the spare element."""
    return HeaderPlace(f"{stack.array}[sw_at({index}, {len(stack.headers)})]", stack.type)


def union_stack_place(stack: UnionStack, member: int, index: str) -> HeaderPlace:
    """Return the place of a member of a stacked union chosen at run time."""
    at = f"[sw_at({index}, {len(stack.unions)})]"
    siblings = tuple(a + at for n, a in enumerate(stack.arrays) if n != member)
    return HeaderPlace(stack.arrays[member] + at, stack.types[member], siblings=siblings)


def last_index(array: str) -> str:
    """Return C for the index of the last extracted element; far out of bounds if no element was extracted."""
    return f"(uint64_t)phv->next.{array} - 1"


def std_member(program: Program, header: Header, field: Field) -> str | None:
    """Return the member of struct sw_standard_metadata that stores a field, or None."""
    return program.std_fields.get((header.name, field.name))


def field_lvalue(program: Program, ref: FieldRef, phv: str = "phv") -> str:
    """Return the C lvalue of a field; a field of one pass is a member of that pass's `struct local`."""
    if ref.field.hidden:
        return "1" if ref.header.metadata else f"{phv}->valid.{ref.header.place}"
    member = std_member(program, ref.header, ref.field)
    if member is not None:
        return f"{phv}->shared.std.{member}"
    name = f"{ref.header.place}.{ref.field.c_name}"
    pass_ = program.local_fields.get((ref.header.name, ref.field.name))
    return f"{phv}->{name}" if pass_ is None else f"local->{pass_}.{name}"


def calculation_call(calculation: Calculation) -> str:
    return f"calculate_{calculation.c_name}(pipeline, packet, phv, local)"
