# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits a C function for each action, and loads its parameters from an entry. It must not know tables."""

from __future__ import annotations

from collections.abc import Sequence

from softswitch.codegen.emit.messages import emit_log_msg
from softswitch.codegen.emit.writer import Writer, literal
from softswitch.codegen.ir.blocks import Program
from softswitch.codegen.ir.limits import MOST_OBJECTS
from softswitch.codegen.ir.names import Scope
from softswitch.codegen.ir.nodes import Action, Const, Named, Param, Primitive
from softswitch.codegen.lower.expressions import Expressions
from softswitch.codegen.lower.values import Kind, constant, lowered
from softswitch.codegen.primitives.emit import DROPPING, emit_primitive

CONTEXT_PARAMS = "struct sw_pipeline *pipeline, struct sw_packet *packet, struct phv *phv, struct local *local"
CONTEXT = "pipeline, packet, phv, local"
_JUMPS = ("_jump", "_jump_if_zero")


def _param_type(param: Param) -> str:
    kind = Kind.of_width(param.bits, False)
    return "const uint8_t *" if kind is Kind.WIDE else f"{kind.value} "


def argument_words(bits: int) -> int:
    """Return the number of entry words that an argument takes (the rule of struct sw_entry)."""
    if bits <= 64:
        return 1
    return 2 if bits <= 128 else ((bits + 7) // 8 + 7) // 8


def entry_arguments(action: Action, entry: str) -> str:
    """Return the C call arguments that an entry holds, each preceded by a comma."""
    texts = []
    word = 0
    for param in action.params:
        if param.bits <= 64:
            texts.append(f", {entry}->words[{word}]")
        elif param.bits <= 128:
            texts.append(f", sw_u128_of({entry}->words[{word}], {entry}->words[{word + 1}])")
        else:
            texts.append(f", (const uint8_t *)&{entry}->words[{word}]")
        word += argument_words(param.bits)
    return "".join(texts)


def constant_arguments(action: Action, args: Sequence[int]) -> str:
    """Return the C call arguments for constants, each preceded by a comma."""
    texts = []
    for param, value in zip(action.params, args, strict=True):
        if param.bits > 128:
            data = value.to_bytes((param.bits + 7) // 8, "big")
            texts.append(", (const uint8_t[]){" + ", ".join(f"{b:#04x}" for b in data) + "}")
        else:
            texts.append(", " + lowered(constant(value), param.bits))
    return "".join(texts)


def can_exit(action: Action) -> bool:
    """Whether the action may stop the pipeline."""
    return any(p.op == "exit" for p in action.primitives) or bool(_loop_heads(action.primitives))


def can_drop(action: Action) -> bool:
    """Whether the action may mark a packet to be dropped."""
    return any(p.op in DROPPING for p in action.primitives)


def emit_actions(program: Program, out: Writer) -> None:
    """Emit all actions as functions `action_<name>`."""
    for action in program.actions.values():
        scope = Scope("p")
        names = [scope.unique() for _ in action.params]
        params = "".join(f", {_param_type(p)}{n}" for p, n in zip(action.params, names, strict=True))
        sources = [w.source for w in (action.where, *(p.where for p in action.primitives)) if w.source]
        shown = f"action {action.name}({', '.join(p.name for p in action.params)})"
        out.comment(", ".join([shown, *sources[:1]]))
        expressions = Expressions(program, tuple(zip(action.params, names, strict=True)))
        with out.block(f"SW_INLINE void action_{action.c_name}({CONTEXT_PARAMS}{params})"):
            out.log("trace", f"{literal(action.where.log_place)}Action {literal(action.name)}")
            emit_primitives(program, expressions, action.primitives, out)
        out.line()


def emit_primitives(program: Program, expressions: Expressions, primitives: Sequence[Primitive], out: Writer) -> None:
    """Emit a list of primitives; BMv2's jumps between them become gotos."""
    targets = {_jump_target(p) for p in primitives if p.op in _JUMPS}
    loop_heads = _loop_heads(primitives)
    source = ""
    for index, primitive in enumerate(primitives):
        if index in targets:
            out.label(f"step_{index}")
        if index in loop_heads:
            out.count_turn("a loop in an action", primitive.where.source, "phv->pass.exiting = true;", "return;")
        if primitive.where.source != source:
            source = primitive.where.source
            out.comment(source)
        fragment = literal(primitive.where.fragment or "(no source info)")
        out.log("trace", f"{literal(primitive.where.log_place)}Primitive {fragment}")
        with primitive.where.locating():
            if primitive.op == "log_msg":
                emit_log_msg(expressions, primitive, out)
            elif primitive.op in _JUMPS:
                out.lines(_jump(expressions, primitive))
            else:
                out.lines(emit_primitive(program, expressions, primitive))
    for index in sorted(t for t in targets if t >= len(primitives)):
        out.label(f"step_{index}")


def _loop_heads(primitives: Sequence[Primitive]) -> set[int]:
    """Return the places of an action to which a jump leads back."""
    return {_jump_target(p) for index, p in enumerate(primitives) if p.op in _JUMPS and _jump_target(p) <= index}


def _jump_target(primitive: Primitive) -> int:
    to = primitive.args[-1] if primitive.args else None
    if not isinstance(to, Const) or not 0 <= to.value <= MOST_OBJECTS:
        raise primitive.where.error("a jump to a computed place, or to a place outside the action, is not supported")
    return to.value


def _jump(expressions: Expressions, primitive: Primitive) -> list[str]:
    goto = f"goto step_{_jump_target(primitive)};"
    if primitive.op == "_jump":
        return [goto]
    condition = primitive.args[0]
    if isinstance(condition, Named):
        raise primitive.where.error("a jump if a string is 0 is not supported")
    return [f"if (!{expressions.boolean(condition)})", f"    {goto}"]
