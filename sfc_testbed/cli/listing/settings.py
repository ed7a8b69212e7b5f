# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Settings as table rows: name, unit, default and meaning, read from the models.

The meaning is the description of a pydantic field, or the string below a dataclass field in the source code.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from sfc_testbed.place import ROOT

_UNITS: Mapping[str, str] = {"ns": "ns", "us": "µs", "ms": "ms", "bps": "bit/s", "bytes": "B", "packets": "packets"}
_KINDS: Mapping[type, str] = {bool: "true, false", int: "integer", float: "number", str: "text"}


@dataclass(frozen=True)
class Setting:
    """A row of a settings table."""

    name: str
    unit: str
    default: str
    meaning: str


def model_settings(model: type[BaseModel]) -> list[Setting]:
    """Return the settings of a pydantic model. A field without a description has that of its parent's field."""
    return [
        Setting(name, unit_of(name, field.annotation), as_typed(field.default), _description(model, name))
        for name, field in model.model_fields.items()
    ]


def record_settings(record: type[Any]) -> list[Setting]:
    """Return the settings of a dataclass. The string literal below a field is its meaning."""
    hints, meanings = get_type_hints(record), _strings_below(record)
    settings = []
    for field in fields(record):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        unit = unit_of(field.name, hints[field.name])
        settings.append(Setting(field.name, unit, as_typed(default), meanings.get(field.name, "")))
    return settings


def unit_of(name: str, annotation: Any) -> str:
    """Return the unit at the end of a name, or else the kind of value, with the options of a choice."""
    options = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kinds = [option for option in options if option is not type(None)]
    unit = _UNITS.get(name.rpartition("_")[2]) or ", ".join(_kind(option) for option in kinds)
    return unit if len(kinds) == len(options) else f"{unit} or null"


def as_typed(value: Any) -> str:
    """Return a value as it is typed after `=`."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value)) if abs(value) < 1e15 else str(value)
    return value if isinstance(value, str) else json.dumps(value)


def _kind(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin is Literal:
        return ", ".join(map(str, get_args(annotation)))
    if hasattr(annotation, "__metadata__"):  # Annotated: skip the bounds
        return _kind(get_args(annotation)[0])
    if origin is tuple:
        return "list"
    return _KINDS.get(annotation, "mapping" if origin is not None else "text")


def _description(model: type[BaseModel], name: str) -> str:
    for parent in model.__mro__:
        field = parent.model_fields.get(name) if issubclass(parent, BaseModel) else None
        if field is not None and field.description:
            return field.description
    return ""


def _strings_below(record: type[Any]) -> dict[str, str]:
    """Return the string below each field of a class, from its source code."""
    # The file of a compiled module is not its source.
    is_ours = record.__module__.partition(".")[0] == "sfc_testbed"
    name = f"{record.__module__.replace('.', '/')}.py" if is_ours else sys.modules[record.__module__].__file__
    source = ROOT / (name or "")
    tree = ast.parse(source.read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == record.__name__)
    return dict(_named_strings(body))


def _named_strings(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
