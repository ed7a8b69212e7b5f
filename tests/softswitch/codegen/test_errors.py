# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that unsupported constructs are reported with their JSON path and P4 line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from softswitch.codegen import CodegenError, generate
from tests.softswitch.pipeline.harness import PROGRAMS

Change = Callable[[dict[str, Any]], None]


def changed(tmp_path: Path, change: Change, program: str = "l3") -> Path:
    document = json.loads((PROGRAMS / f"{program}.json").read_text(encoding="utf-8"))
    change(document)
    path = tmp_path / f"{program}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def version(minor: int, major: int = 2) -> Change:
    return lambda d: d["__meta__"].update(version=[major, minor])


def first_primitive(document: dict[str, Any]) -> dict[str, Any]:
    return next(p for a in document["actions"] for p in a["primitives"])


def unknown_primitive(document: dict[str, Any]) -> None:
    first_primitive(document)["op"] = "teleport"


def unknown_operation(document: dict[str, Any]) -> None:
    document["pipelines"][0]["conditionals"][0]["expression"]["value"]["op"] = "<=>"


def unknown_hash(document: dict[str, Any]) -> None:
    document["calculations"][0]["algo"] = "md5"


def unknown_match(document: dict[str, Any]) -> None:
    next(t for t in document["pipelines"][0]["tables"] if t["key"])["key"][0]["match_type"] = "fuzzy"


def value_set(document: dict[str, Any]) -> None:
    document["parse_vsets"] = [{"name": "set", "id": 0, "compressed_bitwidth": 8}]


def extern(document: dict[str, Any]) -> None:
    document["extern_instances"] = [{"name": "e", "id": 0, "type": "oracle"}]


def unknown_header(document: dict[str, Any]) -> None:
    document["deparsers"][0]["order"].append("ghost")


def unknown_node(document: dict[str, Any]) -> None:
    document["pipelines"][0]["conditionals"][0]["true_next"] = "nowhere"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (version(17), ["2.17", "2.18 to 2.24", "$.__meta__.version"]),
        (version(25), ["2.25"]),
        (version(18, major=3), ["3.18"]),
        (unknown_primitive, ["primitive 'teleport'", "$.actions[", "l3.p4:"]),
        (unknown_operation, ["'<=>'", "$.pipelines[0].conditionals[0]", "l3.p4:"]),
        (unknown_hash, ["'md5'", "$.calculations[0].algo", "l3.p4:"]),
        (unknown_match, ["'fuzzy'", ".key[0].match_type", "l3.p4:"]),
        (value_set, ["value set 'set'", "$.parse_vsets[0]"]),
        (extern, ["'oracle'", "$.extern_instances[0]"]),
        (unknown_header, ["'ghost'", "$.deparsers[0].order["]),
        (unknown_node, ["'nowhere'", "$.pipelines[0]"]),
    ],
)
def test_unsupported_construct_is_named_with_its_place(tmp_path: Path, change: Change, words: list[str]) -> None:
    with pytest.raises(CodegenError) as caught:
        generate(changed(tmp_path, change))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("minor", [18, 24])
def test_known_versions_are_accepted(tmp_path: Path, minor: int) -> None:
    assert "sw_program" in generate(changed(tmp_path, version(minor)))


def test_text_that_is_not_json_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "not.json"
    path.write_text("P4", encoding="utf-8")
    with pytest.raises(CodegenError, match=r"not\.json"):
        generate(path)


def test_generated_code_names_the_p4_source() -> None:
    """Comments in the C code give the P4 name and line of every action and table."""
    text = generate(PROGRAMS / "l3.json")
    assert "/* table In.routes, l3.p4:" in text
    assert "/* action In.route, l3.p4:" in text
    assert "phv->ipv4.ttl" in text
