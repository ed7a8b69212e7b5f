# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Emits the parser: a labelled block for each state, direct loads for extraction, comparisons for select.

It must not know how the headers are used afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable

from softswitch.codegen.emit.actions import CONTEXT_PARAMS
from softswitch.codegen.emit.messages import emit_log_msg
from softswitch.codegen.emit.value_sets import Piece, mask_pieces, packed_words, piece_places
from softswitch.codegen.emit.writer import Writer, literal
from softswitch.codegen.ir.blocks import Advance, Extract, ParserOp, ParserSet, Program, State, Transition, Verify
from softswitch.codegen.ir.lifetimes import parts
from softswitch.codegen.ir.limits import MOST_NUMBER
from softswitch.codegen.ir.loops import endless_states
from softswitch.codegen.ir.names import c_comment
from softswitch.codegen.ir.nodes import Const, Expr, Field, FieldRef, Header, Lookahead, Primitive, Stack, key_bits
from softswitch.codegen.lower.expressions import Expressions
from softswitch.codegen.lower.places import HeaderPlace, place_of, stack_place, union_stack_place
from softswitch.codegen.lower.stores import field_target, set_valid, store
from softswitch.codegen.lower.values import Kind, bits_mask, constant, converted, lowered, masked_text
from softswitch.codegen.lower.wire import load_field
from softswitch.codegen.primitives.emit import emit_primitive

_EQUAL = {
    Kind.U64: "sw_equal({}, {})",
    Kind.U128: "{} == {}",
    Kind.WIDE: "sw_wide_compare({}, {}) == 0",
}


def emit_parser(program: Program, out: Writer) -> None:
    """Emit `parse`, which fills the phv, moves the packet's head behind the headers and returns the parser error."""
    _ParserEmitter(program, out).emit()


class _ParserEmitter:
    def __init__(self, program: Program, out: Writer) -> None:
        self.program = program
        self.out = out
        self.expressions = Expressions(program, in_parser=True)
        self.endless = endless_states(program.states)

    def emit(self) -> None:
        out = self.out
        with out.block(f"SW_INLINE uint32_t parse({CONTEXT_PARAMS})"):
            out.line("const uint8_t *at = packet->buffer + packet->head;")
            out.line("const uint8_t *end = at + packet->len;")
            out.line(f"uint32_t error = {self.program.errors['NoError']};")
            out.log("debug", "Parser 'parser': start")
            out.line(self._goto(self.program.start_state))
            for state in self.program.states.values():
                self._state(state)
            out.label("accept")
            out.line("packet->parsed_bytes = (uint32_t)(at - (packet->buffer + packet->head));")
            out.log("trace", "Bytes parsed: %u", "packet->parsed_bytes")
            out.log("debug", "Parser 'parser': end")
            out.line("packet->head += packet->parsed_bytes;")
            out.line("packet->len -= packet->parsed_bytes;")
            out.line("return error;")
        out.line()

    def _goto(self, state: str | None) -> str:
        return "goto accept;" if state is None else f"goto state_{self.program.states[state].c_name};"

    def _fail(self, condition: str, error: str) -> None:
        with self.out.block(f"if ({condition})"):
            self.out.line(f"error = {self.program.errors[error]}; {c_comment(error)}")
            self.out.log("error", f"Exception while parsing: {error}")
            self.out.line("goto accept;")

    def _need(self, n_bytes: str) -> None:
        self._fail(f"(size_t)(end - at) < {n_bytes}", "PacketTooShort")

    def _state(self, state: State) -> None:
        self.out.line()
        self.out.label(f"state_{state.c_name}")
        sources = [w for w in (state.where.source, *map(_source, state.ops)) if w]
        self.out.comment(", ".join([f"state {state.name}", *sources[:1]]))
        self.out.log("debug", f"Parser 'parser' entering state '{literal(state.name)}'")
        if state.name in self.endless:
            self.out.count_turn(f"state {state.name}", state.where.source, "goto accept;")
        with state.where.locating():
            for op in state.ops:
                self._lookahead_room(op)
                self._op(op)
            self._select(state)

    def _op(self, op: ParserOp) -> None:
        if isinstance(op, Extract):
            self._extract(op)
        elif isinstance(op, ParserSet):
            self._set(op)
        elif isinstance(op, Verify):
            self._verify(op)
        elif isinstance(op, Advance):
            self._advance(op)
        else:
            assert isinstance(op, Primitive)
            if op.op == "log_msg":
                emit_log_msg(self.expressions, op, self.out)
            self.out.lines(emit_primitive(self.program, self.expressions, op))

    def _extract(self, op: Extract) -> None:
        out = self.out
        if isinstance(op.target, Header):
            out.log("debug", f"Extracting header '{literal(op.target.name)}'")
            self._extract_to(place_of(op.target), op)
            return
        if isinstance(op.target, Stack):
            counter, size = op.target.array, len(op.target.headers)
            place = stack_place(op.target, f"phv->next.{counter}")
        else:
            counter, size = op.target.c_name, len(op.target.unions)
            place = union_stack_place(op.target, op.member, f"phv->next.{counter}")
        self._fail(f"phv->next.{counter} >= {size}", "StackOutOfBounds")
        name = literal(op.target.name)
        out.log("debug", f"Extracting to header stack {name}, next header is {name}[%u]", f"phv->next.{counter}")
        self._extract_to(place, op)
        out.line(f"phv->next.{counter}++;")

    def _extract_to(self, place: HeaderPlace, op: Extract) -> None:
        if op.length_bits is not None:
            self._extract_varbit(place, op)
            return
        if place.type.varbit is not None:
            raise op.where.error(f"extract of '{place.type.name}' without the length of its varbit is not supported")
        n_bytes = place.type.fixed_bits // 8
        self._need(str(n_bytes))
        self._load(place, place.type.fields, 0)
        self.out.lines(set_valid(place))
        self.out.line(f"at += {n_bytes};")

    def _load(self, place: HeaderPlace, fields: Iterable[Field], offset: int) -> None:
        for field in fields:
            self.out.lines(load_field(f"{place.fields}.{field.c_name}", field, "at", offset))
            offset += field.bits

    def _extract_varbit(self, place: HeaderPlace, op: Extract) -> None:
        varbit = place.type.varbit
        assert op.length_bits is not None
        if varbit is None:
            raise op.where.error(f"extract of '{place.type.name}' with a length but without a varbit is not supported")
        index = place.type.fields.index(varbit)
        before, after = place.type.fields[:index], place.type.fields[index + 1 :]
        offset = sum(f.bits for f in before)
        if offset % 8:
            raise op.where.error(f"a varbit that starts inside a byte ('{place.type.name}') is not supported")
        out, member = self.out, f"{place.fields}.{varbit.c_name}"
        fixed = place.type.fixed_bits // 8
        with out.block(""):
            length = self.expressions.value(op.length_bits)
            kind = Kind.I64 if length.low < 0 else Kind.U64
            out.line(f"{kind.value} bits = {converted(length, kind)};")
            self._fail("bits % 8 != 0", "ParserInvalidArgument")
            if kind is Kind.I64:
                self._fail("bits < 0", "HeaderTooShort")
            self._need(f"{fixed} + (uint64_t)bits / 8")
            self._fail(f"(uint64_t)bits > {varbit.bits}", "HeaderTooShort")
            self._load(place, before, 0)
            out.line(f"{member}.n_bytes = (uint16_t)(bits / 8);")
            out.line(f"memcpy({member}.bytes, at + {offset // 8}, {member}.n_bytes);")
            out.line(f"at += {offset // 8} + {member}.n_bytes;")
            self._load(place, after, 0)
            out.lines(set_valid(place))
            out.line(f"at += {fixed - offset // 8};")

    def _set(self, op: ParserSet) -> None:
        self.out.comment(op.where.source)
        self.out.line(store(self.expressions, field_target(self.program, op.target), op.value))
        name = literal(f"{op.target.header.name}.{op.target.field.name}")
        self.out.log("debug", f"Parser set: setting field '{name}'")

    def _lookahead_room(self, part: object) -> None:
        """Emit a check that the frame is long enough for the lookaheads of a part of a state."""
        ends = [v.offset + v.bits for v in parts((part,)) if isinstance(v, Lookahead)]
        if ends:
            self._need(str((max(ends) + 7) // 8))

    def _verify(self, op: Verify) -> None:
        with self.out.block(f"if (!{self.expressions.boolean(op.condition)})"):
            self.out.line(f"error = (uint32_t){lowered(self.expressions.value(op.error), 64)};")
            self.out.log("error", "Exception while parsing: error %u", "error")
            self.out.line("goto accept;")

    def _advance(self, op: Advance) -> None:
        if isinstance(op.bits, Const) and op.bits.value % 8 == 0 and 0 <= op.bits.value <= MOST_NUMBER:
            self._need(str(op.bits.value // 8))
            self.out.line(f"at += {op.bits.value // 8};")
            return
        with self.out.block(""):
            self.out.line(f"uint64_t bits = {self.expressions.index(op.bits)};")
            self._fail("bits % 8 != 0", "ParserInvalidArgument")
            self._need("bits / 8")
            self.out.line("at += bits / 8;")

    def _select(self, state: State) -> None:
        default = next((t for t in state.transitions if t.match is None), None)
        cases = [t for t in state.transitions if t.match is not None]
        self._lookahead_room(state.key)
        if self.out.logs:
            self._log_key(state)
        is_masked = any(mask is not None for case in cases for _, mask in (case.match or ()))
        has_sets = any(case.value_set is not None for case in cases)
        if len(state.key) == 1 and key_bits(state.key[0]) <= 64 and not is_masked and not has_sets:
            self._switch(state.key[0], cases)
        else:
            for case in cases:
                self._case(state, case)
        self.out.line(self._goto(None if default is None else default.next_state))

    def _log_key(self, state: State) -> None:
        name = literal(state.name)
        if not state.key:
            self.out.log("debug", f"Parser state '{name}' has no switch, going to default next state")
            return
        pieces = [piece for element in state.key for piece in self._pieces(element)]
        digits = "".join(f"%0{2 * ((bits + 7) // 8)}llx" for _, bits in pieces)
        values = (f"(unsigned long long)({text})" for text, _ in pieces)
        self.out.log("debug", f"Parser state '{name}': key is {digits}", *values)

    def _switch(self, key: Expr, cases: list[Transition]) -> None:
        if not cases:
            return
        seen: set[int] = set()
        text = self._masked_key(key, bits_mask(key_bits(key)), bits_mask(key_bits(key)), Kind.U64)
        with self.out.block(f"switch ({text})"):
            for case in cases:
                assert case.match is not None
                value = case.match[0][0]
                if value not in seen:
                    seen.add(value)
                    self.out.line(f"case {value:#x}: {self._goto(case.next_state)}")

    def _case(self, state: State, case: Transition) -> None:
        if case.value_set is None:
            self.out.line(f"if ({self._match(state, case)})")
            self.out.line(f"    {self._goto(case.next_state)}")
            return
        assert case.match is not None
        bits = [key_bits(element) for element in state.key]
        words = (case.value_set.bits + 63) // 64
        masks = [bits_mask(n) if mask is None else mask for n, (_, mask) in zip(bits, case.match, strict=True)]
        with self.out.block(""):
            pieces = [piece for element in state.key for piece in self._pieces(element)]
            self._array("key", packed_words(pieces))
            mask = "NULL"
            if any(mask != bits_mask(n) for n, mask in zip(bits, masks, strict=True)):
                mask = "mask"
                self._array(
                    mask, packed_words([p for n, m in zip(bits, masks, strict=True) for p in mask_pieces(n, m)])
                )
            self.out.line(
                f"if (sw_value_set_has(&pipeline->value_sets[{case.value_set.id}], key, {mask}, {words}))"
                f" {c_comment(case.value_set.name)}"
            )
            self.out.line(f"    {self._goto(case.next_state)}")

    def _array(self, name: str, words: list[str]) -> None:
        self.out.line(f"const uint64_t {name}[] = {{{', '.join(words)}}};")

    def _pieces(self, element: Expr) -> list[Piece]:
        """Return the 64-bit pieces of a key element, from the most significant on."""
        bits = key_bits(element)
        kind = Kind.of_width(bits, False)
        text = self._masked_key(element, bits_mask(bits), bits_mask(bits), kind)
        if kind is Kind.WIDE:
            return [(f"sw_wide_low(sw_wide_shr({text}, {at}))", n) for at, n in piece_places(bits)]
        if kind is Kind.U64:
            return [(text, bits)]
        return [(f"(uint64_t)({text} >> {at})", n) for at, n in piece_places(bits)]

    def _match(self, state: State, case: Transition) -> str:
        assert case.match is not None
        tests = []
        for element, (value, mask) in zip(state.key, case.match, strict=True):
            bits = key_bits(element)
            everything = bits_mask(bits)
            mask = everything if mask is None else mask
            if mask == 0:
                continue
            kind = Kind.of_width(bits, False)
            text = self._masked_key(element, mask, everything, kind)
            want = converted(constant(value & mask), kind)
            tests.append(_EQUAL[kind].format(text, want))
        return " && ".join(tests) or "true"

    def _masked_key(self, element: Expr, mask: int, everything: int, kind: Kind) -> str:
        signed = isinstance(element, FieldRef) and element.field.signed
        text = self.expressions.low(element, everything.bit_length())
        return text if mask == everything and not signed else masked_text(text, mask, kind)


def _source(op: ParserOp) -> str:
    return "" if isinstance(op, Verify | Advance) else op.where.source
