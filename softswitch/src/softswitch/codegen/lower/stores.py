# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits assignments: C that stores an expression in a field, truncated to its width. It must not know primitives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.nodes import VALID, Const, Expr, Field, FieldRef, Op, StackField
from softswitch.codegen.ir.source import Json
from softswitch.codegen.lower.expressions import Expressions
from softswitch.codegen.lower.places import HeaderPlace, c_type, field_lvalue, last_index, native_bits, stack_place
from softswitch.codegen.lower.values import Kind, Value, bits_mask, converted, lowered, masked_text


@dataclass(frozen=True)
class Target:
    """A field that can be assigned."""

    lvalue: str
    bits: int
    signed: bool
    varbit: bool = False


def field_target(program: Program, ref: FieldRef) -> Target:
    """Return the target for a field known at compile time."""
    return Target(field_lvalue(program, ref), ref.field.bits, ref.field.signed, ref.field.varbit)


def _member_target(place: HeaderPlace, field: Field) -> Target:
    return Target(f"{place.fields}.{field.c_name}", field.bits, field.signed, field.varbit)


def target(expressions: Expressions, expr: Expr, where: Json) -> Target:
    """Return the field that an lvalue expression denotes."""
    if isinstance(expr, FieldRef) and expr.field is not VALID:
        return field_target(expressions.program, expr)
    if isinstance(expr, StackField):
        return _member_target(stack_place(expr.stack, last_index(expr.stack.array)), expr.field)
    if isinstance(expr, Op) and expr.op == "access_field" and isinstance(expr.right, Const) and expr.left is not None:
        place = expressions.header(expr.left)
        return _member_target(place, expressions.field_of(expr, place.type.fields))
    raise where.error("an assignment to this is not supported")


def store(expressions: Expressions, to: Target, expr: Expr) -> str:
    """Return C that assigns an expression."""
    if native_bits(to.bits) is None and isinstance(expr, FieldRef) and expr.field.bits == to.bits:
        source = field_lvalue(expressions.program, expr)
        return f"memmove({to.lvalue}, {source}, sizeof {to.lvalue});"
    exact = expressions.exact_or_none(expr)
    if exact is not None and _fits(exact, to):
        return store_value(to, exact)
    return store_low(to, expressions.low(expr, to.bits))


def _fits(value: Value, to: Target) -> bool:
    low, high = (-(1 << (to.bits - 1)), bits_mask(to.bits - 1)) if to.signed else (0, bits_mask(to.bits))
    return low <= value.low and value.high <= high


def store_value(to: Target, value: Value) -> str:
    """Return C that assigns a value known to fit."""
    name = c_type(to.bits, to.signed)
    if name is None:
        return f"sw_wide_to_bytes({to.lvalue}, {to.bits}, {converted(value, Kind.WIDE)});"
    if value.kind is Kind.WIDE:
        return f"{to.lvalue} = ({name})sw_wide_low({value.text});"
    return f"{to.lvalue} = {_cast(name, value.text)};"


def store_low(to: Target, text: str) -> str:
    """Return C that assigns the low bits of `text`, which has the unsigned kind of the target's width."""
    name = c_type(to.bits, to.signed)
    if name is None:
        return f"sw_wide_to_bytes({to.lvalue}, {to.bits}, {text});"
    if to.signed:
        return f"{to.lvalue} = ({name})sw_sign{64 if to.bits <= 64 else 128}({text}, {to.bits});"
    if native_bits(to.bits) == to.bits:
        return f"{to.lvalue} = {_cast(name, text)};"
    kind = Kind.of_width(to.bits, False)
    return f"{to.lvalue} = {_cast(name, masked_text(text, bits_mask(to.bits), kind))};"


def _cast(name: str, text: str) -> str:
    """Return a cast, without an inner cast of a variable or constant to 64 bits that becomes redundant."""
    plain = re.fullmatch(r"\(uint64_t\)([\w.\[\]]+(?:->[\w.\[\]]+)*)", text)
    small = re.fullmatch(r"(\d|0x[0-9a-f]{1,8})ull", text)
    if plain:
        return plain[1] if plain[1].startswith(("phv->", "local->")) and name != "sw_u128" else f"({name}){plain[1]}"
    return small[1] if small else f"({name}){text}"


def copy_header(to: HeaderPlace, source: HeaderPlace, where: Json) -> list[str]:
    """Return C that assigns a header together with its validity."""
    if to.type is not source.type and to.type.fields != source.type.fields:
        raise where.error(f"assignment of a '{source.type.name}' to a '{to.type.name}'")
    if to.metadata or source.metadata:
        raise where.error("assignment of a header to metadata, or of metadata to a header, is not supported")
    copy = f"memmove(&{to.fields}, &{source.fields}, sizeof {to.fields});"
    lines = [f"if ({source.valid})", f"    {copy}"]
    if to.siblings:
        lines += [f"if ({source.valid}) {{", *(f"    phv->valid.{s} = 0;" for s in to.siblings), "}"]
    return [*lines, f"{to.valid} = {source.valid};"]


def set_valid(place: HeaderPlace) -> list[str]:
    """Return C that makes a header valid and its union siblings invalid."""
    return [*(f"phv->valid.{s} = 0;" for s in place.siblings), f"{place.valid} = 1;"]


def fixed_bytes(place: HeaderPlace) -> str:
    """Return C for the length of a header on the wire, in bytes."""
    fixed = place.type.fixed_bits // 8
    varbit = place.type.varbit
    return f"{fixed}u" if varbit is None else f"({fixed}u + {place.fields}.{varbit.c_name}.n_bytes)"


def store_any(to: Target, value: Value) -> str:
    """Return C that assigns a value that may not fit."""
    if value.high <= bits_mask(to.bits - to.signed):
        return store_value(to, value)
    return store_low(to, lowered(value, to.bits))
