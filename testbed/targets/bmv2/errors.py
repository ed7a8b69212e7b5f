# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Texts for the error codes of BMv2 (`standard.thrift`)."""

from __future__ import annotations

from collections.abc import Mapping

TABLE: Mapping[int, str] = {
    1: "the table is full",
    2: "no such entry",
    3: "the entry is gone",
    4: "the table has no counters",
    5: "the table has no meters",
    6: "the table has no timeouts",
    7: "no such table",
    8: "no such action",
    9: "the table is of another kind",
    17: "there is an entry with this key already",
    18: "the key does not fit the table",
    20: "the default action is constant",
    21: "the default entry is constant",
    25: "the entries are constant",
    26: "the action's parameters do not fit",
    27: "the table has no key",
}
ARRAY: Mapping[int, str] = {1: "no such array", 2: "the index is outside"}
MIRROR: Mapping[int, str] = {1: "no such session"}
REPLICATION: Mapping[int, str] = {
    1: "no room",
    2: "no such group",
    3: "no such group handle",
    4: "no such node",
}


def words(code: int, known: Mapping[int, str]) -> str:
    """Return a short text for the code of a refusal."""
    return known.get(code, f"BMv2 refuses it with code {code}")
