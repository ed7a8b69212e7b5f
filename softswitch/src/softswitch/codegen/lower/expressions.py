# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Translates expressions to C.

BMv2 computes with integers of any size and truncates on storing. Here every operation gets the C type that provably
holds its result, derived from the ranges of its operands. Where only the low bits matter (a store, a mask), wrapping
arithmetic of that width is enough. It must not know statements.
"""

from __future__ import annotations

from softswitch.codegen.ir.nodes import (
    VALID,
    Bool,
    Const,
    Expr,
    FieldRef,
    HeaderRef,
    Local,
    Lookahead,
    Op,
    StackField,
    StackRef,
    UnionStackField,
)
from softswitch.codegen.ir.source import CodegenError
from softswitch.codegen.lower.operands import Operands
from softswitch.codegen.lower.places import field_lvalue, last_index, stack_place, union_stack_place
from softswitch.codegen.lower.values import WIDE_BITS, Kind, Value, bits_mask, constant, converted, lowered, masked_text

_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_WRAPPING = {"+": "add", "-": "sub", "*": "mul", "&": "and", "|": "or", "^": "xor"}
_LEFT_SHIFTS = {Kind.U64: "sw_shl64", Kind.U128: "sw_shl128", Kind.WIDE: "sw_wide_shl"}
_RIGHT_SHIFTS = {
    Kind.U64: "sw_shr64",
    Kind.I64: "sw_sar64",
    Kind.U128: "sw_shr128",
    Kind.I128: "sw_sar128",
    Kind.WIDE: "sw_wide_shr",
}
_BOOLEAN = ("and", "or", "not", "valid", "valid_union", "d2b", *_COMPARISONS)


class Expressions(Operands):
    """An emitter of the expressions inside one C function."""

    def boolean(self, expr: Expr) -> str:
        """Return C for a boolean expression."""
        if isinstance(expr, Bool):
            return "true" if expr.value else "false"
        if isinstance(expr, Op):
            if expr.op in _COMPARISONS:
                return self._comparison(expr)
            if expr.op in ("and", "or"):
                assert expr.left is not None
                sign = "&&" if expr.op == "and" else "||"
                return f"({self.boolean(expr.left)} {sign} {self.boolean(expr.right)})"
            if expr.op == "not":
                return f"!{self.boolean(expr.right)}"
            if expr.op == "valid":
                return f"(bool){self.header(expr.right).valid}"
            if expr.op == "valid_union":
                return self.union_valid(expr.right)
            if expr.op == "d2b":
                return self._data_to_bool(expr.right)
            if expr.op == "?":
                assert expr.left is not None and expr.cond is not None
                return f"({self.boolean(expr.cond)} ? {self.boolean(expr.left)} : {self.boolean(expr.right)})"
        return self._data_to_bool(expr)

    def _data_to_bool(self, expr: Expr) -> str:
        value = self.value(expr)
        if value.kind is Kind.WIDE:
            return f"(sw_wide_compare({value.text}, sw_wide_u(0)) != 0)"
        return f"({value.text} != 0)"

    def _comparison(self, expr: Op) -> str:
        assert expr.left is not None
        if self._is_boolean(expr.left):
            return f"({self.boolean(expr.left)} {expr.op} {self.boolean(expr.right)})"
        if isinstance(expr.left, HeaderRef) or self._denotes_header(expr.left):
            return self._header_comparison(expr)
        if isinstance(expr.left, FieldRef) and expr.left.field.varbit:
            return self._varbit_comparison(expr, expr.left)
        left, right = self.value(expr.left), self.value(expr.right)
        kind = self._kind(expr, min(left.low, right.low), max(left.high, right.high))
        a, b = converted(left, kind), converted(right, kind)
        if kind is Kind.WIDE:
            return f"(sw_wide_compare({a}, {b}) {expr.op} 0)"
        return f"({a} {expr.op} {b})"

    def _varbit_comparison(self, expr: Op, left: FieldRef) -> str:
        if not isinstance(expr.right, FieldRef) or not expr.right.field.varbit or expr.op not in ("==", "!="):
            raise self._refuse(expr, "this comparison of a varbit")
        equal = _same_varbits(field_lvalue(self.program, left), field_lvalue(self.program, expr.right))
        return f"({equal})" if expr.op == "==" else f"!({equal})"

    def _header_comparison(self, expr: Op) -> str:
        """Return C for BMv2's comparison: headers are equal if both are valid and all fields are equal."""
        assert expr.left is not None
        left, right = self.header(expr.left), self.header(expr.right)
        if left.metadata or right.metadata or left.type.fields != right.type.fields:
            raise self._refuse(expr, "a comparison of these headers")
        tests = [left.valid, right.valid]
        for field in left.type.fields:
            a, b = f"{left.fields}.{field.c_name}", f"{right.fields}.{field.c_name}"
            if field.varbit:
                tests.append(_same_varbits(a, b))
            elif field.bits > 128:
                tests.append(f"memcmp({a}, {b}, sizeof {a}) == 0")
            else:
                tests.append(f"{a} == {b}")
        equal = "(" + " && ".join(tests) + ")"
        if expr.op not in ("==", "!="):
            raise self._refuse(expr, "a comparison of headers")
        return equal if expr.op == "==" else f"!{equal}"

    def _denotes_header(self, expr: Expr) -> bool:
        return isinstance(expr, Op) and expr.op in ("dereference_header_stack", "access_union_header")

    def _is_boolean(self, expr: Expr) -> bool:
        if isinstance(expr, Op) and expr.op == "?":
            return expr.left is not None and self._is_boolean(expr.left)
        return isinstance(expr, Bool) or (isinstance(expr, Op) and expr.op in _BOOLEAN)

    # ---- integers, exact ----

    def value(self, expr: Expr) -> Value:
        """Return C for the exact value of an expression, with its range."""
        if isinstance(expr, Const):
            return constant(expr.value)
        if isinstance(expr, Bool):
            return constant(int(expr.value))
        if isinstance(expr, FieldRef):
            return self._field(expr)
        if isinstance(expr, StackField):
            return self._member(stack_place(expr.stack, last_index(expr.stack.array)), expr.field)
        if isinstance(expr, UnionStackField):
            place = union_stack_place(expr.stack, expr.member, last_index(expr.stack.c_name))
            return self._member(place, expr.field)
        if isinstance(expr, Local):
            return self._local(expr)
        if isinstance(expr, Lookahead):
            return self._lookahead(expr)
        if isinstance(expr, Op):
            return self._operation(expr)
        raise self._refuse(expr, "an integer operand")

    def _operation(self, expr: Op) -> Value:
        if expr.op == "access_field" and isinstance(expr.right, Const) and expr.left is not None:
            place = self.header(expr.left)
            return self._member(place, self.field_of(expr, (*place.type.fields, VALID)))
        if expr.op == "last_stack_index" and isinstance(expr.right, StackRef):
            return Value(f"(uint64_t)(phv->next.{expr.right.stack.array} - 1)", 0, bits_mask(32), Kind.U64)
        if expr.op == "size_stack" and isinstance(expr.right, StackRef):
            stack = expr.right.stack
            return Value(f"(uint64_t)phv->next.{stack.array}", 0, len(stack.headers), Kind.U64)
        if expr.op == "b2d" or expr.op in _BOOLEAN:
            text = self.boolean(expr.right if expr.op == "b2d" else expr)
            return Value(f"(uint64_t){text}", 0, 1, Kind.U64)
        if expr.op == "?":
            return self._choice(expr)
        if expr.op in ("two_comp_mod", "sat_cast", "usat_cast"):
            return self._cast(expr)
        if expr.op in ("<<", ">>"):
            return self._shift_left(expr) if expr.op == "<<" else self._shift_right(expr)
        mask, other = _constant_mask(expr)
        return self._arithmetic(expr) if mask is None else self._masked(other, mask)

    def _choice(self, expr: Op) -> Value:
        assert expr.left is not None and expr.cond is not None
        left, right = self.value(expr.left), self.value(expr.right)
        low, high = min(left.low, right.low), max(left.high, right.high)
        kind = self._kind(expr, low, high)
        text = f"({self.boolean(expr.cond)} ? {converted(left, kind)} : {converted(right, kind)})"
        return Value(text, low, high, kind)

    def _cast(self, expr: Op) -> Value:
        assert expr.left is not None
        width = self._constant(expr.right, expr)
        low, high = (0, bits_mask(width)) if expr.op == "usat_cast" else (-(1 << (width - 1)), bits_mask(width - 1))
        value = self.value(expr.left) if expr.op != "two_comp_mod" else self.exact_or_none(expr.left)
        if value is not None and low <= value.low and value.high <= high:
            return value
        if expr.op == "two_comp_mod":
            text = self.low(expr.left, width)
            container = 64 if width <= 64 else 128 if width <= 128 else 0
            call = f"sw_sign{container}" if container else "sw_wide_sign"
            return Value(f"{call}({text}, {width})", low, high, Kind.of_width(width, True))
        assert value is not None
        kind = self._kind(expr, min(value.low, low, -1), max(value.high, high))
        ends = ", ".join(converted(constant(end), kind) for end in (low, high))
        call = {Kind.I64: "sw_clamp64", Kind.I128: "sw_clamp128", Kind.WIDE: "sw_wide_clamp"}[kind]
        clamped = Value(f"{call}({converted(value, kind)}, {ends})", low, high, kind)
        narrow = Kind.holding(low, high)
        return Value(converted(clamped, narrow), low, high, narrow)

    def exact_or_none(self, expr: Expr) -> Value | None:
        """Return the exact value of an expression, or None if only its low bits can be computed. Results are cached."""
        if id(expr) not in self._known:
            value: Value | None
            try:
                value = self.value(expr)
            except CodegenError:
                value = None
            self._known[id(expr)] = (expr, value)  # a reference to expr prevents the reuse of its id
        return self._known[id(expr)][1]

    def _shift_right(self, expr: Op) -> Value:
        assert expr.left is not None
        left, by = self.value(expr.left), self.value(expr.right)
        least, most = max(by.low, 0), max(by.high, 0)
        nearest, farthest = min(least, WIDE_BITS), min(most, WIDE_BITS)
        ends = [end >> distance for end in (left.low, left.high) for distance in (nearest, farthest)]
        if least == most < 64 and left.kind is Kind.U64:
            text = f"({left.text} >> {most})"
        else:
            text = f"{_RIGHT_SHIFTS[left.kind]}({left.text}, {lowered(by, 64)})"
        return Value(text, min(ends), max(ends), left.kind).narrowed()

    def _shift_left(self, expr: Op) -> Value:
        assert expr.left is not None
        left, by = self.value(expr.left), self.value(expr.right)
        most = max(by.high, 0)
        if most > WIDE_BITS:
            raise self._refuse(expr, f"a left shift by up to {most} bits whose result is not cut")
        low, high = min(left.low << most, left.low), max(left.high << most, left.high)
        kind = self._kind(expr, low, high)
        unsigned = {Kind.I64: Kind.U64, Kind.I128: Kind.U128}.get(kind, kind)
        call, operand = _LEFT_SHIFTS[unsigned], converted(left, kind)
        if unsigned is kind:
            return Value(f"{call}({operand}, {lowered(by, 64)})", low, high, kind)
        return Value(f"({kind.value}){call}(({unsigned.value}){operand}, {lowered(by, 64)})", low, high, kind)

    def _masked(self, expr: Expr, mask: int) -> Value:
        """Return `expr & mask`, computed with wrapping arithmetic because only the low bits of expr matter."""
        expr, mask = _without_masks(expr, mask)
        bits = max(mask.bit_length(), 1)
        value = self.exact_or_none(expr)
        if value is not None and value.low >= 0 and mask == bits_mask(bits) and value.high <= mask:
            return value
        kind = Kind.of_width(bits, False)
        return Value(masked_text(self.low(expr, bits), mask, kind), 0, mask, kind)

    def _arithmetic(self, expr: Op) -> Value:
        left = constant(0) if expr.left is None else self.value(expr.left)
        right = self.value(expr.right)
        if expr.op == "~":
            return self._not(right)
        low, high = self._range(expr, left, right)
        kind = self._kind(expr, min(low, left.low, right.low), max(high, left.high, right.high))
        a, b = converted(left, kind), converted(right, kind)
        if expr.op in ("/", "%"):
            name = "div" if expr.op == "/" else "mod"
            if kind not in (Kind.U64, Kind.U128):
                raise self._refuse(expr, "a division of signed or wide numbers")
            text = f"sw_{name}{64 if kind is Kind.U64 else 128}({a}, {b})"
        elif kind is Kind.WIDE:
            text = f"sw_wide_{_WRAPPING[expr.op]}({a}, {b})"
        else:
            text = f"({a} {expr.op} {b})"
        return Value(text, low, high, kind).narrowed()

    def _not(self, value: Value) -> Value:
        low, high = -value.high - 1, -value.low - 1
        kind = Kind.holding(min(low, value.low), max(high, value.high))
        operand = converted(value, kind)
        return Value(f"sw_wide_not({operand})" if kind is Kind.WIDE else f"(~{operand})", low, high, kind)

    def _range(self, expr: Op, left: Value, right: Value) -> tuple[int, int]:
        """Return the bounds of a binary operation's result."""
        if expr.op == "+":
            return left.low + right.low, left.high + right.high
        if expr.op == "-":
            return left.low - right.high, left.high - right.low
        if expr.op == "*":
            ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
            return min(ends), max(ends)
        if expr.op == "/":
            return 0, left.high
        if expr.op == "%":
            return 0, min(left.high, right.high)
        if expr.op in ("&", "|", "^"):
            bits = max(v.bit_length() for v in (left.low, left.high, right.low, right.high))
            if left.low >= 0 and right.low >= 0:
                return 0, min(left.high, right.high) if expr.op == "&" else bits_mask(bits)
            if expr.op == "&" and max(left.low, right.low) >= 0:
                return 0, left.high if left.low >= 0 else right.high
            return -(1 << bits), bits_mask(bits)
        raise self._refuse(expr, f"operation '{expr.op}'")

    # ---- integers, only their low bits ----

    def low(self, expr: Expr, bits: int) -> str:
        """Return C of the unsigned kind for `bits` bits, with correct low `bits` bits and arbitrary higher bits."""
        kind = Kind.of_width(bits, False)
        if isinstance(expr, Op):
            mask, _ = _constant_mask(expr)
            if mask is not None:
                return lowered(self._masked(expr, bits_mask(bits)), bits)
            if expr.op in _WRAPPING:
                left = lowered(constant(0), bits) if expr.left is None else self.low(expr.left, bits)
                right = self.low(expr.right, bits)
                if kind is Kind.WIDE:
                    return f"sw_wide_{_WRAPPING[expr.op]}({left}, {right})"
                return f"({left} {expr.op} {right})"
            if expr.op == "~":
                inner = self.low(expr.right, bits)
                return f"sw_wide_not({inner})" if kind is Kind.WIDE else f"(~{inner})"
            if expr.op == "<<" and expr.left is not None:
                return self._low_shift(expr.left, expr.right, bits, kind)
            if expr.op == "?" and expr.left is not None and expr.cond is not None:
                return f"({self.boolean(expr.cond)} ? {self.low(expr.left, bits)} : {self.low(expr.right, bits)})"
            if expr.op == "two_comp_mod" and expr.left is not None and self._constant(expr.right, expr) >= bits:
                return self.low(expr.left, bits)
        return lowered(self.value(expr), bits)

    def _low_shift(self, left: Expr, by: Expr, bits: int, kind: Kind) -> str:
        inner = self.low(left, bits)
        if isinstance(by, Const) and kind is Kind.U64 and 0 <= by.value < 64:
            return f"({inner} << {by.value})"
        return f"{_LEFT_SHIFTS[kind]}({inner}, {lowered(self.value(by), 64)})"

    def _kind(self, expr: Op, low: int, high: int) -> Kind:
        try:
            return Kind.holding(low, high)
        except OverflowError:
            raise self._refuse(expr, "an intermediate result of more than 2176 bits") from None


def _same_varbits(a: str, b: str) -> str:
    return f"{a}.n_bytes == {b}.n_bytes && memcmp({a}.bytes, {b}.bytes, {a}.n_bytes) == 0"


def _constant_mask(expr: Expr) -> tuple[int | None, Expr]:
    """Return (mask, operand) for `operand & mask` with a constant mask >= 0, and (None, expr) for other expressions."""
    if isinstance(expr, Op) and expr.op == "&" and expr.left is not None:
        for mask, other in ((expr.right, expr.left), (expr.left, expr.right)):
            if isinstance(mask, Const) and mask.value >= 0:
                return mask.value, other
    return None, expr


def _without_masks(expr: Expr, mask: int) -> tuple[Expr, int]:
    """Return the operand and mask equal to `expr & mask`, with the masks inside expr merged into the mask."""
    inner, operand = _constant_mask(expr)
    while inner is not None:
        expr, mask = operand, mask & inner
        inner, operand = _constant_mask(expr)
    return expr, mask
