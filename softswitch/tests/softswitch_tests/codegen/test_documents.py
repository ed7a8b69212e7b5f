# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that programs are read as leniently as BMv2 reads them, by all readers."""

import json
from pathlib import Path
from typing import Any

import pytest

from softswitch.codegen.generate import generate
from softswitch.codegen.ir.source import CodegenError
from softswitch.codegen.load.document import read_document
from softswitch.stf.program import ProgramNames
from softswitch.thrift.program import Program
from softswitch_tests.codegen.documents import assign, changed, compiled, constant, field, program, switch, written
from softswitch_tests.pipeline.test_l3 import ipv4_frame


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'{"a": "first\nsecond\r\t\x01\x00"}', {"a": "first\nsecond\r\t\x01\x00"}),
        (b'// one\n{"a": /* two */ 1 /* // */ } // three', {"a": 1}),
        (b'{"a": "// no /* comment */"}', {"a": "// no /* comment */"}),
        (b'{"a": [1, 2, ], }', {"a": [1, 2]}),
        (b'{"a": ",]"}, ', {"a": ",]"}),
        (b'\xef\xbb\xbf {"a": +1, "b": 007, "c": -02, "d": 1.}', {"a": 1, "b": 7, "c": -2, "d": 1.0}),
        (b'{"a": 1} and more {', {"a": 1}),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'{"a": "\\u00e9\\/\\b"}', {"a": "\u00e9/\b"}),
        (b'{"a": "\xe9"}', {"a": "\udce9"}),
    ],
)
def test_text_that_the_reader_of_bmv2_accepts(text: bytes, value: Any) -> None:
    assert read_document(text, "it") == value


@pytest.mark.parametrize(
    "text",
    [
        *(b"", b"{", b'{"a": NaN}', b'{"a": Infinity}', b"{'a': 1}", b'{"a" 1}', b'{"a": "\\x"}', b'"abc', b"/* abc"),
        *(b"[1 2]", b'"\\', b"P4", b"[" * 100_000, b'{"a":' * 100_000, b"/*" * 100_000),
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_text_that_is_no_json_is_one_line(text: bytes) -> None:
    with pytest.raises(CodegenError, match=r"^it is not ") as caught:
        read_document(text, "it")
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_errors_name_the_line_behind_a_comment() -> None:
    with pytest.raises(CodegenError, match="line 4 column 2"):
        read_document(b'/* 1\n2 */\n{"a": 1\n "b": 2}', "it")


def test_all_readers_accept_a_line_break_in_a_string(tmp_path: Path) -> None:
    """p4c copies the text of a `log_msg` as it is."""
    document = compiled("l3")
    text = {"type": "string", "value": "first@second"}
    document["actions"][0]["primitives"].append({"op": "log_msg", "parameters": [text, {"value": []}]})
    source = json.dumps(document).replace("@", "\n").encode()
    path = tmp_path / "l3.json"
    path.write_bytes(source)
    assert "first\\012second" in generate(path, logs=True)
    assert "In.routes" in ProgramNames.load(path).tables
    assert "In.routes" in Program(source, "l3").tables


def versioned(version: list[int] | None, *primitives: dict[str, Any]) -> dict[str, Any]:
    """Return a program of a version, or without one."""
    return {**program(*primitives), "__meta__": {"version": version} if version else None}


@pytest.mark.parametrize("version", [None, [2, 0], [2, 5], [2, 17], [2, 18], [2, 24]])
def test_old_programs_and_programs_without_a_version_are_read(version: Any, tmp_path: Path) -> None:
    path = written(tmp_path, versioned(version))
    assert "sw_program" in generate(path)
    assert list(Program(path.read_bytes(), "old").tables) == ["t"]


@pytest.mark.parametrize(("version", "state"), [(None, "has no version"), ([2, 7], "has version 2.7")])
def test_a_refused_old_program_is_told_which_compiler_it_needs(version: Any, state: str, tmp_path: Path) -> None:
    document = versioned(version, {"op": "teleport", "parameters": []})
    with pytest.raises(
        CodegenError, match=rf"'teleport'.* at \$\.actions\[0\].*; the JSON {state}: p4c 1\.2\.0 or newer"
    ):
        generate(written(tmp_path, document))


def test_tables_of_old_versions_name_their_actions(tmp_path: Path) -> None:
    document = program()
    table = document["pipelines"][0]["tables"][0]
    del table["action_ids"], table["default_entry"]
    path = written(tmp_path, document)
    assert [action.name for action in Program(path.read_bytes(), "old").tables["t"].actions] == ["act"]
    assert list(ProgramNames.load(path).tables["t"].actions) == ["act"]
    table["actions"] = ["other"]
    with pytest.raises(CodegenError, match=r"unknown action 'other' at \$\.pipelines\[0\]\.tables\[0\]\.actions\[0\]"):
        generate(written(tmp_path, document))


def test_checksums_without_a_calculation_cover_their_header(tmp_path: Path) -> None:
    """BMv2's oldest programs have checksums of the type ipv4. They are verified and updated as those of p4c."""
    document, old = compiled("l3"), compiled("l3")
    for checksum in old["checksums"]:
        checksum["type"] = "ipv4"
        del checksum["calculation"], checksum["if_cond"]
    old["calculations"] = []
    right = ipv4_frame(0x0A010203)
    wrong = bytearray(right)
    wrong[24] ^= 1
    frames = (right, bytes(wrong), bytes(12) + b"\x88\xb6" + bytes(46))
    results = []
    for number, each in enumerate((document, old)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with switch(folder, each) as engine:
            engine.command("table_add In.routes In.route 10.0.0.0/8 => 3 1")
            engine.command("table_add In.neighbours In.rewrite 1 => 02:00:00:00:00:99")
            results.append([engine.step(1, frame, 0) for frame in frames])
    assert results[0] == results[1]
    assert [len(departures) for departures in results[1]] == [1, 0, 0]


@pytest.mark.parametrize("member", ["header_types", "headers", "parsers", "actions", "pipelines"])
def test_other_json_is_no_program(member: str, tmp_path: Path) -> None:
    document = program()
    del document[member]
    with pytest.raises(CodegenError, match=rf"missing member '{member}' at \$"):
        generate(written(tmp_path, document))


def test_other_standard_metadata_is_no_program(tmp_path: Path) -> None:
    document = changed(program(), ("headers", 0, "name"), "other_metadata")
    with pytest.raises(CodegenError, match=r"no field 'standard_metadata\.ingress_port'.* at \$\.headers"):
        generate(written(tmp_path, document))


def test_numbers_may_have_a_fraction_of_zero(tmp_path: Path) -> None:
    document = program(assign(field("m", "n"), constant(1)))
    document["header_types"][1]["fields"][0][1] = 32.0
    assert "sw_program" in generate(written(tmp_path, document))


def test_a_constant_in_a_list_of_preserved_fields_changes_nothing(tmp_path: Path) -> None:
    """p4c writes one for clone3(..., 99): there is no field that the clone could keep."""
    document = compiled("again")
    generated = generate(written(tmp_path, document))
    document["field_lists"][1]["elements"].insert(0, constant(99))
    assert generate(written(tmp_path, document)) == generated
