# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The structs, services and methods of `runtime.thrift`, for whoever calls them or answers them."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from softswitch.thrift.framing import LIST, STRING, STRUCT, Fields

SERVICES = ("standard", "simple_switch", "simple_pre_lag")

_INTERFACE = Path(__file__).with_name("runtime.thrift")


@cache
def interface() -> Any:
    """Read when first wanted: few runs speak Thrift."""
    import thriftpy2

    return thriftpy2.load(str(_INTERFACE), module_name="bmv2_runtime_thrift")


class WrongType(Exception):
    """A field's type is another than its declaration says; the text names it."""


def filled(payload: Any, fields: Fields) -> Any:
    """A struct with what was read of it; fields that it does not know are passed over, those not there stay None."""
    for number, (kind, name, *more) in payload.thrift_spec.items():
        if number in fields:
            setattr(payload, name, _typed(name, (kind, more[0] if len(more) > 1 else None), fields[number]))
    return payload


def _typed(name: str, declared: tuple[int, Any], given: tuple[int, Any]) -> Any:
    """A value as its declaration wants it: a type, and what is known of a struct or of elements."""
    from thriftpy2.thrift import TType

    kind, inner = declared
    given_kind, value = given
    if given_kind != (STRING if kind == TType.BINARY else kind):
        raise WrongType(f"{name!r} is of type {given_kind}")
    if kind == STRING:
        return _text(name, value)
    if kind == STRUCT:
        return filled(inner(), value)
    if kind == LIST:
        element_kind, elements = value
        element = inner if isinstance(inner, tuple) else (inner, None)
        return [_typed(name, element, (element_kind, each)) for each in elements]
    return value


def _text(name: str, value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise WrongType(f"{name!r} is no text") from None
