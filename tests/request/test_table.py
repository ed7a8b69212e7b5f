# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tables of names: rows of the testbed, and rows of extensions, which can be removed again."""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecoder

import pytest

from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.table import Table


@pytest.fixture
def table() -> Iterator[Table[int]]:
    made: Table[int] = Table("number", {"one": 1})
    yield made
    Table.all.remove(made)


def test_a_table_knows_who_added_a_row(table: Table[int]) -> None:
    table.add("two", 2, "mine.py")
    assert (table.owner("one"), table.owner("two")) == (None, "mine.py")
    table.fill({"the third": 3})
    assert dict(table) == {"the third": 3, "one": 1, "two": 2}
    assert table.owner("the third") is None
    table.remove("mine.py")
    assert "two" not in table and table.owner("two") is None


@pytest.mark.parametrize("name", ["one", "Two", "", "a b", "-a"])
def test_a_taken_or_impossible_name_is_refused(table: Table[int], name: str) -> None:
    with pytest.raises(UsageError, match=r"^number "):
        table.add(name, 2, "mine.py")


def test_a_row_of_a_module_is_loaded_when_it_is_used() -> None:
    table: Table[object] = Table.of_modules("thing", "json", {"reader": "decoder:JSONDecoder", "none": "nosuch:X"})
    assert list(table) == ["reader", "none"]
    assert "none" in table
    assert table["reader"] is JSONDecoder
    assert Table.all.pop() is table
    table.add("own", 1, "mine.py")
    with pytest.raises(UsageError, match="the testbed has one"):
        table.add("none", 2, "mine.py")
    assert table.of("mine.py") == {"own": 1}
    with pytest.raises(ModuleNotFoundError):
        table["none"]
