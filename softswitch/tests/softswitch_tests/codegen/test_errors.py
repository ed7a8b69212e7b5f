# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that unsupported constructs are reported with their place."""

from pathlib import Path
from typing import Any

import pytest

from softswitch.codegen.generate import generate
from softswitch.codegen.ir.source import CodegenError
from softswitch_tests.codegen.documents import changed, compiled, written
from softswitch_tests.pipeline.harness import PROGRAMS

CONDITION = ("pipelines", 0, "conditionals", 0)
VERSION = ("__meta__", "version")


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (VERSION, [2, 25], ["2.25", "2.0 to 2.24", "$.__meta__.version"]),
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
        generate(written(tmp_path, changed(compiled("l3"), place, value)))
    for word in words:
        assert word in str(caught.value)


def test_text_that_is_not_json_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CodegenError, match=r"not\.json"):
        generate(written(tmp_path, "P4", "not"))


def test_generated_code_names_the_p4_source() -> None:
    """Comments in the C code give the P4 name and line of every action and table, and the name of every field."""
    text = generate(PROGRAMS / "l3.json")
    assert "/* table In.routes, l3.p4:" in text
    assert "/* action In.route(port, next_hop), l3.p4:" in text
    assert "/* ttl, 8 bits */" in text
    assert "; /* ipv4 */" in text


def test_select_of_another_width_than_its_value_set_is_an_error(tmp_path: Path) -> None:
    document = changed(compiled("sets"), ("parse_vsets", 0, "compressed_bitwidth"), 17)
    with pytest.raises(CodegenError, match=r"a select of 16 bits on value set 'P\.values' of 17 bits at \$\.parsers"):
        generate(written(tmp_path, document))


@pytest.mark.parametrize("program", ["l3", "sets", "stacks"])
def test_only_the_variant_that_logs_has_code_that_logs(program: str) -> None:
    path = PROGRAMS / f"{program}.json"
    assert "sw_log" not in generate(path)
    assert "sw_log(pipeline, packet, " in generate(path, logs=True)
