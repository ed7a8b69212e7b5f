# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the metadata that the target knows by name, as P4_14 programs have it, against BMv2's rules."""

from pathlib import Path
from typing import Any

import pytest

from softswitch.codegen.generate import generate
from softswitch.codegen.ir.source import CodegenError
from softswitch.codegen.load.program import load_program
from softswitch.engine import SwitchEngine
from softswitch_tests.codegen.documents import (
    assign,
    changed,
    compiled,
    constant,
    field,
    operation,
    program,
    switch,
    table,
    written,
)

FRAME = bytes(60)
QUEUEING = [["enq_timestamp", 48], ["enq_qdepth", 16], ["deq_timedelta", 32], ["deq_qdepth", 16], ["qid", 8]]
INTRINSIC = [
    *(["ingress_global_timestamp", 48], ["egress_global_timestamp", 48], ["lf_field_list", 8], ["mcast_grp", 16]),
    *(["egress_rid", 16], ["resubmit_flag", 8], ["recirculate_flag", 8], ["priority", 8]),
]
PORT = field("standard_metadata", "egress_spec")
METADATA = {"intrinsic_metadata": INTRINSIC, "queueing_metadata": QUEUEING}


def p4_14(*ingress: dict[str, Any], egress: dict[str, Any] | None = None, **structs: Any) -> dict[str, Any]:
    """Return a program with P4_14's metadata; what egress assigns to `result` becomes a byte of the frame."""
    document = program(*ingress, metadata={**METADATA, **structs})
    document["header_types"].append({"name": "out_t", "id": 90, "fields": [["value", 64]]})
    document["headers"].append({"name": "out", "id": 90, "header_type": "out_t", "metadata": False})
    document["deparsers"][0]["order"] = ["out"]
    if egress is not None:
        add = {"op": "add_header", "parameters": [{"type": "header", "value": "out"}]}
        primitives = [add, assign(field("out", "value"), egress)]
        document["actions"].append({"name": "late", "id": 1, "runtime_data": [], "primitives": primitives})
        row = table("e", None, 1) | {"actions": ["late"], "action_ids": [1], "next_tables": {"late": None}}
        row["default_entry"] = {**row["default_entry"], "action_id": 1}
        document["pipelines"][1] |= {"tables": [row], "init_table": "e"}
    return document


def value_of(engine: SwitchEngine, now_ns: int = 5_000_000) -> list[tuple[int, int]]:
    """Send a frame; return the port and the value of `out` of each departure."""
    departures = engine.step(3, FRAME, now_ns)
    while (due_ns := engine.next_timer_ns()) is not None:
        departures += engine.advance(max(due_ns, now_ns))
    return [(port, int.from_bytes(frame[:8], "big")) for port, _, frame in departures]


@pytest.mark.parametrize(
    ("group", "rid", "structs"),
    [(1, 7, {}), (0x11, 0x17, {"intrinsic_metadata": [["mcast_grp", 4], ["egress_rid", 4]]})],
    ids=["wide", "narrow"],
)
def test_mcast_grp_and_egress_rid(group: int, rid: int, structs: dict[str, Any], tmp_path: Path) -> None:
    """Narrow fields are cut: BMv2's packet_redirect.json has egress_rid of 4 bits, so that 0x17 becomes 7."""
    mcast_grp, egress_rid = (field("intrinsic_metadata", name) for name in ("mcast_grp", "egress_rid"))
    with switch(tmp_path, p4_14(assign(mcast_grp, constant(group)), egress=egress_rid, **structs)) as engine:
        engine.commands(("mc_mgrp_create 1", f"mc_node_create {rid} 1 2", "mc_node_associate 1 0"))
        assert value_of(engine) == [(1, 7), (2, 7)]


def test_drop_forgets_the_group(tmp_path: Path) -> None:
    document = p4_14(assign(field("intrinsic_metadata", "mcast_grp"), constant(1)), {"op": "drop", "parameters": []})
    with switch(tmp_path, document) as engine:
        engine.commands(("mc_mgrp_create 1", "mc_node_create 7 1 2", "mc_node_associate 1 0"))
        assert value_of(engine) == []


@pytest.mark.parametrize(
    ("header", "name", "value"),
    [
        ("intrinsic_metadata", "ingress_global_timestamp", 5_000),
        ("intrinsic_metadata", "egress_global_timestamp", 5_000),
        ("intrinsic_metadata", "priority", 5),
        ("queueing_metadata", "enq_timestamp", 5_000),
        ("queueing_metadata", "deq_timedelta", 0),
        ("queueing_metadata", "enq_qdepth", 0),
        ("queueing_metadata", "deq_qdepth", 0),
        ("queueing_metadata", "qid", 5),
    ],
)
def test_fields_that_the_target_sets(header: str, name: str, value: int, tmp_path: Path) -> None:
    document = p4_14(
        assign(PORT, constant(2)),
        assign(field("intrinsic_metadata", "priority"), constant(5)),
        egress=field(header, name),
    )
    with switch(tmp_path, document) as engine:
        assert value_of(engine) == [(2, value)]


def test_a_time_of_48_bits_does_not_wrap_after_71_minutes(tmp_path: Path) -> None:
    now_ns = 6_000_000_000_000
    document = p4_14(assign(PORT, constant(2)), egress=field("queueing_metadata", "enq_timestamp"))
    with switch(tmp_path, document) as engine:
        assert value_of(engine, now_ns) == [(2, now_ns // 1000)]
    narrow = [[name, 32 if name == "enq_timestamp" else bits] for name, bits in QUEUEING]
    document = p4_14(
        assign(PORT, constant(2)), egress=field("queueing_metadata", "enq_timestamp"), queueing_metadata=narrow
    )
    with switch(tmp_path, document) as engine:
        assert value_of(engine, now_ns) == [(2, now_ns // 1000 % (1 << 32))]


def test_queueing_metadata_belongs_to_the_program_unless_it_is_whole(tmp_path: Path) -> None:
    """BMv2 sets all four fields or none."""
    document = p4_14(
        assign(PORT, constant(2)), egress=field("queueing_metadata", "enq_timestamp"), queueing_metadata=QUEUEING[:3]
    )
    with switch(tmp_path, document) as engine:
        assert value_of(engine) == [(2, 0)]


def test_names_without_an_alias_are_the_programs_own() -> None:
    """A field `mcast_grp` of standard_metadata is a group for BMv2 only through an alias."""
    document = compiled("l3")
    assert ("standard_metadata", "mcast_grp") in load_program(document, "l3").std_fields
    plain = load_program({**document, "field_aliases": []}, "l3").std_fields
    assert ("standard_metadata", "mcast_grp") not in plain
    assert ("standard_metadata", "egress_spec") in plain


@pytest.mark.parametrize(("bits", "type_"), [([["mcast_grp", 40]], "bit<40>"), ([["mcast_grp", 16, True]], "int<16>")])
def test_fields_of_other_forms_are_refused(bits: Any, type_: str, tmp_path: Path) -> None:
    document = p4_14(intrinsic_metadata=bits)
    with pytest.raises(CodegenError, match=rf"'intrinsic_metadata\.mcast_grp' of type {type_}: .*at \$\.headers"):
        generate(written(tmp_path, document))


def test_an_alias_of_an_unknown_field_is_refused(tmp_path: Path) -> None:
    document = changed(compiled("l3"), ("field_aliases", 0, 1), ["standard_metadata", "ghost"])
    with pytest.raises(CodegenError, match=r"no field 'standard_metadata\.ghost' at \$\.field_aliases\[0\]\[1\]"):
        generate(written(tmp_path, document))


OLD_PRIMITIVES = {
    "modify_field": ([constant(9)], 9),
    "add_to_field": ([constant(9)], 12),
    "subtract_from_field": ([constant(1)], 2),
    "add": ([constant(4), constant(5)], 9),
    "subtract": ([constant(9), constant(4)], 5),
    "bit_xor": ([constant(6), constant(3)], 5),
    "bit_or": ([constant(6), constant(3)], 7),
    "bit_and": ([constant(6), constant(3)], 2),
    "shift_left": ([constant(3), constant(2)], 12),
    "shift_right": ([constant(12), constant(2)], 3),
}


@pytest.mark.parametrize("op", OLD_PRIMITIVES)
def test_primitives_of_p4_14_compilers(op: str, tmp_path: Path) -> None:
    """All are applied to a port that is 3 before."""
    arguments, port = OLD_PRIMITIVES[op]
    document = program(assign(PORT, constant(3)), {"op": op, "parameters": [PORT, *arguments]})
    with switch(tmp_path, document) as engine:
        assert [out for out, _, _ in engine.step(1, FRAME, 0)] == [port]


def test_results_of_p4_14_primitives_are_cut_to_the_field(tmp_path: Path) -> None:
    document = program(
        assign(PORT, constant(3)),
        {"op": "add_to_field", "parameters": [PORT, constant(512)]},
        assign(field("m", "n"), operation("+", PORT, constant(0))),
    )
    with switch(tmp_path, document) as engine:
        assert [out for out, _, _ in engine.step(1, FRAME, 0)] == [3]
