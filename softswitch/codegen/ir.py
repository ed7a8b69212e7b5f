# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The small typed form of a BMv2 program that the emitters read.

Owns the shapes; it must know neither JSON nor C beyond the names chosen for it. Loaders fill it, emitters never change it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from softswitch.codegen.source import Json


@dataclass(frozen=True)
class Field:
    """A header field. `bits` of a varbit is the most it can hold."""

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
    """A header stack: `array` is the phv member that holds its headers and one spare."""

    name: str
    type: HeaderType
    array: str
    headers: tuple[Header, ...]


@dataclass(frozen=True)
class Union:
    """A header union: at most one member is valid."""

    name: str
    members: tuple[Header, ...]


@dataclass(frozen=True)
class UnionStack:
    """A stack of unions: `arrays` holds one phv array a member."""

    name: str
    c_name: str
    members: tuple[str, ...]
    types: tuple[HeaderType, ...]
    arrays: tuple[str, ...]
    unions: tuple[Union, ...]


# ---- expressions ----


@dataclass(frozen=True)
class Const:
    """An integer of any size."""

    value: int


@dataclass(frozen=True)
class Bool:
    """true or false."""

    value: bool


@dataclass(frozen=True)
class FieldRef:
    """A field of a header known at compile time; `field` may be VALID."""

    header: Header
    field: Field


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
    """An operation with BMv2's name for it."""

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

# ---- statements ----


@dataclass(frozen=True)
class Named:
    """A reference to a calculation, register, counter, meter or a string."""

    kind: str
    name: str


Argument: TypeAlias = Expr | Named


@dataclass(frozen=True)
class Primitive:
    """One primitive call of an action, a parser state or a deparser."""

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


# ---- parser ----


@dataclass(frozen=True)
class Extract:
    """Extraction to a header, the next element of a stack, or a member of the next union of a stack."""

    target: Header | Stack | UnionStack
    member: int
    length_bits: Expr | None
    where: Json = field(compare=False, repr=False)


@dataclass(frozen=True)
class ParserSet:
    """An assignment in a parser state."""

    target: FieldRef
    value: Expr
    where: Json = field(compare=False, repr=False)


@dataclass(frozen=True)
class Verify:
    """A condition with the error it raises."""

    condition: Expr
    error: Expr


@dataclass(frozen=True)
class Advance:
    """A jump ahead by a number of bits."""

    bits: Expr


ParserOp: TypeAlias = Extract | ParserSet | Verify | Advance | Primitive


@dataclass(frozen=True)
class Transition:
    """One case of a select: (value, mask) a key element, None for the default; `next_state` None accepts."""

    match: tuple[tuple[int, int | None], ...] | None
    next_state: str | None


@dataclass(frozen=True)
class State:
    """A parser state."""

    name: str
    c_name: str
    ops: tuple[ParserOp, ...]
    key: tuple[Expr, ...]
    transitions: tuple[Transition, ...]
    where: Json = field(compare=False, repr=False)


# ---- match-action ----


@dataclass(frozen=True)
class Key:
    """A key element. `kind` as in pipeline.h; `mask` is the static mask."""

    name: str
    kind: str
    ref: FieldRef
    mask: int | None


@dataclass(frozen=True)
class ActionCall:
    """An action with its arguments."""

    action: Action
    args: tuple[int, ...]


@dataclass(frozen=True)
class ConstEntry:
    """An entry of the program text: (value, mask or range end or prefix) a key element."""

    keys: tuple[tuple[int, int], ...]
    call: ActionCall
    priority: int


@dataclass(frozen=True)
class Calculation:
    """A hash or checksum and what goes into it; inputs are FieldRef, HeaderRef or (Const, bits)."""

    name: str
    c_name: str
    algorithm: str
    inputs: tuple[FieldRef | HeaderRef | tuple[int, int], ...]
    with_payload: bool
    where: Json = field(compare=False, repr=False)


@dataclass(frozen=True)
class Profile:
    """An action profile; with a selector when `selector` is there."""

    id: int
    name: str
    c_name: str
    max_members: int
    selector: Calculation | None


@dataclass(frozen=True)
class Array:
    """A register, counter or meter array; `id` is its index in the program."""

    id: int
    name: str
    c_name: str
    count: int
    bits: int = 0
    direct: bool = False
    counts_bytes: bool = False
    rates: int = 0
    result: FieldRef | None = None
    table: str = ""  # the table of a direct array


@dataclass(frozen=True)
class Table:
    """A table and what follows it; `next_by_action` is keyed by action id."""

    id: int
    name: str
    c_name: str
    keys: tuple[Key, ...]
    scheme: str
    actions: tuple[Action, ...]
    max_entries: int
    profile: Profile | None
    counter: Array | None
    meter: Array | None
    default: ActionCall | None
    default_is_const: bool
    entries: tuple[ConstEntry, ...]
    entries_are_const: bool
    next_by_action: dict[int, str | None]
    next_hit: tuple[str | None] | None
    next_miss: tuple[str | None] | None
    next_default: str | None
    where: Json = field(compare=False, repr=False)


@dataclass(frozen=True)
class Conditional:
    """A condition of the control flow."""

    name: str
    c_name: str
    condition: Expr
    next_true: str | None
    next_false: str | None
    where: Json = field(compare=False, repr=False)


@dataclass(frozen=True)
class Call:
    """A direct action call of the control flow."""

    name: str
    c_name: str
    action: Action
    next_node: str | None
    where: Json = field(compare=False, repr=False)


Node: TypeAlias = Table | Conditional | Call


@dataclass(frozen=True)
class Pipeline:
    """The control flow of ingress or egress."""

    name: str
    start: str | None
    nodes: dict[str, Node]


@dataclass(frozen=True)
class Checksum:
    """A checksum field with the calculation behind it."""

    name: str
    target: FieldRef
    calculation: Calculation
    condition: Expr | None
    update: bool
    verify: bool
    where: Json = field(compare=False, repr=False)


@dataclass(frozen=True)
class FieldList:
    """Fields preserved by clone, resubmit and recirculate, or sent by a digest."""

    id: int
    name: str
    fields: tuple[FieldRef, ...]


@dataclass
class Program:
    """A whole program."""

    name: str
    types: dict[str, HeaderType] = field(default_factory=dict)
    headers: dict[str, Header] = field(default_factory=dict)
    stacks: dict[str, Stack] = field(default_factory=dict)
    unions: dict[str, Union] = field(default_factory=dict)
    union_stacks: dict[str, UnionStack] = field(default_factory=dict)
    arrays: list[tuple[str, HeaderType, int]] = field(default_factory=list)
    std_fields: dict[tuple[str, str], str] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    actions: dict[int, Action] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    start_state: str | None = None
    calculations: dict[str, Calculation] = field(default_factory=dict)
    checksums: list[Checksum] = field(default_factory=list)
    registers: dict[str, Array] = field(default_factory=dict)
    counters: dict[str, Array] = field(default_factory=dict)
    meters: dict[str, Array] = field(default_factory=dict)
    field_lists: dict[int, FieldList] = field(default_factory=dict)
    digests: dict[int, FieldList] = field(default_factory=dict)
    profiles: list[Profile] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    ingress: Pipeline = field(default_factory=lambda: Pipeline("ingress", None, {}))
    egress: Pipeline = field(default_factory=lambda: Pipeline("egress", None, {}))
    deparser_order: tuple[Header, ...] = ()
    deparser_primitives: tuple[Primitive, ...] = ()
