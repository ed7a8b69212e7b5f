# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads parser states and the deparser of a BMv2 JSON. It must know neither tables nor C."""

from __future__ import annotations

from softswitch.codegen.ir.blocks import (
    Advance,
    Extract,
    ParserOp,
    ParserSet,
    Program,
    State,
    Transition,
    ValueSet,
    Verify,
)
from softswitch.codegen.ir.names import Scope
from softswitch.codegen.ir.nodes import (
    Const,
    Expr,
    FieldRef,
    Header,
    Lookahead,
    Stack,
    StackField,
    UnionStack,
    UnionStackField,
    key_bits,
)
from softswitch.codegen.ir.source import Json
from softswitch.codegen.load.expressions import ExpressionLoader

# The core library's errors, in p4c's order; numbers in the JSON take precedence.
CORE_ERRORS = (
    "NoError",
    "PacketTooShort",
    "NoMatch",
    "StackOutOfBounds",
    "HeaderTooShort",
    "ParserTimeout",
    "ParserInvalidArgument",
)

_WIDEST_VALUE_BITS = 0xFFFF


def load_parser(root: Json, program: Program) -> None:
    """Load the program's errors, value sets, parser states and deparser."""
    for number, item in enumerate(root.items("parse_vsets")):
        name, bits = item["name"].text(), item["compressed_bitwidth"].integer()
        if not 0 < bits <= _WIDEST_VALUE_BITS:
            raise item.error(f"parser value set '{name}' of {bits} bits is not supported")
        program.value_sets[name] = ValueSet(number, name, bits)
    program.errors = {item[0].text(): item[1].integer() for item in root.items("errors")}
    free = max(program.errors.values(), default=-1) + 1
    for name in CORE_ERRORS:
        if name not in program.errors:
            program.errors[name] = free
            free += 1
    parsers = list(root.items("parsers"))
    if len(parsers) > 1:
        raise parsers[1].error("more than one parser")
    if parsers:
        _ParserLoader(program).load(parsers[0])
    _load_deparser(root, program)


def _load_deparser(root: Json, program: Program) -> None:
    deparsers = list(root.items("deparsers"))
    if len(deparsers) > 1:
        raise deparsers[1].error("more than one deparser")
    loader = ExpressionLoader(program)
    for deparser in deparsers:
        order = []
        for name in deparser.items("order"):
            if name.text() not in program.headers:
                raise name.error(f"unknown header '{name.text()}'")
            order.append(program.headers[name.text()])
        program.deparser_order = tuple(order)
        program.deparser_primitives = tuple(loader.primitive(p) for p in deparser.items("primitives"))


class _ParserLoader:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.expressions = ExpressionLoader(program)
        self.scope = Scope()

    def load(self, parser: Json) -> None:
        start = parser.get("init_state")
        self.program.start_state = None if start is None else start.text()
        for item in parser.items("parse_states"):
            state = self._state(item)
            self.program.states[state.name] = state
        for state in self.program.states.values():
            for transition in state.transitions:
                if transition.next_state is not None and transition.next_state not in self.program.states:
                    raise state.where.error(f"unknown parser state '{transition.next_state}'")

    def _state(self, item: Json) -> State:
        key = tuple(self.expressions.expression(k) for k in item.items("transition_key"))
        for element, where in zip(key, item.items("transition_key"), strict=True):
            if not isinstance(element, FieldRef | StackField | UnionStackField | Lookahead):
                raise where.error("select on this is not supported")
        return State(
            name=item["name"].text(),
            c_name=self.scope.unique(item["name"].text()),
            ops=tuple(self._op(op) for op in item.items("parser_ops")),
            key=key,
            transitions=tuple(self._transition(t, key) for t in item.items("transitions")),
            where=item,
        )

    def _op(self, item: Json) -> ParserOp:
        op = item["op"].text()
        params = item["parameters"]
        if op in ("extract", "extract_VL"):
            return self._extract(item, params)
        if op == "set":
            target = self.expressions.expression(params[0])
            if not isinstance(target, FieldRef):
                raise params[0].error("a parser assignment to this is not supported")
            return ParserSet(target, self.expressions.expression(params[1]), item)
        if op == "verify":
            return Verify(self.expressions.expression(params[0]), self.expressions.expression(params[1]))
        if op == "advance":
            return Advance(self.expressions.expression(params[0]))
        if op == "shift":
            return Advance(Const(8 * params[0].integer()))
        if op == "primitive":
            return self.expressions.primitive(params[0])
        raise item.error(f"parser operation '{op}' is not supported")

    def _extract(self, item: Json, params: Json) -> Extract:
        length = self.expressions.expression(params[1]) if len(params.value) > 1 else None
        kind, value = params[0]["type"].text(), params[0]["value"]
        target: Header | Stack | UnionStack | None
        member = 0
        if kind == "regular":
            target = self.program.headers.get(value.text())
        elif kind == "stack":
            target = self.program.stacks.get(value.text())
        elif kind == "union_stack":
            target = self.program.union_stacks.get(value[0].text())
            member = self.expressions.union_member(value[0].text(), value[1]) if target is not None else 0
        else:
            raise value.error(f"extract to '{kind}' is not supported")
        if target is None:
            raise value.error(f"unknown extract target {value.value!r}")
        return Extract(target, member, length, item)

    def _transition(self, item: Json, key: tuple[Expr, ...]) -> Transition:
        following = item.get("next_state")
        next_state = None if following is None else following.text()
        value = item.get("value")
        kind = item.get("type")
        if (kind is not None and kind.text() == "default") or value is None or value.value == "default":
            return Transition(None, next_state)
        mask = item.get("mask")
        masks = [None] * len(key) if mask is None else _split(mask.hexstr(), key)
        if kind is not None and kind.text() == "parse_vset":
            return Transition(tuple((0, m) for m in masks), next_state, self._value_set(value, key))
        if kind is not None and kind.text() != "hexstr":
            raise item.error(f"parser transition of type '{kind.text()}' is not supported")
        return Transition(tuple(zip(_split(value.hexstr(), key), masks, strict=True)), next_state)

    def _value_set(self, name: Json, key: tuple[Expr, ...]) -> ValueSet:
        value_set = self.program.value_sets.get(name.text())
        if value_set is None:
            raise name.error(f"unknown parser value set '{name.text()}'")
        bits = sum(map(key_bits, key))
        if bits != value_set.bits:
            raise name.error(f"a select of {bits} bits on value set '{value_set.name}' of {value_set.bits} bits")
        return value_set


def _split(value: int, key: tuple[Expr, ...]) -> list[int]:
    """Split a select value, which is the concatenation of its elements, each padded to whole bytes."""
    parts = []
    for element in reversed(key):
        bits = key_bits(element)
        padded = (bits + 7) // 8 * 8
        parts.append(value & ((1 << bits) - 1))
        value >>= padded
    return parts[::-1]
