# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The typed form of a program's blocks: parser states, tables, control flow, checksums, and the program itself.

Owns the data classes, which loaders fill and emitters read. Values and statements are in nodes.py.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from softswitch.codegen.ir.nodes import (
    Action,
    Expr,
    FieldRef,
    Header,
    HeaderRef,
    HeaderType,
    Primitive,
    Stack,
    Union,
    UnionStack,
)
from softswitch.codegen.ir.source import Json

CUSTOM_CRCS = {"crc16_custom": 16, "crc32_custom": 32}
"""The widths of the CRC algorithms whose parameters may be set at run time, in bits."""


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
    """A condition, and the parser error that is set if the condition does not hold."""

    condition: Expr
    error: Expr


@dataclass(frozen=True)
class Advance:
    """A move of the parser's position ahead by a number of bits."""

    bits: Expr


ParserOp: TypeAlias = Extract | ParserSet | Verify | Advance | Primitive


@dataclass(frozen=True)
class ValueSet:
    """A parser value set; `id` is its index in the program, `bits` the width of a value without padding."""

    id: int
    name: str
    bits: int


@dataclass(frozen=True)
class Transition:
    """A case of a select: a (value, mask) pair for each key element, or None for the default.

    `next_state` None means accept. With a value set, the values of the pairs are unused: the case matches if one value
    of the set does.
    """

    match: tuple[tuple[int, int | None], ...] | None
    next_state: str | None
    value_set: ValueSet | None = None


@dataclass(frozen=True)
class State:
    """A parser state."""

    name: str
    c_name: str
    ops: tuple[ParserOp, ...]
    key: tuple[Expr, ...]
    transitions: tuple[Transition, ...]
    where: Json = field(compare=False, repr=False)


@dataclass(frozen=True)
class Key:
    """A key element. `kind` is the match kind as in pipeline.h, `mask` is the static mask."""

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
    """A const entry of the program: for each key element its value, and a mask, range end or prefix length."""

    keys: tuple[tuple[int, int], ...]
    call: ActionCall
    priority: int


@dataclass(frozen=True)
class Calculation:
    """A hash or checksum with its inputs, which are FieldRef, HeaderRef or (constant, bits)."""

    name: str
    c_name: str
    algorithm: str
    inputs: tuple[FieldRef | HeaderRef | tuple[int, int], ...]
    with_payload: bool
    where: Json = field(compare=False, repr=False)

    @property
    def custom_bits(self) -> int | None:
        """The width of a CRC whose parameters may be set at run time; None for other algorithms."""
        return CUSTOM_CRCS.get(self.algorithm)


@dataclass(frozen=True)
class Profile:
    """An action profile, with the hash of its selector if it has one."""

    id: int
    name: str
    c_name: str
    max_members: int
    selector: Calculation | None


@dataclass(frozen=True)
class Array:
    """A register, counter or meter array; `id` is the index in the program."""

    id: int
    name: str
    count: int
    bits: int = 0
    direct: bool = False
    counts_bytes: bool = False
    rates: int = 0
    result: FieldRef | None = None
    table: str = ""  # the table that owns a direct array


@dataclass(frozen=True)
class Table:
    """A table and the nodes that follow it.

    `next_by_action` is keyed by action id. `next_by_hit` holds the nodes after a hit and after a miss, or None if the
    next node depends on the action.
    """

    id: int
    name: str
    c_name: str
    keys: tuple[Key, ...]
    actions: tuple[Action, ...]
    max_entries: int
    profile: Profile | None
    counter: Array | None
    meter: Array | None
    default: ActionCall | None
    default_is_const: bool
    entries: tuple[ConstEntry, ...]
    entries_are_const: bool
    supports_timeout: bool
    next_by_action: dict[int, str | None]
    next_by_hit: tuple[str | None, str | None] | None
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
    """A checksum field with its calculation."""

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
    version_note: str = ""
    """What to add to the reason why the program is refused: advice about its old version, or nothing."""
    types: dict[str, HeaderType] = field(default_factory=dict)
    headers: dict[str, Header] = field(default_factory=dict)
    stacks: dict[str, Stack] = field(default_factory=dict)
    unions: dict[str, Union] = field(default_factory=dict)
    union_stacks: dict[str, UnionStack] = field(default_factory=dict)
    arrays: list[tuple[str, HeaderType, int]] = field(default_factory=list)
    std_fields: dict[tuple[str, str], str] = field(default_factory=dict)
    errors: dict[str, int] = field(default_factory=dict)
    actions: dict[int, Action] = field(default_factory=dict)
    value_sets: dict[str, ValueSet] = field(default_factory=dict)
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
    local_fields: dict[tuple[str, str], str] = field(default_factory=dict)
    """The pass ("ingress" or "egress") of each metadata field, by header and field name, that only this pass uses."""

    @property
    def custom_crcs(self) -> list[Calculation]:
        """The calculations with settable CRC parameters, by number. Selectors are absent because they have no name."""
        return [calculation for calculation in self.calculations.values() if calculation.custom_bits is not None]
