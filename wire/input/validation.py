# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Strict checks of what people set, and pydantic's many lines turned into one. Knows units, but no setting by name.

Strict: true is no whole number, 2.5 is none either, and "no" is not false. Bounds stand in the annotations.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from dataclasses import Field as DataclassField
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from wire.input.nearest import nearest

MAX_RATE_BPS = 25_600_000_000_000
MAX_RTT_NS = 10_000_000_000
# More than the drain of the largest buffer over the slowest link.
MAX_DURATION_NS = 1_000_000_000_000_000_000
# The longest window: the highest rate over the longest round trip, and as much again a hundred times.
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

STRICT = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)
"""Of every model of settings."""

_UNITS = {"ns": "ns", "us": "us", "ms": "ms", "bps": "bit/s", "bytes": "B"}
_WANTED = {
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
_LONGEST_SHOWN = 60
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "less_than_equal": ("at most", "le"),
    "greater_than": ("above", "gt"),
    "less_than": ("below", "lt"),
}


def check_fields(record: Any) -> None:
    """Holds a dataclass against its annotations. ValueError, one line, that names the field, its bound and unit."""
    check_values(type(record), {item.name: getattr(record, item.name) for item in fields(record)})


def check_values(kind: type[object], values: Mapping[str, Any]) -> None:
    """The same before there is one: a compiled class takes no value of another type, and says so in its own words."""
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
    """Return the first of the errors as one line, for an unknown name with the nearest known one.

    Where a name is missing, an unknown name is likely to be that one, misspelt, and comes first.
    """
    found = error.errors(include_url=False)
    first = found[0]
    if first["type"] in _MISSING:
        first = next((each for each in found if each["type"] in _UNKNOWN), first)
    kind, given = first["type"], first["input"]
    name = ".".join(str(part) for part in first["loc"] if part != "[key]")
    if kind in _WANTED:
        said = f"must be {_WANTED[kind]}, not {shown(given)}"
    elif kind in _BOUNDS:
        word, key = _BOUNDS[kind]
        said = f"must be {word} {_with_unit(first['ctx'][key], first['loc'])}, not {shown(given)}"
    elif kind == "literal_error":
        said = f"must be {first['ctx']['expected']}, not {shown(given)}"
    elif kind in _MISSING:
        said = "is missing"
    elif kind == "too_short":
        least, actual = first["ctx"]["min_length"], first["ctx"]["actual_length"]
        said = f"must have at least {least} entr{'y' if least == 1 else 'ies'}, not {actual}"
    elif kind in _UNKNOWN:
        said = f"there is no such setting{nearest(name, known)}"
    else:
        said = first["msg"].removeprefix("Value error, ")
    return f"{shortened(name)}: {said}" if name else said


def shown(value: object) -> str:
    """A value as it was given, cut where it is long."""
    return shortened(repr(value))


def shortened(text: str) -> str:
    """A text that fits into a line."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _with_unit(bound: float, location: tuple[int | str, ...]) -> str:
    names: Mapping[str, str] = _UNITS
    name = next((part for part in reversed(location) if isinstance(part, str)), "")
    unit = names.get(name.rpartition("_")[2], "")
    text = str(int(bound)) if bound == int(bound) else str(bound)
    return f"{text} {unit}".rstrip()
