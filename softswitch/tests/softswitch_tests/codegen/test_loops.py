# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that a program that never ends loses its packets, that the drop names the place, and that other loops end."""

from pathlib import Path
from typing import Any

import pytest

from softswitch.codegen.generate import generate
from softswitch_tests.codegen.documents import (
    assign,
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
from softswitch_tests.pipeline.harness import PROGRAMS, drops_of

FRAME = bytes(range(64))
PORT = field("standard_metadata", "egress_spec")
COUNTED = operation("&", operation("+", field("m", "n"), constant(1)), constant(0xFFFFFFFF))


def states(*rows: dict[str, Any]) -> dict[str, Any]:
    document = program(assign(PORT, constant(2)))
    document["parsers"][0]["parse_states"] = list(rows)
    return document


def tables(pipeline: int, *rows: dict[str, Any]) -> dict[str, Any]:
    document = program(assign(PORT, constant(2)))
    document["pipelines"][pipeline] |= {"tables": list(rows), "init_table": rows[0]["name"]}
    return document


def conditional(name: str, yes: str | None, no: str | None, least: int) -> dict[str, Any]:
    expression = operation("<", field("m", "n"), constant(least))
    return {"name": name, "id": 0, "expression": expression, "true_next": yes, "false_next": no}


def looping_condition() -> dict[str, Any]:
    document = tables(0, table("t", None))
    document["pipelines"][0] |= {"conditionals": [conditional("c", "c", "t", 5)], "init_table": "c"}
    return document


def looping_action() -> dict[str, Any]:
    return program(assign(PORT, constant(2)), {"op": "_jump", "parameters": [constant(0)]})


@pytest.mark.parametrize(
    ("document", "place", "port"),
    [
        (states(state("start", "start")), "state start", 1),
        (states(state("start", "b"), state("b", "c", 1), state("c", "b", 2)), "state b", 1),
        (tables(0, table("t", "t")), "table t", 1),
        (tables(0, table("t", "u"), table("u", "v", 1), table("v", "u", 2)), "table u", 1),
        (tables(1, table("e", "e", 1)), "table e", 2),
        (looping_condition(), "node c", 1),
        (looping_action(), "a loop in an action", 1),
    ],
    ids=["state", "states", "table", "tables", "egress", "condition", "action"],
)
def test_a_packet_that_never_ends_is_dropped_at_a_named_place(
    document: dict[str, Any], place: str, port: int, tmp_path: Path
) -> None:
    with switch(tmp_path, document) as engine:
        for number in range(20):
            assert engine.step(1, FRAME, number) == []
        assert engine.command("drops_read").splitlines() == [f"step_limit\t{port}\t{place}"] * 20
        assert drops_of(engine) == {"step_limit": 20}
        assert engine.statistics()["buffer_bytes"] == 0


def counting(turns: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a parser and a pipeline with a loop of this number of turns."""
    turn = {"op": "set", "parameters": [field("m", "n"), {"type": "expression", "value": COUNTED}]}
    last = {"type": "hexstr", "value": f"{turns:#010x}", "mask": None, "next_state": None}
    again = {"type": "default", "value": None, "mask": None, "next_state": "start"}
    parser = states(
        state("start", None, parser_ops=[turn], transition_key=[field("m", "n")], transitions=[last, again])
    )
    control = program(assign(field("m", "n"), COUNTED), assign(PORT, constant(2)))
    control["pipelines"][0] |= {
        "tables": [table("t", "c")],
        "conditionals": [conditional("c", "t", None, turns)],
    }
    return parser, control


@pytest.mark.parametrize("which", [0, 1], ids=["parser", "control"])
@pytest.mark.parametrize(("turns", "arrives"), [(2, True), (9_000, True), (11_000, False)])
def test_a_loop_that_ends_within_the_limit_runs(which: int, turns: int, arrives: bool, tmp_path: Path) -> None:
    with switch(tmp_path, counting(turns)[which]) as engine:
        departures = engine.step(1, FRAME, 0)
        assert [port for port, _, _ in departures] == ([2] if arrives else [])
        assert engine.statistics()["drops"]["step_limit"] == (not arrives)


def test_each_pass_and_packet_has_its_own_steps(tmp_path: Path) -> None:
    with switch(tmp_path, counting(9_000)[1]) as engine:
        for number in range(5):
            assert len(engine.step(1, FRAME, number)) == 1


def test_a_loop_over_a_stack_is_not_counted() -> None:
    """It ends with the frame, so that the code of such programs has no counter."""
    for path in sorted(PROGRAMS.glob("*.json")):
        assert "sw_is_endless" not in generate(path)


@pytest.mark.parametrize("else_", [None, "t"])
def test_control_flow_may_be_as_deep_as_it_likes(else_: str | None, tmp_path: Path) -> None:
    """An `else if` chain of 3,000 conditions: neither Python nor the C compiler nests that deep."""
    document = program(assign(PORT, constant(2)))
    document["pipelines"][0]["conditionals"] = [
        {**conditional(f"c{i}", f"c{i + 1}" if i < 2999 else "t", else_, 1), "id": i} for i in range(3000)
    ]
    document["pipelines"][0]["init_table"] = "c0"
    with switch(tmp_path, document) as engine:
        assert [port for port, _, _ in engine.step(1, FRAME, 0)] == [2]


def test_a_long_chain_of_states_is_parsed(tmp_path: Path) -> None:
    rows = [state(f"s{i}", f"s{i + 1}" if i < 2999 else None, i) for i in range(3000)]
    document = states(*rows)
    document["parsers"][0]["init_state"] = "s0"
    with switch(tmp_path, document) as engine:
        assert [port for port, _, _ in engine.step(1, FRAME, 0)] == [2]


def test_a_program_of_the_compiler_with_a_loop_of_tables_is_bounded(tmp_path: Path) -> None:
    document = compiled("l3")
    ingress = next(p for p in document["pipelines"] if p["name"] == "ingress")
    last = ingress["tables"][-1]
    last["base_default_next"] = ingress["init_table"]
    last["next_tables"] = dict.fromkeys(last["next_tables"], ingress["init_table"])
    assert "sw_is_endless" in generate(written(tmp_path, document))
