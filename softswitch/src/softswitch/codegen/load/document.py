# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Reads the text of a BMv2 JSON as leniently as BMv2's reader, jsoncpp. It must not know what the JSON contains.

jsoncpp accepts more than JSON: control characters in strings, comments, a comma before a closing bracket, a plus sign
or zeros before a number, a byte order mark, and any text after the document. p4c copies strings of a program as they
are, so line breaks in strings do occur.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, NoReturn

from softswitch.codegen.ir.source import CodegenError

_STRING = r'"(?:[^"\\]+|\\(?:.|\Z))*(?:"|\Z)'
"""A string up to its end or the end of the text, so that a match never fails after a long search."""
_TOKENS = re.compile(
    rf"(?P<string>{_STRING})|(?P<comment>//[^\r\n]*|/\*.*?(?:\*/|\Z))|(?P<number>[+-]?\d[\w.+-]*)", re.DOTALL
)
_LAST_COMMAS = re.compile(rf"{_STRING}|,(?=\s*[\]}}])", re.DOTALL)
_SIGN_AND_ZEROS = re.compile(r"\+?(-?)0*(?=\d)")
_NO_FRACTION = re.compile(r"\.(?!\d)")
_MOST_DIGITS = 1000
_RECURSIONS = 20_000
"""The recursion limit that the loaders and emitters need for the deepest expression of a document."""


def read_document(source: bytes, name: str) -> Any:
    """Return the document in a text. `name` is its name in messages. Raise CodegenError if it is not JSON."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSIONS))
    text = source.decode("utf-8-sig", errors="surrogateescape")
    try:
        return _parsed(text)
    except RecursionError:
        raise CodegenError(f"{name} is not a BMv2 program: the JSON is nested too deep") from None
    except ValueError as error:
        raise CodegenError(f"{name} is not JSON: {error}") from None


def _parsed(text: str) -> Any:
    decoder = json.JSONDecoder(strict=False, parse_constant=_refuse, parse_int=_integer)
    try:
        return decoder.decode(text)
    except ValueError:
        plain = _LAST_COMMAS.sub(_without_last_comma, _TOKENS.sub(_plain, text))
        return decoder.raw_decode(plain, len(plain) - len(plain.lstrip()))[0]


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _integer(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits; the limit is {_MOST_DIGITS}")
    return int(digits)


def _plain(token: re.Match[str]) -> str:
    """Return a token as JSON has it; comments become blanks, so that messages name the right line and column."""
    if token["comment"]:
        return re.sub(r"[^\n]", " ", token[0])
    if token["number"]:
        return _NO_FRACTION.sub(".0", _SIGN_AND_ZEROS.sub(r"\1", token[0], count=1))
    return token[0]


def _without_last_comma(token: re.Match[str]) -> str:
    return " " if token[0] == "," else token[0]
