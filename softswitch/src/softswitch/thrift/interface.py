# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The structs, services and methods of `runtime.thrift`, for clients and for the server."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from softswitch.thrift.framing import LIST, STRING, STRUCT, Fields

SERVICES = ("standard", "simple_switch", "simple_pre_lag")

_INTERFACE = Path(__file__).with_name("runtime.thrift")


@cache
def interface() -> Any:
    """Load the interface at the first use, because few runs need Thrift."""
    import thriftpy2

    return thriftpy2.load(str(_INTERFACE), module_name="bmv2_runtime_thrift")


class WrongType(Exception):
    """A field's type differs from its declaration; the message names the field."""


def filled(payload: Any, fields: Fields) -> Any:
    """Copy received fields to a struct and return it; unknown fields are ignored, missing fields stay None."""
    for number, (kind, name, *more) in payload.thrift_spec.items():
        if number in fields:
            setattr(payload, name, _typed(name, (kind, more[0] if len(more) > 1 else None), fields[number]))
    return payload


def _typed(name: str, declared: tuple[int, Any], received: tuple[int, Any]) -> Any:
    """Convert a received (type, value) to the declared type, which includes the type of structs and elements."""
    from thriftpy2.thrift import TType

    kind, inner = declared
    received_kind, value = received
    if received_kind != (STRING if kind == TType.BINARY else kind):
        raise WrongType(f"{name!r} is of type {received_kind}")
    if kind == STRING:
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise WrongType(f"{name!r} is not text") from None
    if kind == STRUCT:
        return filled(inner(), value)
    if kind == LIST:
        element_kind, elements = value
        element = inner if isinstance(inner, tuple) else (inner, None)
        return [_typed(name, element, (element_kind, item)) for item in elements]
    return value
