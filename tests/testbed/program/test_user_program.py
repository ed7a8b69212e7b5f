# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for `--p4`: files that are not programs are refused in one line, and several programs get unique names."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from os_helpers.cache import cache_dir
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.plan.plan import plan_network, plan_run
from sfc_testbed.testbed.program.user_program import (
    compiled_program,
    declarations_of,
    program_file,
    read_program,
    read_programs,
)
from softswitch.p4c import program_folder
from tests.switch_bmv2.program.recompile import needs_p4c
from tests.testbed.program.own import OURS, renamed

_PORT = """
#include <core.p4>
#include <v1model.p4>
#include "include/types.p4"
#include "include/constants.p4"
struct h_t {}
struct m_t { bytes_t held; }
parser P(packet_in p, out h_t h, inout m_t m, inout standard_metadata_t s) { state start { transition accept; } }
control V(inout h_t h, inout m_t m) { apply {} }
control I(inout h_t h, inout m_t m, inout standard_metadata_t s) { apply { s.egress_spec = LIMIT; } }
control E(inout h_t h, inout m_t m, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in h_t h) { apply {} }
V1Switch(P(), V(), I(), E(), V(), D()) main;
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a temporary folder the current one, for relative paths."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _refusal(word: str) -> str:
    with pytest.raises(UsageError) as refused:
        read_program(word)
    return str(refused.value)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "neither P4 (its name ends in .p4) nor JSON: Expecting value"),
        ("{}", "not a P4 program as p4c-bm2-ss compiles it (BMv2 JSON of version 2)"),
        ("[" * 100_000, "not a P4 program"),
        ('{"a": 1 "b": 2}', "neither P4 (its name ends in .p4) nor JSON"),
        (renamed('"pipelines"', '"pipes"'), "not a P4 program"),
        (renamed('"name" : "SfcIngress.bts.bts_trigger"', '"name" : 5'), "not a P4 program"),
        (renamed('"bitwidth" : 48', '"bitwidth" : "48"'), "not a P4 program"),
    ],
    ids=lambda text: text[:20],
)
def test_a_file_that_is_not_a_program_is_refused(content: str, expected: str, folder: Path) -> None:
    (folder / "x.json").write_text(content)
    assert _refusal("x.json").startswith(f"--p4 x.json: {expected}")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('"version" : [2,', '"version" : [3,', "version 3.23 is not one of 2.0 to 2.24 at $.__meta__.version"),
        ('"bitwidth" : 48', '"bitwidth" : [48]', "expected an integer, found an array of 1 at $."),
        ('"name" : "SfcIngress.bts.bts_trigger"', '"name" : "\\ud800"', "is not valid Unicode at $."),
    ],
)
def test_the_place_of_a_fault_is_named(old: str, new: str, fault: str, folder: Path) -> None:
    (folder / "x.json").write_text(renamed(old, new))
    start, reason = _refusal("x.json").split(" (BMv2 JSON of version 2): ")
    assert start == "--p4 x.json: not a P4 program as p4c-bm2-ss compiles it"
    assert fault in reason


@pytest.mark.parametrize("edit", [("// by hand\n", ""), ("\ufeff", ""), ("", "text\nwith a break")])
def test_a_program_that_bmv2_reads_is_read(edit: tuple[str, str], folder: Path) -> None:
    """p4c copies a line break in a string of a program as it is."""
    start, words = edit
    text = start + renamed('"program" : "', f'"program" : "{words}')
    (folder / "x.json").write_text(text)
    program = read_program("x.json")
    assert program is not None and program.text == text.removeprefix("\ufeff")
    assert [table.name for table in declarations_of(program).tables()]


def test_a_file_that_cannot_be_read_is_refused(folder: Path) -> None:
    (folder / "bytes").write_bytes(b"\xff")
    assert _refusal("nothing.json") == "--p4 nothing.json: No such file or directory"
    assert _refusal("nothing.p4") == "--p4 nothing.p4: No such file or directory"
    assert _refusal(".") == "--p4 . is not a regular file"
    assert _refusal("bytes") == "--p4 bytes is not UTF-8 text (byte 0)"


def test_without_a_compiler_the_message_suggests_a_compiled_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "x.p4").write_text("")
    monkeypatch.setenv("PATH", str(folder))
    assert _refusal("x.p4") == ("--p4 x.p4: no p4c-bm2-ss on the PATH to compile it; a compiled .json needs none")


@needs_p4c
def test_includes_beside_a_source_take_precedence_over_the_testbeds(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    (folder / "mine" / "include").mkdir(parents=True)
    (folder / "mine" / "include" / "constants.p4").write_text("#define LIMIT 7\n")
    (folder / "mine" / "port.p4").write_text(_PORT)
    user_program = read_program("mine/port.p4")
    assert user_program is not None and user_program.name == "port"
    assert (user_program.path, "0x0007" in user_program.text) == (str(folder / "mine" / "port.p4"), True)
    cached_files = set(program_folder().iterdir())
    assert read_program("mine/port.p4") == user_program
    assert set(program_folder().iterdir()) == cached_files
    (folder / "mine" / "include" / "constants.p4").write_text("#define LIMIT 9\n")
    changed = read_program("mine/port.p4")
    assert changed is not None and "0x0009" in changed.text


def test_several_programs_get_the_shortest_unique_names(folder: Path) -> None:
    for place in ("a", "b"):
        (folder / place).mkdir()
        for name in ("x.json", "y.json", "my prog.json", "x.bmv2"):
            (folder / place / name).write_text(OURS)

    def names(*words: str) -> list[str | None]:
        return [None if program is None else program.name for program in read_programs(words)]

    assert names("a/x.json", "built-in", "a/y.json") == ["x", None, "y"]
    assert names("a/x.json", "a/x.bmv2") == ["x.json", "x.bmv2"]
    assert names("a/x.json", "b/x.json") == ["a-x", "b-x"]
    assert names("a/my prog.json") == ["my_prog"]
    for twice in (("a/x.json", "./a/x.json"), ("built-in", "built-in")):
        with pytest.raises(UsageError, match="named twice"):
            names(*twice)


def test_an_edit_after_reading_does_not_change_the_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    (folder / "x.json").write_text(OURS)
    user_program = read_program("x.json")
    (folder / "x.json").write_text("{}")
    assert user_program is not None
    assert program_file(user_program) == program_file(replace(user_program, word="y.json"))
    assert program_file(user_program).is_relative_to(cache_dir())
    assert program_file(user_program).read_text() == OURS
    assert program_file(None) != program_file(user_program)


def test_config_and_command_repeat_the_run(folder: Path) -> None:
    user_program = compiled_program("my prog.json", str(folder / "my prog.json"), "my_prog", OURS)
    digest = hashlib.sha256(OURS.encode()).hexdigest()
    request = RunSpec("incast", clock="virtual", program=user_program)
    config = plan_run(request).config
    assert config.program is not None
    assert config.program.as_dict() == {"name": "my_prog", "path": user_program.path, "sha256": digest}
    assert config.variant == "sfc (my_prog)"
    assert config.command.endswith(" --p4 'my prog.json'")
    assert plan_network(request).config.command.endswith(" --p4 'my prog.json'")
    built_in = plan_run(replace(request, program=None)).config
    assert built_in.program is not None
    assert built_in.program.as_dict() == {"name": None, "path": "switch-bmv2/artifacts/sfc.json", "sha256": digest}
    assert (built_in.variant, "--p4" in built_in.command) == ("sfc", False)
