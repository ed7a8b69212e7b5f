# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits primitives on counters, meters, registers, hashes and random numbers. It must not know their callers."""

from __future__ import annotations

from softswitch.codegen.ir.blocks import Array
from softswitch.codegen.ir.nodes import Const
from softswitch.codegen.lower.places import c_type, calculation_call
from softswitch.codegen.lower.stores import Target, store, store_any
from softswitch.codegen.lower.values import Kind, Value, bits_mask
from softswitch.codegen.primitives.call import Call


def count(call: Call) -> list[str]:
    counter = call.array(call.program.counters, 0)
    cells = f"&pipeline->counters[{counter.id}]"
    return [f"sw_counter_count({cells}, {call.u64(1)}, phv->pass.ingress_bytes);"]


def _within(array: Array, index: str, statement: str) -> list[str]:
    """Return C that executes a statement if the index is within the array."""
    return ["{", f"    uint64_t index = {index};", f"    if (index < {array.count}u)", f"        {statement}", "}"]


def execute_meter(call: Call) -> list[str]:
    meter = call.array(call.program.meters, 0)
    text = f"sw_meter_execute(&pipeline->meters[{meter.id}], index, phv->pass.ingress_bytes, pipeline->now_us)"
    color = Value(text, 0, 255, Kind.U64)
    return _within(meter, call.u64(1), store_any(call.target(2), color))


def _cell(register: Array) -> str:
    kind = c_type(register.bits, False)
    if kind is None:
        return f"((uint8_t (*)[{(register.bits + 7) // 8}])pipeline->registers[{register.id}].cells)[index]"
    return f"(({kind} *)pipeline->registers[{register.id}].cells)[index]"


def register_read(call: Call) -> list[str]:
    register = call.array(call.program.registers, 1)
    to = call.target(0)
    cell = _cell(register)
    kind = Kind.of_width(register.bits, False)
    text = f"sw_wide_from_bytes({cell}, {register.bits}, false)" if kind is Kind.WIDE else f"({kind.value}){cell}"
    value = Value(text, 0, bits_mask(register.bits), kind)
    return _within(register, call.u64(2), store_any(to, value))


def register_write(call: Call) -> list[str]:
    register = call.array(call.program.registers, 0)
    cell = Target(_cell(register), register.bits, False)
    return _within(register, call.u64(1), store(call.expressions, cell, call.expr(2)))


def hash_fields(call: Call) -> list[str]:
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
    return [store_any(call.target(0), Value(text, 0, bits_mask(64), Kind.U64))]


def random_number(call: Call) -> list[str]:
    text = f"sw_random_between(pipeline, {call.u64(1)}, {call.u64(2)})"
    return [
        f"if ({call.u64(1)} <= {call.u64(2)})",
        "    " + store_any(call.target(0), Value(text, 0, bits_mask(64), Kind.U64)),
    ]
