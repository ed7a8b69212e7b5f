# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""CONTRIBUTING.md lists every file that each kind of change touches; an example of each kind is applied and works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.changes.change import LISTED, Change, are_listed, copy_of_tree
from tests.changes.examples import CHANGES


def test_every_listed_kind_has_an_example() -> None:
    assert {change.kind for change in CHANGES} == {kind for kind, places in LISTED.items() if places}


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.kind)
def test_contributing_lists_exactly_the_touched_files(change: Change) -> None:
    assert are_listed(change.kind, change.places)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.kind)
def test_the_change_works_with_nothing_else_edited(change: Change, tmp_path: Path) -> None:
    for need in change.needs:
        if (reason := need()) is not None:
            pytest.skip(reason)
    tree = copy_of_tree(tmp_path)
    change.apply(tree)
    assert re.search(change.shows, change.demonstrate(tree))
    change.check_contract(tree)
