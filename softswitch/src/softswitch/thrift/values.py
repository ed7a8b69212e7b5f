# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Converts keys and parameters between the structs of calls and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from softswitch.codegen.ir.blocks import ActionCall, Key
from softswitch.codegen.ir.nodes import Action
from softswitch.operations.values import Pair, all_bits, canonical
from softswitch.thrift.interface import interface
from softswitch.thrift.refusals import Refused, TableCode


def action_call(actions: Iterable[Action], name: str, data: Sequence[bytes]) -> ActionCall:
    """Return the action of this name with the arguments of a call. Raise Refused for a wrong name or argument."""
    action = next((action for action in actions if action.name == name), None)
    if action is None:
        raise Refused(TableCode.INVALID_ACTION_NAME, f"no action {name!r} there")
    if len(data) != len(action.params):
        raise Refused(TableCode.BAD_ACTION_DATA, f"{action.name} has {len(action.params)} parameters, not {len(data)}")
    pairs = zip(data, action.params, strict=True)
    return ActionCall(action, tuple(_number(raw, param.bits, TableCode.BAD_ACTION_DATA) for raw, param in pairs))


def data_bytes(call: ActionCall) -> list[bytes]:
    """Return an action's arguments as bytes of an answer: as in BMv2 without leading zeros, and 0 as one byte."""
    return [as_bytes(value, max(value.bit_length(), 1)) for value in call.args]


def as_bytes(value: int, bits: int) -> bytes:
    """Return the bytes of a field of `bits` bits."""
    return value.to_bytes((bits + 7) // 8, "big")


def key_pairs(keys: Sequence[Key], matches: Sequence[Any]) -> list[Pair]:
    """Return the pairs for the keys in a call."""
    if len(matches) != len(keys):
        raise Refused(TableCode.BAD_MATCH_KEY, f"{len(keys)} keys, not {len(matches)}")
    return [_pair_of_match(key, match) for key, match in zip(keys, matches, strict=True)]


def match_of_pair(key: Key, pair: Pair) -> Any:
    """Return a key, as value and mask, prefix length or end of the range, as the Thrift struct of a match."""
    types, bits = interface().MatchType, key.ref.field.bits
    first = as_bytes(pair[0], bits)
    if key.kind == "lpm":
        return interface().Match(type=types.LPM, lpm=interface().Lpm(first, pair[1]))
    second = as_bytes(pair[1], bits)
    if key.kind == "range":
        return interface().Match(type=types.RANGE, range=interface().Range(first, second))
    if key.kind in ("ternary", "optional"):
        return interface().Match(type=types.TERNARY, ternary=interface().Ternary(first, second))
    return interface().Match(type=types.EXACT, exact=interface().Exact(first))


def _pair_of_match(key: Key, match: Any) -> Pair:
    bits = key.ref.field.bits
    if key.kind == "lpm":
        pair = _key_number(match.lpm, "key", bits), _prefix_bits(match.lpm, bits)
    elif key.kind == "range":
        pair = _key_number(match.range, "low", bits), _key_number(match.range, "high", bits)
        if pair[0] > pair[1]:
            raise Refused(TableCode.BAD_MATCH_KEY, f"the range of key {key.name} ends before it starts")
    elif key.kind in ("ternary", "optional"):
        pair = _key_number(match.ternary, "key", bits), _key_number(match.ternary, "mask", bits)
    elif match.valid is not None and bits == 1:
        pair = int(bool(match.valid.is_valid)), 1
    else:
        pair = _key_number(match.exact, "key", bits), all_bits(bits)
    return canonical(key, pair)


def _key_number(part: Any, field: str, bits: int) -> int:
    """Return a field of the part of a match that belongs to its kind. Raise Refused if it is missing."""
    return _number(getattr(part, field, None), bits, TableCode.BAD_MATCH_KEY)


def _prefix_bits(part: Any, bits: int) -> int:
    length = part.prefix_bits
    if not isinstance(length, int) or not 0 <= length <= bits:
        raise Refused(TableCode.BAD_MATCH_KEY, f"a prefix of {length} of {bits} bits")
    return length


def _number(raw: bytes | None, bits: int, code: int) -> int:
    """Return a value, which must fit the field; BMv2's clients pad it with leading zeros."""
    if not isinstance(raw, bytes):
        raise Refused(code, "a value is missing")
    value = int.from_bytes(raw, "big")
    if value >> bits:
        raise Refused(code, f"{value:#x} does not fit in {bits} bits")
    return value
