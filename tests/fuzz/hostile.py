# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Generates words, numbers and values that users may enter by mistake or in an attack."""

import json
from functools import cache
from typing import Any

from hypothesis import strategies as st

NUMBERS = (
    "0", "-0", "-1", "1", "2", "007", "+3", "1_000", "2.0", "1e3", "1e308", "1e999", "-1e308", "5e-324", "NaN", "nan",
    "inf", "-Infinity", "0x10", "\u0664\u0662", "\u00bd", "\u2460", "1" + "0" * 18, "9" * 40, "9" * 5000,
    "18446744073709551616", "9223372036854775807", "-9223372036854775808", "4294967296", "", " 1", "1 ", "true",
)  # fmt: skip
TEXTS = (
    "", " ", "\t", "\n", "a\nb", "\r", "[red]x[/red]", "[/]", "[", "]", "\\", "\x1b[31m", "\x1b]0;x\x07", "\x07",
    "\x85", "\u2028", "\u202e", "\ud800", "\udcff", "--", "-", "--help", "=", "a=b", "==", ".", "a/b", "x" * 300,
    "x" * 5000, "%s%n", "{0}", "{{x}}", "$(id)", "'; id #", "<script>", "null", "None", "[]", "{}", "h1", "h1,h1", ",",
    "all", "*", "~", "\U0001f4a5", "e\u0301", "\ufeff", "[" * 200, '{"a":' * 60, "file", "folder", "dangling", "loop",
)  # fmt: skip


@cache
def texts(longest: int = 30) -> st.SearchStrategy[str]:
    """Return a strategy for words without NUL, which a command line cannot contain."""
    drawn = st.text(st.characters(exclude_characters="\0"), max_size=longest)
    return st.one_of(st.sampled_from(TEXTS), st.sampled_from(NUMBERS), drawn)


@cache
def names() -> st.SearchStrategy[str]:
    """Return a strategy for paths below the current folder, to which the command under test may write."""
    return texts().map(lambda text: text.lstrip("/~").replace("..", "."))


@cache
def numbers() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(NUMBERS), st.integers().map(str), st.floats().map(str))


@cache
def values() -> st.SearchStrategy[Any]:
    """Return a strategy for JSON values, small enough for this process."""
    leaves = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.sampled_from((0, 1, -1, 2**31, 2**53 + 1, 2**63, 2**64, 10**18, 10**40)),
        st.floats(),
        texts(),
    )
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(texts(8), inner, max_size=4)),
        max_leaves=6,
    )


@cache
def written_values() -> st.SearchStrategy[str]:
    """Return a strategy for the text of a setting's value, complete or cut."""
    whole = values().map(json.dumps)
    return st.one_of(
        numbers(), texts(), whole, st.tuples(whole, st.integers(0, 20)).map(lambda pair: pair[0][: pair[1]])
    )


def damaged(text: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return a strategy for the text, unchanged or with up to three parts replaced or removed."""
    change = st.tuples(st.floats(0, 1), st.integers(0, 40), st.one_of(st.sampled_from(TEXTS), st.sampled_from(NUMBERS)))
    return st.tuples(text, st.lists(change, max_size=3)).map(lambda pair: _changed(*pair))


def _changed(text: str, changes: list[tuple[float, int, str]]) -> str:
    for share, length, new in changes:
        at = int(share * len(text))
        text = text[:at] + new + text[at + length :]
    return text


def damaged_bytes(content: bytes) -> st.SearchStrategy[bytes]:
    """Return a strategy for the bytes, unchanged or with up to three parts replaced or removed."""
    new = st.one_of(st.binary(max_size=6), st.sampled_from((b"\xff" * 10, b"\x80", b"\x00", b"\x7f")))
    change = st.tuples(st.integers(0, len(content)), st.integers(0, 8), new)
    return st.lists(change, max_size=3).map(lambda changes: _changed_bytes(content, changes))


def _changed_bytes(content: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    for at, length, new in changes:
        content = content[:at] + new + content[at + length :]
    return content
