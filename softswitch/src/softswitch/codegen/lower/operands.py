# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Translates the leaves of expressions to C: fields, parameters, lookahead and header operands.

It must not know operations between integers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.limits import LONGEST_INDEX
from softswitch.codegen.ir.nodes import (
    HEADERS_OF_STACK,
    VALID,
    Const,
    Expr,
    Field,
    FieldRef,
    HeaderRef,
    Local,
    Lookahead,
    Op,
    Param,
    StackField,
    StackRef,
    UnionRef,
    UnionStackRef,
)
from softswitch.codegen.ir.source import CodegenError, shown
from softswitch.codegen.lower.places import (
    HeaderPlace,
    field_lvalue,
    place_of,
    stack_place,
    union_stack_place,
)
from softswitch.codegen.lower.values import Kind, Value, bits_mask, field_value, lowered


@dataclass(frozen=True)
class Operands(ABC):
    """Operands inside one C function; `params` are the parameters of the enclosing action."""

    program: Program
    params: tuple[tuple[Param, str], ...] = ()
    in_parser: bool = False
    _known: dict[int, tuple[Expr, Value | None]] = field(default_factory=dict, compare=False, repr=False)

    @abstractmethod
    def value(self, expr: Expr) -> Value:
        """Return C for the exact value of an expression, with its range."""

    def header(self, expr: Expr) -> HeaderPlace:
        """Return the place of the header that an operand denotes."""
        if isinstance(expr, HeaderRef):
            return place_of(expr.header)
        if isinstance(expr, Op) and expr.op == "dereference_header_stack" and isinstance(expr.left, StackRef):
            return stack_place(expr.left.stack, self.index(expr.right))
        if isinstance(expr, Op) and expr.op == "access_union_header" and isinstance(expr.right, Const):
            return self._union_header(expr, expr.right.value)
        if isinstance(expr, StackField) and expr.field.name in HEADERS_OF_STACK:
            # The stack's headers have a field of that name; where a header is wanted, the header is meant.
            offset = " - 1" if expr.field.name == "last" else ""
            return stack_place(expr.stack, f"(uint64_t)phv->next.{expr.stack.array}{offset}")
        raise self._refuse(expr, "a header operand")

    def _union_header(self, expr: Op, member: int) -> HeaderPlace:
        union = expr.left
        if isinstance(union, UnionRef) and 0 <= member < len(union.union.members):
            return place_of(union.union.members[member])
        if (
            isinstance(union, Op)
            and isinstance(union.left, UnionStackRef)
            and 0 <= member < len(union.left.stack.arrays)
        ):
            return union_stack_place(union.left.stack, member, self.index(union.right))
        raise self._refuse(expr, "a header union operand")

    def union_valid(self, expr: Expr) -> str:
        """Return C for "at least one member is valid"."""
        if isinstance(expr, UnionRef):
            return "(" + " || ".join(place_of(m).valid for m in expr.union.members) + ")"
        if isinstance(expr, Op) and isinstance(expr.left, UnionStackRef):
            stack = expr.left.stack
            index = self.index(expr.right)
            members = (union_stack_place(stack, m, index).valid for m in range(len(stack.arrays)))
            return "(" + " || ".join(members) + ")"
        raise self._refuse(expr, "a header union operand")

    def index(self, expr: Expr) -> str:
        """Return C for a 64-bit index; a negative index becomes far out of bounds."""
        text = lowered(self.value(expr), 64)
        if len(text) > LONGEST_INDEX:
            raise self._refuse(expr, f"an index of more than {LONGEST_INDEX} characters of C")
        return text

    def field_of(self, expr: Op, fields: tuple[Field, ...]) -> Field:
        """Return the field that an `access_field` selects by its number."""
        assert isinstance(expr.right, Const)
        if not 0 <= expr.right.value < len(fields):
            raise self._refuse(expr, f"field {shown(expr.right.value)} of a header with {len(fields)} fields")
        return fields[expr.right.value]

    def _field(self, ref: FieldRef) -> Value:
        if ref.field.hidden or ref.field.varbit:
            return self._member(place_of(ref.header), ref.field)
        return field_value(field_lvalue(self.program, ref), ref.field.bits, ref.field.signed)

    def _member(self, place: HeaderPlace, field: Field) -> Value:
        if field is VALID:
            return field_value(place.valid, 1, False)
        if field.varbit:
            raise CodegenError(f"varbit '{field.name}' of {place.type.name} used as an integer is not supported")
        return field_value(f"{place.fields}.{field.c_name}", field.bits, field.signed)

    def _local(self, expr: Local) -> Value:
        if expr.index >= len(self.params):
            raise CodegenError(f"action parameter {expr.index} does not exist")
        param, name = self.params[expr.index]
        return field_value(name, param.bits, False)

    def _lookahead(self, expr: Lookahead) -> Value:
        if not self.in_parser:
            raise CodegenError("a lookahead outside a parser state is not supported")
        if expr.bits > 128:
            text = f"sw_wide_from_wire(at, {expr.offset}, {expr.bits})"
            return Value(text, 0, bits_mask(expr.bits), Kind.WIDE)
        text = f"sw_get_bits(at, {expr.offset}, {expr.bits})"
        if expr.bits <= 64:
            text = f"(uint64_t){text}"
        return Value(text, 0, bits_mask(expr.bits), Kind.holding(0, bits_mask(expr.bits)))

    def _constant(self, expr: Expr, owner: Op) -> int:
        if not isinstance(expr, Const):
            raise self._refuse(owner, "a cast to a width that is not constant")
        return expr.value

    def _refuse(self, expr: Expr, what: str) -> CodegenError:
        if isinstance(expr, Op):
            return expr.where.error(f"{what} ('{expr.op}') is not supported")
        return CodegenError(f"{type(expr).__name__} as {what} is not supported")
