# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""JSON with the lines of its values, for messages about network files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from sfc_testbed.request.shown import shown
from sfc_testbed.topologies.files.description import NetworkFileError

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()
Read = TypeVar("Read")


def read_json(text: str) -> dict[str, Any]:
    """Return the object of a text. NetworkFileError if it is not JSON, or no object."""
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise NetworkFileError(f"not JSON: {error.msg}", error.lineno) from error
    except (RecursionError, ValueError) as error:
        raise NetworkFileError("not JSON: nested too deeply, or a number of too many digits") from error
    if not isinstance(content, dict):
        raise NetworkFileError(f"a network is a JSON object, not {shown(content)}")
    return content


def line_of(text: str, path: Sequence[str | int]) -> int:
    """Return the line of the value at a path of names and indexes; of repeated names, the last one counts."""
    place = _value(text, 0)
    for step in path:
        place = _member(text, place, step) if isinstance(step, str) else _element(text, place, step)
    return text.count("\n", 0, place) + 1


def read_each(values: Iterable[Any], read: Callable[[Any], Read], text: str, path: Sequence[str]) -> list[Read]:
    """Return what `read` makes of each value of the list at a path. NetworkFileError names the line of a value."""
    results = []
    for number, value in enumerate(values):
        try:
            results.append(read(value))
        except NetworkFileError as error:  # only then is the line searched for
            raise NetworkFileError(str(error), line_of(text, (*path, number))) from error
    return results


def _value(text: str, place: int) -> int:
    """Return where the next value begins."""
    match = _SPACE.match(text, place)
    return place if match is None else match.end()


def _after(text: str, place: int) -> int:
    """Return where the character after a value is: a comma, a colon or a bracket."""
    return _value(text, _DECODER.raw_decode(text, place)[1])


def _member(text: str, place: int, name: str) -> int:
    found = place
    at = _value(text, place + 1)
    while text[at] == '"':
        key, _ = _DECODER.raw_decode(text, at)
        at = _value(text, _after(text, at) + 1)
        if key == name:
            found = at
        at = _value(text, _after(text, at) + 1) if text[_after(text, at)] == "," else _after(text, at)
    return found


def _element(text: str, place: int, index: int) -> int:
    at = _value(text, place + 1)
    for _ in range(index):
        at = _value(text, _after(text, at) + 1)
    return at
