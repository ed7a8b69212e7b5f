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
from softswitch.codegen.ir.limits import MOST_CASES, MOST_HEADER_BITS, MOST_NUMBER
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
from softswitch.codegen.ir.source import Json, shown
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
        name = item["name"].text()
        bits = item["compressed_bitwidth"].integer()
        if not 0 < bits <= _WIDEST_VALUE_BITS:
            raise item.error(f"parser value set '{name}' of {bits} bits is not supported")
        program.value_sets[name] = ValueSet(number, name, bits)
    program.errors = {
        item[0].text(): item[1].integer(0, MOST_NUMBER - len(CORE_ERRORS)) for item in root.items("errors")
    }
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
            if program.headers[name.text()].metadata:
                raise name.error(f"metadata '{name.text()}' cannot be deparsed")
            order.append(program.headers[name.text()])
        program.deparser_order = tuple(order)
        program.deparser_primitives = tuple(loader.primitive(p) for p in deparser.items("primitives"))


class _ParserLoader:
    def __init__(self, program: Program) -> None:
        self.program = program
        self.expressions = ExpressionLoader(program)
        self.scope = Scope("s")

    def load(self, parser: Json) -> None:
        start = parser.get("init_state")
        self.program.start_state = None if start is None else start.text()
        states = self.program.states
        for item in parser.items("parse_states"):
            state = self._state(item)
            if state.name in states:
                raise item.error(f"more than one parser state is named '{state.name}'")
            states[state.name] = state
        if start is not None and start.text() not in states:
            raise start.error(f"unknown parser state '{start.text()}'")
        for state in states.values():
            for transition in state.transitions:
                if transition.next_state is not None and transition.next_state not in states:
                    raise state.where.error(f"unknown parser state '{transition.next_state}'")

    def _state(self, item: Json) -> State:
        key = tuple(self.expressions.expression(k) for k in item.items("transition_key"))
        for element, where in zip(key, item.items("transition_key"), strict=True):
            if not isinstance(element, FieldRef | StackField | UnionStackField | Lookahead):
                raise where.error("select on this is not supported")
        return State(
            name=item["name"].text(),
            c_name=self.scope.unique(),
            ops=tuple(self._op(op) for op in item.items("parser_ops")),
            key=key,
            transitions=tuple(self._transition(t, key) for t in item.items("transitions", MOST_CASES)),
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
            is_number = isinstance(params[1].value, int)  # in old versions
            error = Const(params[1].integer()) if is_number else self.expressions.expression(params[1])
            return Verify(self.expressions.expression(params[0]), error)
        if op == "advance":
            return Advance(self.expressions.expression(params[0]))
        if op == "shift":
            return Advance(Const(8 * params[0].integer(0, MOST_HEADER_BITS // 8, "the shift")))
        if op == "primitive":
            return self.expressions.primitive(params[0])
        raise item.error(f"parser operation '{op}' is not supported")

    def _extract(self, item: Json, params: Json) -> Extract:
        length = self.expressions.expression(params[1]) if len(list(params.items())) > 1 else None
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
            raise value.error(f"unknown extract target {shown(value.value)}")
        if isinstance(target, Header) and target.metadata:
            raise value.error(f"extract to metadata '{target.name}' is not supported")
        return Extract(target, member, length, item)

    def _transition(self, item: Json, key: tuple[Expr, ...]) -> Transition:
        next_state = item.get_text("next_state")
        value = item.get("value")
        kind = item.get_text("type")
        if kind == "default" or value is None or value.value == "default":
            return Transition(None, next_state)
        mask = item.get("mask")
        bits = sum(map(_padded_bits, key))
        masks = [None] * len(key) if mask is None else _split(mask.hexstr(bits), key)
        if kind == "parse_vset":
            return Transition(tuple((0, m) for m in masks), next_state, self._value_set(value, key))
        if kind not in (None, "hexstr"):
            raise item.error(f"parser transition of type '{kind}' is not supported")
        return Transition(tuple(zip(_split(value.hexstr(bits), key), masks, strict=True)), next_state)

    def _value_set(self, name: Json, key: tuple[Expr, ...]) -> ValueSet:
        value_set = self.program.value_sets.get(name.text())
        if value_set is None:
            raise name.error(f"unknown parser value set '{name.text()}'")
        bits = sum(map(key_bits, key))
        if bits != value_set.bits:
            raise name.error(f"a select of {bits} bits on value set '{value_set.name}' of {value_set.bits} bits")
        return value_set


def _padded_bits(element: Expr) -> int:
    return (key_bits(element) + 7) // 8 * 8


def _split(value: int, key: tuple[Expr, ...]) -> list[int]:
    """Split a select value, which is the concatenation of its elements, each padded to whole bytes."""
    parts = []
    for element in reversed(key):
        parts.append(value & ((1 << key_bits(element)) - 1))
        value >>= _padded_bits(element)
    return parts[::-1]
