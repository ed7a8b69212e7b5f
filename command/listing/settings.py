# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Settings as rows: name, unit, default, meaning. Read from the models themselves, so that none can be forgotten.

Of a pydantic model the meaning is a field's description, of a dataclass the string below the field in its source: there
it stands for who reads the code, and Python itself forgets it.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel

_ROOT = Path(__file__).resolve().parent.parent.parent
_UNITS: Mapping[str, str] = {"ns": "ns", "us": "µs", "ms": "ms", "bps": "bit/s", "bytes": "B", "packets": "packets"}
_KINDS: Mapping[type, str] = {bool: "true, false", int: "integer", float: "number", str: "text"}


@dataclass(frozen=True)
class Setting:
    """A row."""

    name: str
    unit: str
    default: str
    meaning: str


def model_settings(model: type[BaseModel]) -> list[Setting]:
    """Of a pydantic model; where a subclass only changes a default, the meaning is its parent's."""
    return [
        Setting(name, unit_of(name, field.annotation), as_typed(field.default), _description(model, name))
        for name, field in model.model_fields.items()
    ]


def record_settings(record: type[Any]) -> list[Setting]:
    """Of a dataclass whose fields have a string below them."""
    hints, meanings = get_type_hints(record), _strings_below(record)
    found = []
    for field in fields(record):
        default = field.default if field.default_factory is MISSING else field.default_factory()
        unit = unit_of(field.name, hints[field.name])
        found.append(Setting(field.name, unit, as_typed(default), meanings.get(field.name, "")))
    return found


def unit_of(name: str, annotation: Any) -> str:
    """Of what the name ends with, else what kind of value it is; a choice is spelled out."""
    options = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    kinds = [each for each in options if each is not type(None)]
    unit = _UNITS.get(name.rpartition("_")[2]) or ", ".join(_kind(each) for each in kinds)
    return unit if len(kinds) == len(options) else f"{unit} or null"


def as_typed(value: Any) -> str:
    """As it would stand after `=`."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value)) if abs(value) < 1e15 else str(value)
    return value if isinstance(value, str) else json.dumps(value)


def _kind(annotation: Any) -> str:
    origin = get_origin(annotation)
    if origin is Literal:
        return ", ".join(map(str, get_args(annotation)))
    if hasattr(annotation, "__metadata__"):  # Annotated: its bounds are no kind
        return _kind(get_args(annotation)[0])
    if origin is tuple:
        return "list"
    return _KINDS.get(annotation, "mapping" if origin is not None else "text")


def _description(model: type[BaseModel], name: str) -> str:
    for each in model.__mro__:
        field = each.model_fields.get(name) if issubclass(each, BaseModel) else None
        if field is not None and field.description:
            return field.description
    return ""


def _strings_below(record: type[Any]) -> dict[str, str]:
    """Field -> the string that follows it, of the class as it is written; compiled modules keep their sources."""
    source = _ROOT / f"{record.__module__.replace('.', '/')}.py"
    tree = ast.parse(source.read_text(encoding="utf-8"))
    body = next(node.body for node in tree.body if isinstance(node, ast.ClassDef) and node.name == record.__name__)
    return dict(_named_strings(body))


def _named_strings(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, below in pairwise(body):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                yield name, " ".join(text.split())
