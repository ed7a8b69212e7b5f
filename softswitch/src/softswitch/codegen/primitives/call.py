# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A primitive call that is being emitted, with typed access to its arguments. It must not know any primitive."""

from __future__ import annotations

from dataclasses import dataclass

from softswitch.codegen.ir.blocks import Array, Program
from softswitch.codegen.ir.nodes import Argument, Expr, Named, Primitive
from softswitch.codegen.ir.source import CodegenError
from softswitch.codegen.lower.expressions import Expressions
from softswitch.codegen.lower.places import HeaderPlace
from softswitch.codegen.lower.stores import Target, target
from softswitch.codegen.lower.values import lowered


@dataclass(frozen=True)
class Call:
    """A primitive call that is being emitted."""

    program: Program
    expressions: Expressions
    primitive: Primitive

    def expr(self, index: int) -> Expr:
        """Return an argument that must be an expression."""
        argument = self.argument(index)
        if isinstance(argument, Named):
            raise self.refuse(f"'{argument.kind}' as argument {index}")
        return argument

    def argument(self, index: int) -> Argument:
        if index >= len(self.primitive.args):
            raise self.primitive.where.error(f"primitive '{self.primitive.op}' lacks argument {index}")
        return self.primitive.args[index]

    def named(self, index: int) -> str:
        """Return an argument that must name a stateful object or a calculation."""
        argument = self.argument(index)
        if not isinstance(argument, Named):
            raise self.refuse(f"argument {index} of this type")
        return argument.name

    def array(self, arrays: dict[str, Array], index: int) -> Array:
        """Return the register, counter or meter that an argument names."""
        name = self.named(index)
        if name not in arrays:
            raise self.primitive.where.error(f"unknown '{name}'")
        return arrays[name]

    def target(self, index: int) -> Target:
        """Return an argument that must be an assignable field."""
        return target(self.expressions, self.expr(index), self.primitive.where)

    def u64(self, index: int) -> str:
        """Return C for the low 64 bits of an argument."""
        return lowered(self.expressions.value(self.expr(index)), 64)

    def header(self, index: int) -> HeaderPlace:
        return self.expressions.header(self.expr(index))

    def refuse(self, what: str) -> CodegenError:
        return self.primitive.where.error(f"primitive '{self.primitive.op}' with {what} is not supported")
