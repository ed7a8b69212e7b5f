# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits `log_msg` for a program that logs. It must not know other primitives."""

from __future__ import annotations

import re

from softswitch.codegen.emit.writer import Writer, literal
from softswitch.codegen.ir.names import c_message
from softswitch.codegen.ir.nodes import Expr, Named, Primitive
from softswitch.codegen.lower.expressions import Expressions
from softswitch.codegen.lower.values import Kind

_PLACE = re.compile(r"(?<!\\)\{[^{}]*\}")
_BRACE = re.compile(r"\\([{}])")
_TOP = "(unsigned long long)((sw_u128){} >> 64)"
_LOW = "(unsigned long long)({})"


def emit_log_msg(expressions: Expressions, primitive: Primitive, out: Writer) -> None:
    """Emit the line of a `log_msg`, with a value for each `{}`, if the program logs."""
    if not out.logs:
        return
    message, *values = primitive.args
    assert isinstance(message, Named)
    texts = [_BRACE.sub(r"\1", literal(text)) for text in _PLACE.split(message.name)]
    if len(texts) != len(values) + 1:
        raise primitive.where.error(f"log_msg has {len(texts) - 1} places for {len(values)} values")
    line, arguments = texts[0], []
    for value, text in zip(values, texts[1:], strict=True):
        assert not isinstance(value, Named)
        form, parts = _printed(expressions, value)
        line += form + text
        arguments += parts
    out.line(f"sw_log_message({', '.join(['pipeline', c_message(line), *arguments])});")


def _printed(expressions: Expressions, expr: Expr) -> tuple[str, list[str]]:
    """Return a format of printf and its arguments: decimal up to 64 bits, otherwise hexadecimal."""
    value = expressions.value(expr)
    if value.kind is Kind.I64:
        return "%lld", [f"(long long)({value.text})"]
    if value.kind is Kind.U64:
        return "%llu", [_LOW.format(value.text)]
    if value.kind is Kind.WIDE:
        return "...%016llx", [f"(unsigned long long)sw_wide_low({value.text})"]
    return "0x%llx%016llx", [_TOP.format(value.text), _LOW.format(value.text)]
