# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that unsupported constructs are reported with their place, and that names never become code."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from softswitch.codegen.generate import generate
from softswitch.codegen.ir.source import CodegenError
from softswitch_tests.pipeline.harness import PROGRAMS

CONDITION = ("pipelines", 0, "conditionals", 0)
VERSION = ("__meta__", "version")
HOSTILE = ' */ taken(); /* *\\\n/ taken(); /* "; taken(); //\r\n taken();\n'
TEXT_IN_C = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)


def changed(tmp_path: Path, place: tuple[str | int, ...], value: Any) -> Path:
    """Return a copy of the program l3 with another value in one place of its JSON."""
    document = json.loads((PROGRAMS / "l3.json").read_text(encoding="utf-8"))
    container: Any = document
    for key in place[:-1]:
        container = container[key]
    container[place[-1]] = value
    path = tmp_path / "l3.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (VERSION, [2, 17], ["2.17", "2.18 to 2.24", "$.__meta__.version"]),
        (VERSION, [2, 25], ["2.25"]),
        (VERSION, [3, 18], ["3.18"]),
        (("actions", 0, "primitives", 0, "op"), "teleport", ["primitive 'teleport'", "$.actions[", "l3.p4:"]),
        ((*CONDITION, "expression", "value", "op"), "<=>", ["'<=>'", "$.pipelines[0].conditionals[0]", "l3.p4:"]),
        (("calculations", 0, "algo"), "md5", ["'md5'", "$.calculations[0].algo", "l3.p4:"]),
        (("pipelines", 0, "tables", 2, "key", 0, "match_type"), "fuzzy", ["'fuzzy'", ".key[0].match_type", "l3.p4:"]),
        (
            ("parse_vsets",),
            [{"name": "set", "id": 0, "compressed_bitwidth": 70_000}],
            ["value set 'set' of 70000 bits", "$.parse_vsets[0]"],
        ),
        (
            ("parsers", 0, "parse_states", 0, "transitions", 0),
            {"type": "parse_vset", "value": "ghost", "mask": None, "next_state": None},
            ["unknown parser value set 'ghost'", "$.parsers[0].parse_states[0].transitions[0]"],
        ),
        (("extern_instances",), [{"name": "e", "id": 0, "type": "oracle"}], ["'oracle'", "$.extern_instances[0]"]),
        (("deparsers", 0, "order", 0), "ghost", ["'ghost'", "$.deparsers[0].order["]),
        ((*CONDITION, "true_next"), "nowhere", ["'nowhere'", "$.pipelines[0]"]),
    ],
)
def test_unsupported_construct_is_named_with_its_place(
    tmp_path: Path, place: tuple[str | int, ...], value: Any, words: list[str]
) -> None:
    with pytest.raises(CodegenError) as caught:
        generate(changed(tmp_path, place, value))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("minor", [18, 24])
def test_oldest_and_newest_supported_version_are_accepted(tmp_path: Path, minor: int) -> None:
    assert "sw_program" in generate(changed(tmp_path, VERSION, [2, minor]))


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


@pytest.mark.parametrize("program", ["l3", "again", "stateful"])
def test_no_name_becomes_code(program: str, tmp_path: Path) -> None:
    """Names of actions, field lists and digests must not end the comment, string or line that contains them."""
    text = (PROGRAMS / f"{program}.json").read_text()
    document = json.loads(text)
    for item in (*document["actions"], *document["field_lists"], *document["learn_lists"]):
        text = text.replace(json.dumps(item["name"]), json.dumps(item["name"] + HOSTILE))
    path = tmp_path / "hostile.json"
    path.write_text(text)
    code = generate(path).replace("\\\n", "")  # a compiler joins such lines
    assert "taken();" in code
    assert "taken();" not in TEXT_IN_C.sub("", code)


def test_select_of_another_width_than_its_value_set_is_an_error(tmp_path: Path) -> None:
    document = json.loads((PROGRAMS / "sets.json").read_text(encoding="utf-8"))
    document["parse_vsets"][0]["compressed_bitwidth"] = 17
    path = tmp_path / "sets.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(CodegenError, match=r"a select of 16 bits on value set 'P\.values' of 17 bits at \$\.parsers"):
        generate(path)


@pytest.mark.parametrize("program", ["l3", "sets", "stacks"])
def test_only_the_variant_that_logs_has_code_that_logs(program: str) -> None:
    path = PROGRAMS / f"{program}.json"
    assert "sw_log" not in generate(path)
    assert "sw_log(pipeline, packet, " in generate(path, logs=True)
