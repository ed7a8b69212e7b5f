# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks calls of public functions by their own annotations, so that a wrong argument is refused in one line.

Without this check, Python or a part deep inside would refuse the argument with a traceback. Some public functions are
in modules that load nothing slow, so this module imports its helpers at the first refusal.
"""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from inspect import Parameter, Signature, signature
from numbers import Real
from typing import Any, NamedTuple, ParamSpec, TypeGuard, TypeVar

from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.shown import nearest, shown

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")
Class = TypeVar("Class", bound=type[Any])


class _Kind(NamedTuple):
    """A kind of value: its name in messages, the name of several such values, and a test."""

    one: str
    several: str
    fits: Callable[[Any], bool]


def _is_whole(value: object) -> bool:
    try:
        operator.index(value)  # type: ignore[arg-type]  # also NumPy's integers
    except TypeError:
        return False
    return not isinstance(value, bool)


_TEXT = _Kind("text", "texts", lambda value: isinstance(value, str))
_PATH = _Kind("a path", "paths", lambda value: isinstance(value, (str, os.PathLike)))
_MAPPING = _Kind("a mapping", "mappings", lambda value: isinstance(value, Mapping))
KINDS: Mapping[str, _Kind] = {
    "str": _TEXT,
    "Clock": _TEXT,
    "Page": _TEXT,
    "int": _Kind("a whole number", "whole numbers", _is_whole),
    "float": _Kind("a number", "numbers", lambda value: isinstance(value, Real) and not isinstance(value, bool)),
    "bool": _Kind("True or False", "booleans", lambda value: type(value).__name__ in ("bool", "bool_")),  # also NumPy's
    "PathLike": _PATH,
    "os.PathLike": _PATH,
    "None": _Kind("None", "None", lambda value: value is None),
    "Mapping": _MAPPING,
    "Chosen": _MAPPING,
    "Callable": _Kind("a function", "functions", callable),
    "Claim": _Kind("a claim", "claims", lambda value: True),  # checked where its quantity is looked up
    "Message": _Kind("a message", "messages", lambda value: hasattr(value, "flow")),
    "SwitchPort": _Kind("a port of `port()`", "ports", lambda value: hasattr(value, "peer")),
    "Scale": _Kind("a sfc.Scale", "scales", lambda value: hasattr(value, "topology_parameters")),
    "Quantity": _Kind("a quantity", "quantities", lambda value: hasattr(value, "measure")),
    "type": _Kind("a class", "classes", lambda value: isinstance(value, type)),
}
"""The kinds of value by the annotation of a parameter, without what is in brackets."""
LISTS = ("Sequence", "Iterable")


def checked_call(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Refuse unknown and missing arguments, and values of wrong types, with UsageError before the function begins."""
    title = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    @wraps(function)
    def checked(*values: Parameters.args, **named: Parameters.kwargs) -> Result:
        parts = _signature(function)
        for name in named:
            if name not in parts.parameters:
                raise UsageError(f"{title}: there is no argument {name}{nearest(name, parts.parameters)}")
        try:
            bound = parts.bind(*values, **named)
        except TypeError as error:  # too many or too few
            raise UsageError(f"{title}: {error}") from None
        for name, value in bound.arguments.items():
            parameter = parts.parameters[name]
            if parameter.kind is Parameter.VAR_POSITIONAL:
                bound.arguments[name] = tuple(_checked(name, item, parameter.annotation) for item in value)
            else:
                bound.arguments[name] = _checked(name, value, parameter.annotation)
        return function(*bound.args, **bound.kwargs)

    return checked


def checked_class(kind: Class) -> Class:
    """Check the calls of a class as `checked_call` does. The annotations of its fields must be texts."""
    kind.__init__ = checked_call(kind.__init__)
    return kind


@cache
def _signature(function: Callable[..., object]) -> Signature:
    return signature(function)


def _is_list(value: object) -> TypeGuard[Iterable[object]]:
    """Return whether a value has items. NumPy's scalars in an array of no dimension have none, and say so if asked."""
    if isinstance(value, (str, bytes, Mapping, os.PathLike)):
        return False
    try:
        iter(value)  # type: ignore[call-overload]
    except TypeError:
        return False
    return True


def _checked(name: str, value: object, annotation: Any) -> object:
    """Return the value, or a tuple for values that can be read only once. UsageError unless it fits the annotation."""
    words = alternatives(annotation)
    expected = []
    for word in words:
        outer, _, inner = word.removesuffix("]").partition("[")
        if outer in LISTS:
            of = [KINDS[each] for each in alternatives(inner)]
            if _is_list(value):
                items = value if isinstance(value, (list, tuple)) else tuple(value)
                for place, item in enumerate(items):
                    if not any(kind.fits(item) for kind in of):
                        raise _refused(f"{name}[{place}]", [kind.one for kind in of], item)
                return items
            expected.append(f"a list of {' or '.join(kind.several for kind in of)}")
        elif outer not in KINDS or KINDS[outer].fits(value):  # `Any`, and `self`, which has no annotation
            return value
        else:
            expected.append(KINDS[outer].one)
    raise _refused(name, expected, value)


def alternatives(annotation: Any) -> list[str]:
    """Return the alternatives of an annotation, such as `str` and `None`, outside brackets."""
    return re.split(r" \| (?![^\[]*\])", annotation if isinstance(annotation, str) else "Any")


def _refused(name: str, expected: list[str], value: object) -> UsageError:
    return UsageError(f"{name}: must be {' or '.join(expected)}, not {shown(value)}")
