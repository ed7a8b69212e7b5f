# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Converts the key of a table entry between match fields and pairs of numbers (see softswitch.operations.values).

A field that matches everything is omitted from messages.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from softswitch.operations.values import Pair, all_bits
from softswitch.p4runtime import messages
from softswitch.p4runtime.byte_strings import decoded, encoded
from softswitch.p4runtime.info import Field, TableInfo
from softswitch.p4runtime.status import invalid


def pairs_of(table: TableInfo, match: Sequence[Any]) -> tuple[Pair, ...]:
    """Return the key of an entry. Raise Refusal if a field is unknown, missing or malformed."""
    name = table.table.name
    given = {field.field_id: field for field in match}
    if len(given) != len(match):
        raise invalid(f"a match field of table {name} is given twice")
    for unknown in set(given) - {field.id for field in table.fields}:
        raise invalid(f"table {name} has no match field {unknown}")
    return tuple(_pair(field, given.get(field.id), name) for field in table.fields)


def match_of(table: TableInfo, pairs: Sequence[Pair]) -> list[Any]:
    """Return the match fields of a key, in the order of the P4Info."""
    fields = zip(table.fields, pairs, strict=True)
    return [_message(field, pair) for field, pair in fields if not _is_dont_care(field, pair)]


def _dont_care(field: Field) -> Pair:
    return (0, all_bits(field.bits)) if field.kind == "range" else (0, 0)


def _is_dont_care(field: Field, pair: Pair) -> bool:
    return field.kind != "exact" and pair == _dont_care(field)


def _pair(field: Field, message: Any, table: str) -> Pair:
    kind, what = field.kind, f"match field {field.key.name} of table {table}"
    if message is None:
        if kind == "exact":
            raise invalid(f"{what} is missing")
        return _dont_care(field)
    if message.WhichOneof("field_match_type") != kind:
        raise invalid(f"{what} is of kind {kind}")
    pair = _READERS[kind](getattr(message, kind), field.bits, what)
    if _is_dont_care(field, pair):
        raise invalid(f"{what} matches every value, so it must be omitted")
    return pair


def _exact(part: Any, bits: int, what: str) -> Pair:
    return decoded(part.value, bits, what), all_bits(bits)


def _lpm(part: Any, bits: int, what: str) -> Pair:
    value = decoded(part.value, bits, what)
    if not 0 < part.prefix_len <= bits:
        raise invalid(f"{what} has a prefix of {part.prefix_len} of {bits} bits")
    if value & all_bits(bits - part.prefix_len):
        raise invalid(f"{what} has bits behind its prefix of {part.prefix_len} bits")
    return value, part.prefix_len


def _ternary(part: Any, bits: int, what: str) -> Pair:
    value, mask = decoded(part.value, bits, what), decoded(part.mask, bits, f"the mask of {what}")
    if value & ~mask:
        raise invalid(f"{what} has bits that its mask ignores")
    return value, mask


def _range(part: Any, bits: int, what: str) -> Pair:
    low, high = decoded(part.low, bits, what), decoded(part.high, bits, f"the end of {what}")
    if low > high:
        raise invalid(f"{what} ends before it starts")
    return low, high


_READERS = {"exact": _exact, "lpm": _lpm, "ternary": _ternary, "range": _range, "optional": _exact}


def _message(field: Field, pair: Pair) -> Any:
    message = messages.v1.FieldMatch(field_id=field.id)
    kind, (value, second) = field.kind, pair
    part = getattr(message, kind)
    if kind == "range":
        part.low, part.high = encoded(value), encoded(second)
        return message
    part.value = encoded(value)
    if kind == "lpm":
        part.prefix_len = second
    elif kind == "ternary":
        part.mask = encoded(second)
    return message
