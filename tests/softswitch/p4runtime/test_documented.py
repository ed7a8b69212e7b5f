# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that the conformance tables in docs/targets/p4runtime.md are complete."""

import re
from pathlib import Path

from softswitch.p4runtime.entities import UNSUPPORTED
from softswitch.p4runtime.messages import SERVICE, v1
from softswitch.p4runtime.messages import _pool as pool

PAGE = Path(__file__).resolve().parents[3] / "docs" / "targets" / "p4runtime.md"
NAMED_OTHERWISE = {"packet_replication_engine_entry"}
"""The entities whose parts have rows of their own."""


def rows(cells: int) -> list[list[str]]:
    """Return the rows of the page's tables that have this number of cells."""
    lines = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| "))
    split = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    return [row for row in split if len(row) == cells]


def test_each_entity_has_a_row() -> None:
    entities = {name: row for row in rows(6) for name in re.findall(r"`(\w+_\w+)`", row[0])}
    assert set(entities) == {field.name for field in v1.Entity.DESCRIPTOR.fields} - NAMED_OTHERWISE
    for name, row in entities.items():
        assert row[4].startswith("works") == (name not in UNSUPPORTED)


def test_each_rpc_has_a_row() -> None:
    methods = {method.name for method in pool().FindServiceByName(SERVICE).methods}
    assert methods == {row[0].strip("`") for row in rows(4) if row[0].strip("`") in methods}
