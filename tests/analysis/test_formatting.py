# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for formatted numbers and flattened trees."""

from __future__ import annotations

import pytest

from sfc_testbed.analysis.formatting import (
    enumeration,
    flatten,
    format_bytes,
    format_number,
    format_ratio,
    format_share,
    format_us,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (format_bytes(None), "-"),
        (format_bytes(0), "0 B"),
        (format_bytes(70), "70 B"),
        (format_bytes(125_000), "125 KB"),
        (format_bytes(13_123_456), "13.1 MB"),
        (format_bytes(2.5e9), "2.5 GB"),
        (format_us(None), "-"),
        (format_us(5.32), "5.32 µs"),
        (format_us(4000), "4 ms"),
        (format_us(1.5e6), "1.5 s"),
        (format_number(1234), "1,234"),
        (format_number(2.3456), "2.35"),
        (format_number(1234.5), "1,234"),
        (format_number(0.0004), "4.0e-04"),
        (format_number(None), "-"),
        (format_ratio(0.278), "0.278x"),
        (format_ratio(None), "-"),
        (format_share(0.031), "3.1 %"),
        (format_share(None), "-"),
    ],
)
def test_numbers_are_formatted(text: str, expected: str) -> None:
    """Numbers have three significant digits and decimal units. None is a dash."""
    assert text == expected


@pytest.mark.parametrize(
    ("separator", "expected"),
    [(", ", "a, b, c and 2 more"), ("; ", "a; b; c; and 2 more"), (" and ", "a and b and c and 2 more")],
)
def test_long_enumerations_name_the_first(separator: str, expected: str) -> None:
    """Long parts are separated by semicolons, also before the number of those that are left out."""
    assert enumeration("abcde", separator) == expected
    assert enumeration("a", separator) == "a"


def test_a_tree_becomes_dotted_names() -> None:
    tree = {"a": {"b": 1, "c": None}, "words": ["x", "y"], "links": [{"rate": 5}], "empty": {}}
    assert flatten(tree) == {"a.b": "1", "a.c": "-", "words": "x y", "links.0.rate": "5", "empty": "{}"}
