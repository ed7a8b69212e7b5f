# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The typed form of headers, expressions and statements; a program's blocks are in blocks.py.

Owns the data classes, which loaders fill and emitters read. It must know neither JSON nor C, except for C names.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from softswitch.codegen.ir.source import Json


@dataclass(frozen=True)
class Field:
    """A header field. For a varbit, `bits` is the largest size."""

    name: str
    c_name: str
    bits: int
    signed: bool = False
    varbit: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class HeaderType:
    """A header or metadata layout; `fields` are in wire order."""

    name: str
    c_name: str
    fields: tuple[Field, ...]

    @property
    def fixed_bits(self) -> int:
        """Bits on the wire without the variable part."""
        return sum(f.bits for f in self.fields if not f.varbit)

    @property
    def varbit(self) -> Field | None:
        """The variable-length field, if any."""
        return next((f for f in self.fields if f.varbit), None)


VALID = Field("$valid$", "$valid$", 1, hidden=True)


@dataclass(frozen=True)
class Header:
    """A header instance; `place` is its member path in the phv ("ipv4", "vlan[2]")."""

    name: str
    type: HeaderType
    metadata: bool
    place: str
    union: tuple[str, ...] = ()  # places of its siblings in a header union


@dataclass(frozen=True)
class Stack:
    """A header stack; `array` is the phv member that holds the headers and one spare element."""

    name: str
    type: HeaderType
    array: str
    headers: tuple[Header, ...]


@dataclass(frozen=True)
class Union:
    """A header union; at most one member is valid."""

    name: str
    members: tuple[Header, ...]


@dataclass(frozen=True)
class UnionStack:
    """A stack of unions; `arrays` holds the name of a phv array for each member."""

    name: str
    c_name: str
    members: tuple[str, ...]
    types: tuple[HeaderType, ...]
    arrays: tuple[str, ...]
    unions: tuple[Union, ...]


@dataclass(frozen=True)
class Const:
    """An integer of any size."""

    value: int


@dataclass(frozen=True)
class Bool:
    """A boolean constant."""

    value: bool


@dataclass(frozen=True)
class FieldRef:
    """A field of a header known at compile time; `field` may be VALID."""

    header: Header
    field: Field


HEADERS_OF_STACK = {"last": "last_stack_index", "next": "size_stack"}
"""The operation that computes the index of a stack's header `last` or `next`, by name."""


@dataclass(frozen=True)
class StackField:
    """A field of the last extracted header of a stack."""

    stack: Stack
    field: Field


@dataclass(frozen=True)
class UnionStackField:
    """A field of a member of the last extracted union of a stack."""

    stack: UnionStack
    member: int
    field: Field


@dataclass(frozen=True)
class Lookahead:
    """Bits ahead of the parser's position."""

    offset: int
    bits: int


@dataclass(frozen=True)
class Local:
    """A parameter of the enclosing action."""

    index: int


@dataclass(frozen=True)
class HeaderRef:
    """A header known at compile time, as an operand."""

    header: Header


@dataclass(frozen=True)
class StackRef:
    """A header stack as an operand."""

    stack: Stack


@dataclass(frozen=True)
class UnionRef:
    """A header union as an operand."""

    union: Union


@dataclass(frozen=True)
class UnionStackRef:
    """A stack of unions as an operand."""

    stack: UnionStack


@dataclass(frozen=True)
class Op:
    """An operation; `op` is BMv2's name."""

    op: str
    left: Expr | None
    right: Expr
    where: Json = field(compare=False, repr=False)
    cond: Expr | None = None


Expr: TypeAlias = (
    Const
    | Bool
    | FieldRef
    | StackField
    | UnionStackField
    | Lookahead
    | Local
    | HeaderRef
    | StackRef
    | UnionRef
    | UnionStackRef
    | Op
)


def key_bits(element: Expr) -> int:
    """Return the width of an element of a select key, in bits."""
    if isinstance(element, Lookahead):
        return element.bits
    assert isinstance(element, FieldRef | StackField | UnionStackField)
    return element.field.bits


@dataclass(frozen=True)
class Named:
    """A reference to a calculation, register, counter, meter or a string."""

    kind: str
    name: str


Argument: TypeAlias = Expr | Named


@dataclass(frozen=True)
class Primitive:
    """A primitive call of an action, a parser state or a deparser."""

    op: str
    args: tuple[Argument, ...]
    where: Json = field(compare=False, repr=False)


@dataclass(frozen=True)
class Param:
    """An action parameter."""

    name: str
    bits: int


@dataclass(frozen=True)
class Action:
    """An action; `id` is its index in the program."""

    id: int
    name: str
    c_name: str
    params: tuple[Param, ...]
    primitives: tuple[Primitive, ...]
    where: Json = field(compare=False, repr=False)
