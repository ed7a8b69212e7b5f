# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits primitives on headers, structs, stacks and unions. It must not know their callers."""

from __future__ import annotations

from softswitch.codegen.ir.nodes import (
    Const,
    FieldRef,
    HeaderRef,
    HeaderType,
    Op,
    Stack,
    StackRef,
    UnionRef,
    UnionStack,
    UnionStackRef,
)
from softswitch.codegen.lower.places import HeaderPlace
from softswitch.codegen.lower.stores import copy_header, field_target, fixed_bytes, set_valid, store
from softswitch.codegen.primitives.call import Call


def assign_vl(call: Call) -> list[str]:
    to, source = call.target(0), call.target(1)
    if not (to.varbit and source.varbit) or to.bits != source.bits:
        raise call.refuse("fields that are not varbits of the same size")
    return [f"memmove(&{to.lvalue}, &{source.lvalue}, sizeof {to.lvalue});"]


def assign_header(call: Call) -> list[str]:
    to, source = call.expr(0), call.expr(1)
    if isinstance(to, HeaderRef) and isinstance(source, HeaderRef) and to.header.metadata:
        return _assign_metadata(call, to, source)
    return copy_header(call.header(0), call.header(1), call.primitive.where)


def _assign_metadata(call: Call, to: HeaderRef, source: HeaderRef) -> list[str]:
    """Return C that copies a struct field by field, because the target may store some of its fields."""
    if to.header.type is not source.header.type:
        raise call.refuse("structs of different types")
    pairs = ((FieldRef(to.header, f), FieldRef(source.header, f)) for f in to.header.type.fields)
    return [store(call.expressions, field_target(call.program, a), b) for a, b in pairs]


def _union_places(call: Call, index: int) -> list[HeaderPlace]:
    """Return the places of the members of a union argument."""
    expr = call.expr(index)
    if isinstance(expr, UnionRef):
        count = len(expr.union.members)
    elif isinstance(expr, Op) and isinstance(expr.left, UnionStackRef):
        count = len(expr.left.stack.arrays)
    else:
        raise call.refuse("this header union")
    where = call.primitive.where
    return [call.expressions.header(Op("access_union_header", expr, Const(m), where)) for m in range(count)]


def assign_union(call: Call) -> list[str]:
    to_places, source_places = _union_places(call, 0), _union_places(call, 1)
    if len(to_places) != len(source_places):
        raise call.refuse("unions of different types")
    pairs = zip(to_places, source_places, strict=True)
    return [line for to, source in pairs for line in _copy_member(to, source, call)]


def _copy_member(to: HeaderPlace, source: HeaderPlace, call: Call) -> list[str]:
    """Return C that copies a union member and leaves its siblings alone.

    All members are copied, and at most one member of the source is valid.
    """
    return copy_header(HeaderPlace(to.path, to.type, to.metadata), source, call.primitive.where)


def assign_header_stack(call: Call) -> list[str]:
    to, source = _stack(call, 0), _stack(call, 1)
    if _form(to) != _form(source):
        raise call.refuse("stacks of different types")
    return [line for a, b in zip(_arrays(to), _arrays(source), strict=True) for line in _copy_array(a, b)] + [
        f"phv->next.{_counter(to)} = phv->next.{_counter(source)};"
    ]


def _copy_array(to: str, source: str) -> list[str]:
    return [
        f"memmove(phv->{to}, phv->{source}, sizeof phv->{to});",
        f"memmove(phv->valid.{to}, phv->valid.{source}, sizeof phv->valid.{to});",
    ]


def add_header(call: Call) -> list[str]:
    place = call.header(0)
    if place.metadata:
        return []
    body = [
        f"memset(&{place.fields}, 0, sizeof {place.fields});",
        *set_valid(place),
        f"packet->grown_bytes += {place.type.fixed_bits // 8};",
    ]
    return [f"if (!{place.valid}) {{", *(f"    {line}" for line in body), "}"]


def remove_header(call: Call) -> list[str]:
    place = call.header(0)
    if place.metadata:
        return []
    return [
        f"if ({place.valid})",
        f"    packet->grown_bytes -= (int32_t){fixed_bytes(place)};",
        f"{place.valid} = 0;",
    ]


def _stack(call: Call, index: int) -> Stack | UnionStack:
    expr = call.expr(index)
    if not isinstance(expr, StackRef | UnionStackRef):
        raise call.refuse("an argument that is not a stack")
    return expr.stack


def _form(stack: Stack | UnionStack) -> tuple[int, tuple[HeaderType, ...]]:
    """Return the number of elements of a stack and the types of its arrays."""
    if isinstance(stack, Stack):
        return len(stack.headers), (stack.type,)
    return len(stack.unions), stack.types


def _arrays(stack: Stack | UnionStack) -> tuple[str, ...]:
    return (stack.array,) if isinstance(stack, Stack) else stack.arrays


def _counter(stack: Stack | UnionStack) -> str:
    return stack.array if isinstance(stack, Stack) else stack.c_name


def _shift(call: Call) -> tuple[Stack | UnionStack, int, int]:
    """Return the stack of a push or pop, its size, and the number of elements to shift."""
    stack, amount = _stack(call, 0), call.expr(1)
    size = len(stack.headers) if isinstance(stack, Stack) else len(stack.unions)
    if not isinstance(amount, Const) or amount.value < 0:
        raise call.refuse("an amount that is not constant or below 0")
    return stack, size, min(amount.value, size)


def push(call: Call) -> list[str]:
    stack, size, n = _shift(call)
    counter = f"phv->next.{_counter(stack)}"
    return [
        *(line for array in _arrays(stack) for line in _move(array, n, 0, size - n, cleared=0)),
        f"{counter} = {counter} + {n} < {size} ? {counter} + {n} : {size};",
    ]


def pop(call: Call) -> list[str]:
    stack, size, n = _shift(call)
    counter = f"phv->next.{_counter(stack)}"
    return [
        *(line for array in _arrays(stack) for line in _move(array, 0, n, size - n, cleared=size - n)),
        f"{counter} = {counter} > {n} ? {counter} - {n} : 0;",
    ]


def _move(array: str, to: int, source: int, count: int, *, cleared: int) -> list[str]:
    """Return C that moves elements of an array, and makes the elements from `cleared` on that become free invalid."""
    return [
        f"memmove(&phv->{array}[{to}], &phv->{array}[{source}], {count} * sizeof phv->{array}[0]);",
        f"memmove(&phv->valid.{array}[{to}], &phv->valid.{array}[{source}], {count});",
        f"memset(&phv->valid.{array}[{cleared}], 0, {max(to, source)});",
    ]
