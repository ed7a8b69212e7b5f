# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The primitives of v1model: a small function for each, and a table from name to function.

Owns the table, assignments, and the primitives that drop, clone or repeat packets. It must not know their callers.
"""

from __future__ import annotations

from collections.abc import Callable

from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.names import c_string
from softswitch.codegen.ir.nodes import Const, FieldRef, HeaderRef, Primitive
from softswitch.codegen.lower.expressions import Expressions
from softswitch.codegen.lower.stores import field_target, store
from softswitch.codegen.primitives import headers, state
from softswitch.codegen.primitives.call import Call


def emit_primitive(program: Program, expressions: Expressions, primitive: Primitive) -> list[str]:
    """Return the C statements of one primitive."""
    emitter = PRIMITIVES.get(primitive.op)
    if emitter is None:
        raise primitive.where.error(f"primitive '{primitive.op}' is not supported")
    return emitter(Call(program, expressions, primitive))


def _assign(call: Call) -> list[str]:
    return [store(call.expressions, call.target(0), call.expr(1))]


def _drop(call: Call) -> list[str]:
    return ["phv->shared.std.egress_spec = SW_DROP_PORT;", "phv->shared.std.mcast_grp = 0;", *_dropped_here(call)]


def _dropped_here(call: Call) -> list[str]:
    """Return C that records the place of a drop, for the user only: the target does not read it."""
    if not call.primitive.where.source:
        return []
    place = c_string(call.primitive.where.source)
    return [
        f"phv->shared.requests.dropped_at = {place};",
        "phv->shared.requests.dropped_in = phv->shared.requests.branch;",
    ]


def _mark_to_drop(call: Call) -> list[str]:
    """Return C that marks the given standard metadata, which may be a control's own copy."""
    if not call.primitive.args:
        return _drop(call)
    metadata = call.expr(0)
    if not isinstance(metadata, HeaderRef):
        raise call.refuse("this argument")
    marks = {"egress_spec": "SW_DROP_PORT", "mcast_grp": "0"}
    refs = ((FieldRef(metadata.header, f), marks[f.name]) for f in metadata.header.type.fields if f.name in marks)
    marked = [f"{field_target(call.program, ref).lvalue} = {mark};" for ref, mark in refs]
    return [*marked, *_dropped_here(call)]


def _clone(call: Call) -> list[str]:
    fields = call.u64(1) if len(call.primitive.args) > 1 else "-1"
    return [
        "phv->shared.requests.clone = true;",
        f"phv->shared.requests.clone_session = (uint32_t)({call.u64(0)} & 0x7fff);",
        f"phv->shared.requests.clone_fields = (int32_t){fields};",
    ]


def _again(name: str) -> Callable[[Call], list[str]]:
    def emit(call: Call) -> list[str]:
        fields = call.u64(0) if call.primitive.args else "-1"
        return [f"phv->shared.requests.{name} = true;", f"phv->shared.requests.{name}_fields = (int32_t){fields};"]

    return emit


def _truncate(call: Call) -> list[str]:
    return ["phv->shared.requests.truncate = true;", f"phv->shared.requests.truncate_bytes = (uint32_t){call.u64(0)};"]


def _exit(call: Call) -> list[str]:
    return ["phv->pass.exiting = true;"]


def _assertion(call: Call) -> list[str]:
    text = c_string(f"{call.primitive.op} failed: {call.primitive.where.source or call.primitive.where.path}")
    return [f"if (!{call.u64(0)})", f"    sw_assertion_failed({text});"]


def _nothing(call: Call) -> list[str]:
    return []


def _digest(call: Call) -> list[str]:
    number = call.expr(1)
    if not isinstance(number, Const) or number.value not in call.program.digests:
        raise call.refuse("an unknown digest")
    return [f"phv->pass.digest = {number.value};"]


DROPPING = ("drop", "mark_to_drop")
"""The primitives that mark a packet to be dropped."""

PRIMITIVES: dict[str, Callable[[Call], list[str]]] = {
    "assign": _assign,
    "assign_VL": headers.assign_vl,
    "assign_header": headers.assign_header,
    "assign_union": headers.assign_union,
    "assign_header_stack": headers.assign_header_stack,
    "assign_union_stack": headers.assign_header_stack,
    "add_header": headers.add_header,
    "remove_header": headers.remove_header,
    "push": headers.push,
    "pop": headers.pop,
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
    "assert": _assertion,
    "assume": _assertion,
    "generate_digest": _digest,
    "count": state.count,
    "execute_meter": state.execute_meter,
    "register_read": state.register_read,
    "register_write": state.register_write,
    "modify_field_with_hash_based_offset": state.hash_fields,
    "modify_field_rng_uniform": state.random_number,
}
