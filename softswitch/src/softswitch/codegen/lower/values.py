# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""C integers with known ranges: the C type that holds a range, and conversions between types.

It must not know expressions.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

WIDE_BITS = 2176  # SW_WIDE_LIMBS * 64


class Kind(Enum):
    """The C types that values are computed in."""

    U64 = "uint64_t"
    I64 = "int64_t"
    U128 = "sw_u128"
    I128 = "sw_i128"
    WIDE = "struct sw_wide"

    @staticmethod
    def holding(low: int, high: int) -> Kind:
        """Return the cheapest kind for a range. Raise OverflowError if no kind can hold it."""
        for kind, least, most in _RANGES:
            if least <= low and high <= most:
                return kind
        raise OverflowError

    @staticmethod
    def of_width(bits: int, signed: bool) -> Kind:
        """Return the kind of a field of `bits` bits."""
        if bits <= 64:
            return Kind.I64 if signed else Kind.U64
        if bits <= 128:
            return Kind.I128 if signed else Kind.U128
        return Kind.WIDE


_RANGES = (
    (Kind.U64, 0, (1 << 64) - 1),
    (Kind.I64, -(1 << 63), (1 << 63) - 1),
    (Kind.U128, 0, (1 << 128) - 1),
    (Kind.I128, -(1 << 127), (1 << 127) - 1),
    (Kind.WIDE, -(1 << (WIDE_BITS - 1)), (1 << (WIDE_BITS - 1)) - 1),
)


def bits_mask(bits: int) -> int:
    """Return a number with the low `bits` bits set."""
    return (1 << bits) - 1


@dataclass(frozen=True)
class Value:
    """C text of a kind, whose value lies between `low` and `high`."""

    text: str
    low: int
    high: int
    kind: Kind

    def narrowed(self) -> Value:
        """Return the value in the cheapest kind for its range, if a plain cast suffices."""
        kind = Kind.holding(self.low, self.high)
        if kind is self.kind or self.kind is Kind.WIDE:
            return self
        return Value(converted(self, kind), self.low, self.high, kind)


def constant(value: int) -> Value:
    kind = Kind.holding(value, value)
    return Value(_literal(value, kind), value, value, kind)


def _literal(value: int, kind: Kind) -> str:
    if kind is Kind.U64:
        return f"{value:#x}ull" if value > 9 else f"{value}ull"
    if kind is Kind.I64:
        return f"({value}ll)" if value > -(1 << 63) else "INT64_MIN"
    if kind in (Kind.U128, Kind.I128):
        unsigned = value & bits_mask(128)
        text = f"sw_u128_of({unsigned >> 64:#x}ull, {unsigned & bits_mask(64):#x}ull)"
        return text if kind is Kind.U128 else f"(sw_i128){text}"
    n_bytes = (max(value.bit_length(), (-value).bit_length()) + 8) // 8
    data = ", ".join(f"{b:#04x}" for b in (value & bits_mask(8 * n_bytes)).to_bytes(n_bytes, "big"))
    return f"sw_wide_from_bytes((const uint8_t[]){{{data}}}, {8 * n_bytes}, true)"


def field_value(lvalue: str, bits: int, signed: bool) -> Value:
    """Return the value of a field or parameter stored at `lvalue`."""
    low, high = (-(1 << (bits - 1)), bits_mask(bits - 1)) if signed else (0, bits_mask(bits))
    kind = Kind.of_width(bits, signed)
    if kind is Kind.WIDE:
        sign = "true" if signed else "false"
        return Value(f"sw_wide_from_bytes({lvalue}, {bits}, {sign})", low, high, kind)
    return Value(f"({kind.value}){lvalue}", low, high, kind)


def converted(value: Value, kind: Kind) -> str:
    """Return C that converts a value to another kind, which must be able to hold the value's range."""
    if value.kind is kind:
        return value.text
    if kind is Kind.WIDE:
        call = "sw_wide_i" if value.kind in (Kind.I64, Kind.I128) else "sw_wide_u"
        return f"{call}({value.text})"
    if value.kind is Kind.WIDE:
        return f"({kind.value})sw_wide_low({value.text})"
    if value.low == value.high:
        return _literal(value.low, kind)
    return f"({kind.value}){value.text}"


def lowered(value: Value, bits: int) -> str:
    """Return C of the unsigned kind for `bits` bits with the value's low bits (two's complement)."""
    kind = Kind.of_width(bits, False)
    if value.kind is kind:
        return value.text
    if value.low == value.high and kind is not Kind.WIDE:
        return _literal(value.low & bits_mask(64 if kind is Kind.U64 else 128), kind)
    if kind is Kind.U128 and value.kind is Kind.I64:
        return f"(sw_u128)(sw_i128){value.text}"
    return converted(value, kind)


def masked_text(text: str, mask: int, kind: Kind) -> str:
    """Return C for `text & mask` in a kind; a mask of the full C type is left out."""
    if kind is Kind.WIDE:
        return f"sw_wide_and({text}, {converted(constant(mask), kind)})"
    whole = bits_mask(64 if kind is Kind.U64 else 128)
    return text if mask == whole else f"({text} & {converted(constant(mask), kind)})"
