# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Random streams for a program: table entries and frames.

Owns their distribution: values that collide often, frames that are nearly valid. It must not know the targets.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

_MOST_ENTRIES = 3
_SMALL = 4


def numbers(bits: int) -> st.SearchStrategy[int]:
    """Draw a number of `bits` bits, often a small or an extreme one."""
    most = (1 << bits) - 1
    return st.one_of(st.integers(0, min(_SMALL, most)), st.just(most), st.integers(0, most))


def entries(json_path: Path) -> st.SearchStrategy[list[str]]:
    """Draw `table_add` commands for the tables of a program."""
    root = json.loads(json_path.read_text(encoding="utf-8"))
    types = {t["name"]: {f[0]: f[1] for f in t["fields"]} for t in root["header_types"]}
    headers = {h["name"]: types[h["header_type"]] for h in root["headers"]}
    actions = {a["id"]: a for a in root["actions"]}
    tables = [
        _table(table, headers, actions)
        for pipeline in root["pipelines"]
        for table in pipeline["tables"]
        if table["type"] == "simple" and table["key"] and "entries" not in table
    ]
    return st.tuples(*tables).map(lambda parts: [line for part in parts for line in part])


def _table(
    table: Mapping[str, Any], headers: Mapping[str, Mapping[str, int]], actions: Mapping[int, Mapping[str, Any]]
) -> st.SearchStrategy[list[str]]:
    keys = [_key(key["match_type"], _bits(key["target"], headers)) for key in table["key"]]
    usable = [actions[number] for number in table["action_ids"]]
    arguments = st.sampled_from(usable).flatmap(
        lambda action: st.tuples(st.just(action["name"]), *(_argument(p["bitwidth"]) for p in action["runtime_data"]))
    )
    priority = st.integers(1, 9).map(str) if table["match_type"] in ("ternary", "range") else st.just("")
    entry = st.tuples(arguments, st.tuples(*keys), priority).map(
        lambda drawn: " ".join(["table_add", table["name"], drawn[0][0], *drawn[1], "=>", *drawn[0][1:], drawn[2]])
    )
    return st.lists(entry, max_size=_MOST_ENTRIES)


def _bits(target: list[str], headers: Mapping[str, Mapping[str, int]]) -> int:
    return 1 if target[1] == "$valid$" else headers[target[0]][target[1]]


def _argument(bits: int) -> st.SearchStrategy[str]:
    """Draw an argument; arguments of nine bits are ports, so only a few values are drawn."""
    return (st.integers(1, _SMALL) if bits == 9 else numbers(bits)).map(str)


def _key(kind: str, bits: int) -> st.SearchStrategy[str]:
    pair = st.tuples(numbers(bits), numbers(bits))
    if kind == "lpm":
        return st.tuples(numbers(bits), st.integers(0, bits)).map(lambda p: f"{p[0]}/{p[1]}")
    if kind in ("ternary", "optional"):
        return pair.map(lambda p: f"{p[0]:#x}&&&{p[1]:#x}")
    if kind == "range":
        return pair.map(lambda p: f"{min(p)}->{max(p)}")
    return numbers(bits).map(str)


@st.composite
def broken(draw: st.DrawFn, frame: bytes, *, may_be_cut: bool) -> bytes:
    """Draw a frame that is unchanged, has a few bytes changed, is cut short or has bytes appended."""
    data = bytearray(frame)
    for _ in range(draw(st.integers(0, 2))):
        data[draw(st.integers(0, len(data) - 1))] = draw(numbers(8))
    cut = draw(st.one_of(st.just(len(data)), st.integers(1, len(data)))) if may_be_cut else len(data)
    return bytes(data[:cut]) + draw(st.one_of(st.just(b""), st.binary(max_size=20)))
