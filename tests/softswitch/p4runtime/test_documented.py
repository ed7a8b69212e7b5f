# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that docs/targets/p4runtime.md names each refused entity, and only RPCs and entities that exist."""

import re
from pathlib import Path

from softswitch.p4runtime.entities import UNSUPPORTED
from softswitch.p4runtime.messages import SERVICE, v1
from softswitch.p4runtime.messages import _pool as pool

PAGE = Path(__file__).resolve().parents[3] / "docs" / "targets" / "p4runtime.md"


def rows(cells: int) -> list[list[str]]:
    """Return the rows of the page's tables that have this number of cells."""
    lines = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| "))
    split = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    return [row for row in split if len(row) == cells]


def test_the_refused_entities_have_rows() -> None:
    entities = {name: row[1] for row in rows(2) for name in re.findall(r"`(\w+_entry|action_profile_\w+)`", row[0])}
    assert set(entities) <= {field.name for field in v1.Entity.DESCRIPTOR.fields}
    assert {name for name, text in entities.items() if text.startswith("refused")} == set(UNSUPPORTED)


def test_each_rpc_is_named() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for method in pool().FindServiceByName(SERVICE).methods:
        assert f"`{method.name}`" in page
