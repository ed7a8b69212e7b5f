# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Words of a command to the bytes that BMv2 wants: as many as the field has, big-endian."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address
from typing import Any

from softswitch.control import CommandError
from testbed.program.declared import Action, Key
from testbed.program.words import number
from testbed.targets.bmv2.thrift import interface

_MAC_BITS = 48
_IP_BITS = 32


def encoded(word: str, bits: int) -> bytes:
    """The bytes of a field of so many bits."""
    return number(word, bits).to_bytes(byte_count(bits), "big")


def byte_count(bits: int) -> int:
    return (bits + 7) // 8


def parameters(words: Sequence[str], widths: Sequence[int]) -> list[bytes]:
    """Action data."""
    return [encoded(word, bits) for word, bits in zip(words, widths, strict=True)]


def shown(raw: bytes, bits: int, *, is_address: bool = False) -> str:
    """The bytes of a field as a word that `number` reads again."""
    value = int.from_bytes(raw, "big")
    if bits == _MAC_BITS:
        return value.to_bytes(byte_count(bits), "big").hex(":")
    return str(IPv4Address(value)) if is_address else str(value)


def shown_match(match: Any, key: Key) -> str:
    """One key of an entry, as `match_parameter` reads it."""
    if match.lpm is not None:
        return f"{shown(match.lpm.key, key.bits, is_address=key.bits == _IP_BITS)}/{match.lpm.prefix_bits}"
    if match.ternary is not None:
        return f"{shown(match.ternary.key, key.bits)}&&&{shown(match.ternary.mask, key.bits)}"
    if match.range is not None:
        return f"{shown(match.range.low, key.bits)}->{shown(match.range.high, key.bits)}"
    return shown(match.exact.key, key.bits)


def shown_action(action: Action, data: Sequence[bytes]) -> str:
    """An action and its parameters."""
    words = [shown(raw, bits) for raw, bits in zip(data, action.parameter_bits, strict=True)]
    return " ".join([action.name, *words])


def match_parameter(word: str, key: Key) -> Any:
    """One key of an entry: `V`, `V/LENGTH`, `V&&&MASK`, `LOW->HIGH`; `*` for anything."""
    if key.match_type == "lpm":
        return _lpm(word, key.bits)
    if key.match_type in ("ternary", "optional"):
        return _ternary(word, key)
    if key.match_type == "range":
        return _range(word, key.bits)
    return _match("EXACT", exact=interface().Exact(encoded(word, key.bits)))


def _lpm(word: str, bits: int) -> Any:
    prefix, slash, length = word.partition("/")
    if not slash or not length.isdecimal() or int(length) > bits:
        raise CommandError(f"{word!r} is not VALUE/LENGTH with a length up to {bits}")
    return _match("LPM", lpm=interface().Lpm(encoded(prefix, bits), int(length)))


def _ternary(word: str, key: Key) -> Any:
    value, ands, mask = ("0", "&&&", "0") if word == "*" else word.partition("&&&")
    if not ands:
        if key.match_type != "optional":
            raise CommandError(f"{word!r} is not VALUE&&&MASK")
        mask = str((1 << key.bits) - 1)
    content = number(value, key.bits) & number(mask, key.bits)
    return _match("TERNARY", ternary=interface().Ternary(encoded(str(content), key.bits), encoded(mask, key.bits)))


def _range(word: str, bits: int) -> Any:
    low, arrow, high = ("0", "->", str((1 << bits) - 1)) if word == "*" else word.partition("->")
    if not arrow:
        raise CommandError(f"{word!r} is not LOW->HIGH")
    return _match("RANGE", range=interface().Range(encoded(low, bits), encoded(high, bits)))


def _match(kind: str, **field: Any) -> Any:
    return interface().Match(type=getattr(interface().MatchType, kind), **field)
