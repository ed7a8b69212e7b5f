# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Strict checks of settings, with error messages of one line instead of pydantic's several.

Values are not converted: `true` and 2.5 are refused as whole numbers, and "no" is refused as a boolean. The
annotations of a field hold its bounds; the end of its name is its unit.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from dataclasses import Field as DataclassField
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from sfc_testbed.request.shown import nearest, shortened, shown

MAX_RATE_BPS = 25_600_000_000_000
MAX_RTT_NS = 10_000_000_000
# Longer than the largest buffer takes to drain over the slowest link.
MAX_DURATION_NS = 1_000_000_000_000_000_000
# About three hundred times the largest BDP: the highest rate times the longest round trip.
MAX_BYTES = 10_000_000_000_000_000
MAX_COUNT = 1_000_000_000

Nanoseconds = Annotated[int, Field(ge=0, le=MAX_DURATION_NS)]
PositiveNanoseconds = Annotated[int, Field(ge=1, le=MAX_DURATION_NS)]
RoundTrip = Annotated[int, Field(ge=1, le=MAX_RTT_NS)]
Bytes = Annotated[int, Field(ge=0, le=MAX_BYTES)]
PositiveBytes = Annotated[int, Field(ge=1, le=MAX_BYTES)]
Rate = Annotated[int, Field(ge=0, le=MAX_RATE_BPS)]
PositiveRate = Annotated[int, Field(ge=1, le=MAX_RATE_BPS)]
Count = Annotated[int, Field(ge=0, le=MAX_COUNT)]
PositiveCount = Annotated[int, Field(ge=1, le=MAX_COUNT)]

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False, defer_build=True)
"""Pydantic configuration of every settings model."""


class StrictModel(BaseModel):
    """The base of settings models: names, types and bounds are checked, and values are not converted."""

    model_config = STRICT


_UNITS = {"ns": "ns", "us": "us", "ms": "ms", "bps": "bit/s", "bytes": "B"}
_EXPECTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "string_type": "text",
    "string_unicode": "text",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "tuple_type": "a list",
}
_MISSING = ("missing", "missing_argument", "missing_keyword_only_argument")
_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "greater_than": ("above", "gt"),
    "less_than": ("below", "lt"),
}


def check_fields(record: Any) -> None:
    """Check a dataclass instance against its annotations. Raise ValueError with one line: field, limit, value."""
    check_values(type(record), {item.name: getattr(record, item.name) for item in fields(record)})


def check_values(kind: type[object], values: Mapping[str, Any]) -> None:
    """Check values against the annotations of a dataclass before creating an instance. Raise ValueError.

    The constructor of a compiled class would refuse a value of the wrong type with a less helpful message.
    """
    try:
        _model_of(kind).model_validate(dict(values))  # type: ignore[arg-type]
    except ValidationError as error:
        raise ValueError(refusal(error)) from error


@cache
def _model_of(kind: type[object]) -> type[BaseModel]:
    hints = get_type_hints(kind, include_extras=True)
    parts: dict[str, Any] = {item.name: (hints[item.name], _default_of(item)) for item in fields(kind)}  # type: ignore[arg-type]
    return create_model(kind.__name__, __config__=STRICT, **parts)


def _default_of(item: DataclassField[Any]) -> object:
    if item.default_factory is not MISSING:
        return Field(default_factory=item.default_factory)
    return ... if item.default is MISSING else item.default


def refusal(error: ValidationError, known: Iterable[str] = ()) -> str:
    """Return the first error as one line. For an unknown name, add the closest of the `known` names.

    If the first error is a missing name, report an unknown name instead: it is probably the missing one, misspelt.
    """
    details = error.errors(include_url=False)
    first = details[0]
    if first["type"] in _MISSING:
        first = next((detail for detail in details if detail["type"] in _UNKNOWN), first)
    kind, value = first["type"], first["input"]
    name = ".".join(str(part) for part in first["loc"] if part != "[key]")
    if kind in _EXPECTED:
        reason = f"must be {_EXPECTED[kind]}, not {shown(value)}"
    elif kind in _BOUNDS:
        word, key = _BOUNDS[kind]
        reason = f"must be {word} {_with_unit(first['ctx'][key], first['loc'])}, not {shown(value)}"
    elif kind == "literal_error":
        reason = f"must be {first['ctx']['expected']}, not {shown(value)}"
    elif kind in _MISSING:
        reason = "is missing"
    elif kind == "too_short":
        least, actual = first["ctx"]["min_length"], first["ctx"]["actual_length"]
        reason = f"must have at least {least} entr{'y' if least == 1 else 'ies'}, not {actual}"
    elif kind in _UNKNOWN:
        reason = f"there is no such setting{nearest(name, known)}"
    else:
        reason = first["msg"].removeprefix("Value error, ")
    return f"{shortened(name)}: {reason}" if name else reason


def _with_unit(bound: float, location: tuple[int | str, ...]) -> str:
    names: Mapping[str, str] = _UNITS
    name = next((part for part in reversed(location) if isinstance(part, str)), "")
    unit = names.get(name.rpartition("_")[2], "")
    text = str(int(bound)) if bound == int(bound) else str(bound)
    return f"{text} {unit}".rstrip()
