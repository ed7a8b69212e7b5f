# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that sizes and forms that no compiler writes are refused in one line with the JSON path, before anything is
computed from them."""

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from softswitch.codegen.generate import generate
from softswitch.codegen.ir.source import CodegenError
from softswitch_tests.codegen.documents import (
    assign,
    changed,
    compiled,
    constant,
    field,
    operation,
    program,
    state,
    switch,
    table,
    written,
)

HUGE = 1 << 40
M = field("m", "n")
FIELDS = ("header_types", 1, "fields")
TABLE = ("pipelines", 0, "tables", 0)
STATE = ("parsers", 0, "parse_states", 0)


def nested(depth: int) -> Any:
    value: Any = M
    for _ in range(depth):
        value = operation("+", value, constant(1))
    return value


def cast(op: str, width: int) -> dict[str, Any]:
    return program(assign(M, operation(op, M, constant(width))))


def array(kind: str, **members: Any) -> dict[str, Any]:
    return {**program(), kind: [{"name": "r", "id": 0, "size": 1, "bitwidth": 8, **members}]}


def with_state(**members: Any) -> dict[str, Any]:
    return changed(program(), STATE, state("start", None, **members))


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "register of 2^40 cells": (array("register_arrays", size=HUGE), "$.register_arrays[0].size"),
    "register of wide cells": (array("register_arrays", bitwidth=1 << 30), "$.register_arrays[0].bitwidth"),
    "registers of 16 GiB": (array("register_arrays", size=1 << 30, bitwidth=64), "$.register_arrays[0]"),
    "counter": (array("counter_arrays", size=HUGE), "$.counter_arrays[0].size"),
    "meter": (array("meter_arrays", size=HUGE, type="bytes", rate_count=2), "$.meter_arrays[0].size"),
    "meter rates": (array("meter_arrays", type="bytes", rate_count=HUGE), "$.meter_arrays[0].rate_count"),
    "negative size": (array("register_arrays", size=-1), "$.register_arrays[0].size"),
    "table": (changed(program(), (*TABLE, "max_size"), HUGE), "$.pipelines[0].tables[0].max_size"),
    "field": (changed(program(), (*FIELDS, 0, 1), HUGE), "$.header_types[1].fields[0][1]"),
    "negative field": (changed(program(), (*FIELDS, 0, 1), -8), "$.header_types[1].fields[0][1]"),
    "list for a width": (changed(program(), (*FIELDS, 0, 1), [8]), "$.header_types[1].fields[0][1]"),
    "header": (changed(program(), FIELDS, [[f"f{i}", 2048] for i in range(300)]), "$.header_types[1]"),
    "many fields": (changed(program(), FIELDS, [[f"f{i}", 1] for i in range(20_000)]), "$.header_types[1].fields"),
    "varbit": (
        changed(
            program(), ("header_types", 1), {"name": "m_t", "id": 1, "fields": [["v", "*"]], "max_length": 1 << 27}
        ),
        "$.header_types[1].max_length",
    ),
    "saturating cast": (cast("usat_cast", 1 << 34), "$.actions[0].primitives[0].parameters[1].value.right"),
    "signed saturating cast": (cast("sat_cast", 1 << 33), "$.actions[0].primitives[0].parameters[1].value.right"),
    "signed cast": (cast("two_comp_mod", 1 << 40), "$.actions[0].primitives[0].parameters[1].value.right"),
    "cast to no bits": (cast("two_comp_mod", 0), "$.actions[0].primitives[0].parameters[1].value.right"),
    "left shift that is not cut": (
        program(assign(M, operation(">>", operation("<<", M, constant(1 << 40)), constant(8)))),
        "$.actions[0].primitives[0]",
    ),
    "negative shift": (cast(">>", -1), "$.actions[0].primitives[0].parameters[1].value.right"),
    "constant": (program(assign(M, constant(1 << 5000))), "$.actions[0].primitives[0].parameters[1].value"),
    "parameter": (
        changed(program(), ("actions", 0, "runtime_data"), [{"name": "p", "bitwidth": 1 << 33}]),
        "$.actions[0].runtime_data[0].bitwidth",
    ),
    "lookahead": (
        with_state(transition_key=[{"type": "lookahead", "value": [0, 1 << 34]}]),
        "$.parsers[0].parse_states[0].transition_key[0].value[1]",
    ),
    "far lookahead": (
        with_state(transition_key=[{"type": "lookahead", "value": [HUGE, 8]}]),
        "$.parsers[0].parse_states[0].transition_key[0].value[0]",
    ),
    "shift": (
        with_state(parser_ops=[{"op": "shift", "parameters": [HUGE]}]),
        "$.parsers[0].parse_states[0].parser_ops[0].parameters[0]",
    ),
    "calculation": (
        {
            **program(),
            "calculations": [
                {"name": "c", "algo": "crc32", "input": [{"type": "hexstr", "value": "0x1", "bitwidth": 1 << 33}]}
            ],
        },
        "$.calculations[0].input[0].bitwidth",
    ),
    "long calculation": (
        {**program(), "calculations": [{"name": "c", "algo": "crc32", "input": [field("m", "wide")] * 600}]},
        "$.calculations[0].input[524]",
    ),
    "digest": (
        {**program(), "learn_lists": [{"name": "d", "id": 1, "elements": [field("m", "wide")] * 600}]},
        "$.learn_lists[0]",
    ),
    "id": (changed(program(), ("actions", 0, "id"), HUGE), "$.actions[0].id"),
    "error": ({**program(), "errors": [["E", HUGE]]}, "$.errors[0][1]"),
    "many tables": (
        changed(program(), TABLE[:3], [table(f"t{i}", None, i) for i in range(10_001)]),
        "$.pipelines[0].tables",
    ),
    "expression 3,000 deep": (program(assign(M, nested(3000))), "$.actions[0].primitives[0]"),
    "lone surrogate": (changed(program(), ("actions", 0, "name"), "a\ud800"), "$.actions[0].name"),
    "unknown action": (changed(program(), (*TABLE, "action_ids"), [7]), "$.pipelines[0].tables[0].action_ids[0]"),
    "unknown next": (
        changed(program(), (*TABLE, "base_default_next"), "ghost"),
        "$.pipelines[0].tables[0]",
    ),
    "jump": (program({"op": "_jump", "parameters": [constant(-1)]}), "$.actions[0].primitives[0]"),
    "field by number": (
        program(
            assign({"type": "expression", "value": {"op": "access_field", "left": field("m", "n"), "right": 9}}, M)
        ),
        "$.actions[0].primitives[0]",
    ),
    "negative local": (program(assign(M, {"type": "local", "value": -1})), "$.actions[0].primitives[0].parameters[1]"),
    "lookahead in an action": (
        program(assign(M, {"type": "lookahead", "value": [0, 8]})),
        "$.actions[0].primitives[0]",
    ),
    "message": (program({"op": "teleport" * 10_000, "parameters": []}), "$.actions[0].primitives[0]"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_size_beyond_its_limit_is_one_line_with_its_path(name: str, tmp_path: Path) -> None:
    document, place = CASES[name]
    with pytest.raises(CodegenError) as caught:
        generate(written(tmp_path, document))
    text = str(caught.value)
    assert f" at {place}" in text
    assert "\n" not in text
    assert len(text) < 700


def test_json_may_be_as_deep_as_bmv2_reads_it(tmp_path: Path) -> None:
    with switch(
        tmp_path, program(assign(M, nested(480)), assign(field("standard_metadata", "egress_spec"), M))
    ) as engine:
        assert [port for port, _, _ in engine.step(1, bytes(60), 0)] == [480]


def test_repeated_indexes_do_not_multiply(tmp_path: Path) -> None:
    """A comparison of headers uses an index once per field, so that nested indexes would grow exponentially."""
    document = compiled("stacks")
    stack = document["header_stacks"][0]["name"]
    index: Any = constant(0)
    first = operation("dereference_header_stack", {"type": "header_stack", "value": stack}, index)
    for _ in range(40):
        header = operation("dereference_header_stack", {"type": "header_stack", "value": stack}, index)
        index = {"type": "expression", "value": {"op": "b2d", "left": None, "right": operation("==", header, first)}}
    document["actions"][0]["primitives"] = [assign(field("standard_metadata", "egress_spec"), index)]
    with pytest.raises(CodegenError, match=r"an index of more than 4096 characters.* at \$\.actions\[0\]"):
        generate(written(tmp_path, document))


def places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key)
        yield from places(item, (*place, key))


def at(value: Any, place: tuple[str | int, ...]) -> Any:
    for key in place:
        value = value[key]
    return value


VALUES: tuple[Any, ...] = (
    None,
    -1,
    0,
    1,
    1 << 33,
    1 << 64,
    1.5,
    True,
    "x",
    "\ud800",
    "*",
    "-0x1",
    "0x" + "f" * 600,
    [],
    {},
    [None],
)


def mutated(document: Any, generator: random.Random) -> Any:
    """Return a document with up to three values removed, or replaced by strange ones or by others of the document."""
    copied = deepcopy(document)
    everywhere = [place for place in places(document) if "source_info" not in place]
    for _ in range(generator.choice((1, 1, 2, 3))):
        *parents, last = generator.choice(everywhere)
        with suppress(LookupError, TypeError):
            parent, kind = at(copied, tuple(parents)), generator.random()
            if kind < 0.1:
                del parent[last]
            elif kind < 0.4:
                parent[last] = generator.choice(VALUES)
            else:
                drawn = [at(document, generator.choice(everywhere)) for _ in range(30)]
                parent[last] = next((v for v in drawn if type(v) is type(parent[last])), drawn[0])
    return copied


@pytest.mark.parametrize("name", ["again", "arithmetic", "hashing", "headers", "l3", "matching", "sets", "stacks"])
def test_mutated_programs_are_translated_or_refused_in_one_line(name: str, tmp_path: Path) -> None:
    generator, document = random.Random(name), compiled(name)
    translated = 0
    for _ in range(60):
        path = written(tmp_path, json.dumps(mutated(document, generator)))
        try:
            generate(path, logs=generator.random() < 0.5)
            translated += 1
        except CodegenError as error:
            assert " at $" in str(error)
            assert "\n" not in str(error)
            assert len(str(error)) < 700
    assert 0 < translated < 60
