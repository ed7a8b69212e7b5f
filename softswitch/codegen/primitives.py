# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The primitives of v1model: one small function each and one table from name to function.

Owns what each primitive does in C. It must not know where primitives are called from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from softswitch.codegen.errors import CodegenError
from softswitch.codegen.expressions import Expressions
from softswitch.codegen.ir import (
    Argument,
    Array,
    Calculation,
    Const,
    Expr,
    FieldRef,
    HeaderRef,
    Named,
    Op,
    Primitive,
    Program,
    Stack,
    StackRef,
    UnionRef,
    UnionStack,
    UnionStackRef,
)
from softswitch.codegen.places import HeaderPlace, c_type
from softswitch.codegen.stores import (
    Target,
    copy_header,
    field_target,
    fixed_bytes,
    set_valid,
    store,
    store_low,
    store_value,
    target,
)
from softswitch.codegen.values import Kind, Value, bits_mask, lowered


@dataclass(frozen=True)
class Call:
    """A primitive being emitted."""

    program: Program
    expressions: Expressions
    primitive: Primitive

    def expr(self, index: int) -> Expr:
        """An argument that must be an expression."""
        argument = self.argument(index)
        if isinstance(argument, Named):
            raise self.refuse(f"'{argument.kind}' as argument {index}")
        return argument

    def argument(self, index: int) -> Argument:
        """Any argument."""
        if index >= len(self.primitive.args):
            raise self.primitive.where.error(f"primitive '{self.primitive.op}' lacks argument {index}")
        return self.primitive.args[index]

    def named(self, index: int) -> str:
        """The name of a stateful object or calculation."""
        argument = self.argument(index)
        if not isinstance(argument, Named):
            raise self.refuse(f"argument {index} of this type")
        return argument.name

    def array(self, arrays: dict[str, Array], index: int) -> Array:
        """A register, counter or meter."""
        name = self.named(index)
        if name not in arrays:
            raise self.primitive.where.error(f"unknown '{name}'")
        return arrays[name]

    def target(self, index: int) -> Target:
        """A field to assign."""
        return target(self.expressions, self.expr(index), self.primitive.where)

    def u64(self, index: int) -> str:
        """The low 64 bits of an argument."""
        return lowered(self.expressions.value(self.expr(index)), 64)

    def header(self, index: int) -> HeaderPlace:
        """A header argument."""
        return self.expressions.header(self.expr(index))

    def refuse(self, what: str) -> CodegenError:
        """A complaint about this call."""
        return self.primitive.where.error(f"primitive '{self.primitive.op}' with {what} is not supported")


def emit_primitive(program: Program, expressions: Expressions, primitive: Primitive) -> list[str]:
    """The C statements of one primitive."""
    emitter = PRIMITIVES.get(primitive.op)
    if emitter is None:
        raise primitive.where.error(f"primitive '{primitive.op}' is not supported")
    return emitter(Call(program, expressions, primitive))


# ---- assignments ----


def _assign(call: Call) -> list[str]:
    return [store(call.expressions, call.target(0), call.expr(1))]


def _arithmetic(sign: str) -> Callable[[Call], list[str]]:
    def emit(call: Call) -> list[str]:
        operands = [call.expr(i) for i in range(len(call.primitive.args))]
        left, right = operands[-2], operands[-1]
        return [store(call.expressions, call.target(0), Op(sign, left, right, call.primitive.where))]

    return emit


def _assign_vl(call: Call) -> list[str]:
    to, source = call.target(0), call.target(1)
    if not (to.varbit and source.varbit):
        raise call.refuse("fields that are not varbits")
    return [f"memmove(&{to.lvalue}, &{source.lvalue}, sizeof {to.lvalue});"]


def _assign_header(call: Call) -> list[str]:
    to, source = call.expr(0), call.expr(1)
    if isinstance(to, HeaderRef) and isinstance(source, HeaderRef) and to.header.metadata:
        return _assign_metadata(call, to, source)
    return copy_header(call.header(0), call.header(1), call.primitive.where)


def _assign_metadata(call: Call, to: HeaderRef, source: HeaderRef) -> list[str]:
    """A struct goes field by field: some of its fields may be the target's."""
    if to.header.type is not source.header.type:
        raise call.refuse("structs of different types")
    pairs = ((FieldRef(to.header, f), FieldRef(source.header, f)) for f in to.header.type.fields)
    return [store(call.expressions, field_target(call.program, a), b) for a, b in pairs]


def _union_places(call: Call, index: int) -> list[HeaderPlace]:
    """The members of a union argument."""
    expr = call.expr(index)
    if isinstance(expr, UnionRef):
        count = len(expr.union.members)
    elif isinstance(expr, Op) and isinstance(expr.left, UnionStackRef):
        count = len(expr.left.stack.arrays)
    else:
        raise call.refuse("this header union")
    where = call.primitive.where
    return [call.expressions.header(Op("access_union_header", expr, Const(m), where)) for m in range(count)]


def _assign_union(call: Call) -> list[str]:
    pairs = zip(_union_places(call, 0), _union_places(call, 1), strict=True)
    return [line for to, source in pairs for line in _copy_member(to, source, call)]


def _copy_member(to: HeaderPlace, source: HeaderPlace, call: Call) -> list[str]:
    """A member's copy without the sibling rule: all members are copied, and at most one of the source's is valid."""
    return copy_header(HeaderPlace(to.path, to.type, to.metadata), source, call.primitive.where)


def _assign_header_stack(call: Call) -> list[str]:
    to, source = _stack(call, 0), _stack(call, 1)
    return [line for a, b in zip(_arrays(to), _arrays(source), strict=True) for line in _copy_array(a, b)] + [
        f"phv->next.{_counter(to)} = phv->next.{_counter(source)};"
    ]


def _copy_array(to: str, source: str) -> list[str]:
    return [
        f"memmove(phv->{to}, phv->{source}, sizeof phv->{to});",
        f"memmove(phv->valid.{to}, phv->valid.{source}, sizeof phv->valid.{to});",
    ]


# ---- headers and stacks ----


def _add_header(call: Call) -> list[str]:
    place = call.header(0)
    if place.metadata:
        return []
    body = [
        f"memset(&{place.fields}, 0, sizeof {place.fields});",
        *set_valid(place),
        f"phv->pass.grown_bytes += {place.type.fixed_bits // 8};",
    ]
    return [f"if (!{place.valid}) {{", *(f"    {line}" for line in body), "}"]


def _add_header_fast(call: Call) -> list[str]:
    return set_valid(call.header(0))


def _remove_header(call: Call) -> list[str]:
    place = call.header(0)
    if place.metadata:
        return []
    return [
        f"if ({place.valid})",
        f"    phv->pass.grown_bytes -= (int32_t){fixed_bytes(place)};",
        f"{place.valid} = 0;",
    ]


def _stack(call: Call, index: int) -> Stack | UnionStack:
    expr = call.expr(index)
    if not isinstance(expr, StackRef | UnionStackRef):
        raise call.refuse("an argument that is not a stack")
    return expr.stack


def _arrays(stack: Stack | UnionStack) -> tuple[str, ...]:
    return (stack.array,) if isinstance(stack, Stack) else stack.arrays


def _counter(stack: Stack | UnionStack) -> str:
    return stack.array if isinstance(stack, Stack) else stack.c_name


def _size(stack: Stack | UnionStack) -> int:
    return len(stack.headers) if isinstance(stack, Stack) else len(stack.unions)


def _amount(call: Call, size: int) -> int:
    amount = call.expr(1)
    if not isinstance(amount, Const):
        raise call.refuse("an amount that is not constant")
    return min(amount.value, size)


def _push(call: Call) -> list[str]:
    stack = _stack(call, 0)
    size = _size(stack)
    n = _amount(call, size)
    lines = []
    for array in _arrays(stack):
        lines += [
            f"memmove(&phv->{array}[{n}], &phv->{array}[0], {size - n} * sizeof phv->{array}[0]);",
            f"memmove(&phv->valid.{array}[{n}], &phv->valid.{array}[0], {size - n});",
            f"memset(&phv->valid.{array}[0], 0, {n});",
        ]
    counter = f"phv->next.{_counter(stack)}"
    return [*lines, f"{counter} = {counter} + {n} < {size} ? {counter} + {n} : {size};"]


def _pop(call: Call) -> list[str]:
    stack = _stack(call, 0)
    size = _size(stack)
    n = _amount(call, size)
    lines = []
    for array in _arrays(stack):
        lines += [
            f"memmove(&phv->{array}[0], &phv->{array}[{n}], {size - n} * sizeof phv->{array}[0]);",
            f"memmove(&phv->valid.{array}[0], &phv->valid.{array}[{n}], {size - n});",
            f"memset(&phv->valid.{array}[{size - n}], 0, {n});",
        ]
    counter = f"phv->next.{_counter(stack)}"
    return [*lines, f"{counter} = {counter} > {n} ? {counter} - {n} : 0;"]


# ---- the packet's fate ----


def _drop(call: Call) -> list[str]:
    return ["packet->std.egress_spec = SW_DROP_PORT;", "packet->std.mcast_grp = 0;"]


def _mark_to_drop(call: Call) -> list[str]:
    """Acts on the standard metadata it is given, which may be a control's own copy."""
    if not call.primitive.args:
        return _drop(call)
    metadata = call.expr(0)
    if not isinstance(metadata, HeaderRef):
        raise call.refuse("this argument")
    marks = {"egress_spec": "SW_DROP_PORT", "mcast_grp": "0"}
    refs = ((FieldRef(metadata.header, f), marks[f.name]) for f in metadata.header.type.fields if f.name in marks)
    return [f"{field_target(call.program, ref).lvalue} = {mark};" for ref, mark in refs]


def _clone(call: Call) -> list[str]:
    fields = call.u64(1) if len(call.primitive.args) > 1 else "-1"
    return [
        "packet->requests.clone = true;",
        f"packet->requests.clone_session = (uint32_t)({call.u64(0)} & 0x7fff);",
        f"packet->requests.clone_fields = (int32_t){fields};",
    ]


def _again(name: str) -> Callable[[Call], list[str]]:
    def emit(call: Call) -> list[str]:
        fields = call.u64(0) if call.primitive.args else "-1"
        return [f"packet->requests.{name} = true;", f"packet->requests.{name}_fields = (int32_t){fields};"]

    return emit


def _truncate(call: Call) -> list[str]:
    return ["packet->requests.truncate = true;", f"packet->requests.truncate_bytes = (uint32_t){call.u64(0)};"]


def _exit(call: Call) -> list[str]:
    return ["phv->pass.exiting = true;"]


def _nothing(call: Call) -> list[str]:
    return []


def _digest(call: Call) -> list[str]:
    number = call.expr(1)
    if not isinstance(number, Const) or number.value not in call.program.digests:
        raise call.refuse("an unknown digest")
    return [f"phv->pass.digest = {number.value};"]


# ---- stateful objects ----


def _count(call: Call) -> list[str]:
    counter = call.array(call.program.counters, 0)
    cells = f"&pipeline->counters[{counter.id}]"
    return [f"sw_counter_count({cells}, {call.u64(1)}, phv->pass.ingress_bytes);"]


def _execute_meter(call: Call) -> list[str]:
    meter = call.array(call.program.meters, 0)
    color = Value(
        f"sw_meter_execute(&pipeline->meters[{meter.id}], index, phv->pass.ingress_bytes, pipeline->now_us)", 0, 255, Kind.U64
    )
    return [
        "{",
        f"    uint64_t index = {call.u64(1)};",
        f"    if (index < {meter.count}u)",
        f"        {_store_value(call.target(2), color)}",
        "}",
    ]


def _store_value(to: Target, value: Value) -> str:
    """A value that may not fit."""
    if value.high <= bits_mask(to.bits - to.signed):
        return store_value(to, value)
    return store_low(to, lowered(value, to.bits))


def _cell(register: Array) -> str:
    kind = c_type(register.bits, False)
    if kind is None:
        return f"((uint8_t (*)[{(register.bits + 7) // 8}])pipeline->registers[{register.id}].cells)[index]"
    return f"(({kind} *)pipeline->registers[{register.id}].cells)[index]"


def _register_read(call: Call) -> list[str]:
    register = call.array(call.program.registers, 1)
    to = call.target(0)
    cell = _cell(register)
    kind = Kind.of_width(register.bits, False)
    text = f"sw_wide_from_bytes({cell}, {register.bits}, false)" if kind is Kind.WIDE else f"({kind.value}){cell}"
    value = Value(text, 0, bits_mask(register.bits), kind)
    return [
        "{",
        f"    uint64_t index = {call.u64(2)};",
        f"    if (index < {register.count}u)",
        f"        {_store_value(to, value)}",
        "}",
    ]


def _register_write(call: Call) -> list[str]:
    register = call.array(call.program.registers, 0)
    cell = Target(_cell(register), register.bits, False)
    return [
        "{",
        f"    uint64_t index = {call.u64(1)};",
        f"    if (index < {register.count}u)",
        f"        {store(call.expressions, cell, call.expr(2))}",
        "}",
    ]


# ---- hashes and numbers ----


def calculation_call(calculation: Calculation) -> str:
    """C that evaluates a calculation."""
    return f"calculate_{calculation.c_name}(packet, phv)"


def _hash(call: Call) -> list[str]:
    name = call.named(2)
    if name not in call.program.calculations:
        raise call.refuse(f"the unknown calculation '{name}'")
    text = calculation_call(call.program.calculations[name])
    size = call.expr(3)
    if isinstance(size, Const):
        text = f"{text} % {max(size.value & bits_mask(64), 1):#x}ull" if size.value < 1 << 64 else text
        text = f"({text} + {call.u64(1)})"
    else:
        text = f"(sw_mod64({text}, {call.u64(3)}) + {call.u64(1)})"
    return [_store_value(call.target(0), Value(text, 0, bits_mask(64), Kind.U64))]


def _random(call: Call) -> list[str]:
    text = f"sw_random_between(pipeline, {call.u64(1)}, {call.u64(2)})"
    return [f"if ({call.u64(1)} <= {call.u64(2)})", "    " + _store_value(call.target(0), Value(text, 0, bits_mask(64), Kind.U64))]


PRIMITIVES: dict[str, Callable[[Call], list[str]]] = {
    "assign": _assign,
    "modify_field": _assign,
    "add_to_field": _arithmetic("+"),
    "subtract_from_field": _arithmetic("-"),
    "add": _arithmetic("+"),
    "subtract": _arithmetic("-"),
    "bit_xor": _arithmetic("^"),
    "bit_or": _arithmetic("|"),
    "bit_and": _arithmetic("&"),
    "shift_left": _arithmetic("<<"),
    "shift_right": _arithmetic(">>"),
    "assign_VL": _assign_vl,
    "assign_header": _assign_header,
    "copy_header": _assign_header,
    "assign_union": _assign_union,
    "assign_header_stack": _assign_header_stack,
    "assign_union_stack": _assign_header_stack,
    "add_header": _add_header,
    "add_header_fast": _add_header_fast,
    "remove_header": _remove_header,
    "push": _push,
    "pop": _pop,
    "drop": _drop,
    "mark_to_drop": _mark_to_drop,
    "clone_ingress_pkt_to_egress": _clone,
    "clone_egress_pkt_to_egress": _clone,
    "resubmit": _again("resubmit"),
    "recirculate": _again("recirculate"),
    "truncate": _truncate,
    "exit": _exit,
    "no_op": _nothing,
    "log_msg": _nothing,
    "assert": _nothing,
    "assume": _nothing,
    "generate_digest": _digest,
    "count": _count,
    "execute_meter": _execute_meter,
    "register_read": _register_read,
    "register_write": _register_write,
    "modify_field_with_hash_based_offset": _hash,
    "modify_field_rng_uniform": _random,
}
