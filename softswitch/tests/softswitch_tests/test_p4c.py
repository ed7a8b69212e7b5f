# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of compiling P4 sources to JSON."""

import shutil
from pathlib import Path

import pytest

from softswitch.p4c import COMPILER as COMPILER_NAME
from softswitch.p4c import CompileError, program_json

PROGRAM_SOURCES = Path(__file__).resolve().parent / "programs"

COMPILER = """#!/bin/sh
# p4c-bm2-ss --std p4-16 ./SOURCE (--version | -E | -o JSON)
case "$4" in
--version) echo 1 ;;
-E) cat "$3" ;;
*) if grep -q unused "$3"; then
     for line in 1 2; do printf '%s(%s): [--Wwarn=unused] warning: unused\n a = 1;\n ^\n' "$3" "$line" >&2; done
   fi
   if grep -q wrong "$3"; then echo "$3(1): error: wrong" >&2; exit 1; fi; cp "$3" "$5" ;;
esac
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a fake p4c as the only compiler on the PATH, with a separate cache."""
    path = tmp_path / "bin" / "p4c-bm2-ss"
    path.parent.mkdir()
    path.write_text(COMPILER)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return path


def test_a_source_is_compiled_into_the_cache(compiler: Path, tmp_path: Path) -> None:
    source = tmp_path / "basic.p4"
    source.write_text("one")
    first = program_json(source)
    assert (first.read_text(), first.suffix) == ("one", ".json")
    assert program_json(source) == first
    source.write_text("two")
    second = program_json(source)
    assert {path.read_text() for path in first.parent.iterdir()} == {"one", "two"}
    assert second.parent == first.parent


def test_compiler_errors_are_shown_in_one_line(compiler: Path, tmp_path: Path) -> None:
    source = tmp_path / "basic.p4"
    for text in ("wrong", "unused and wrong"):  # warnings come before the error, and are not shown
        source.write_text(text)
        with pytest.raises(CompileError, match=r"^p4c-bm2-ss: \./basic\.p4\(1\): error: wrong$"):
            program_json(source)


@pytest.mark.parametrize(
    ("output", "summary"),
    [
        (
            "./basic.p4(35):syntax error, unexpected IDENTIFIER, expecting ;\n        meta\n        ^^^^\n"
            "[--Werror=overlimit] error: 1 errors encountered, aborting compilation\n",
            "./basic.p4(35):syntax error, unexpected IDENTIFIER, expecting ;; meta",
        ),
        (
            "./basic.p4:5:10: fatal error: x.p4: No such file or directory\n    5 | #include <x.p4>\n      |     ^~~\n"
            "compilation terminated.\n[--Werror=I/O error] error: Preprocessor returned exit code 256; aborting\n",
            "./basic.p4:5:10: fatal error: x.p4: No such file or directory; 5 | #include <x.p4>",
        ),
        (
            "./basic.p4(39): [--Werror=type-error] error: 'a = b'\n    a = b;\n    ^\n  ---- Actual error:\n"
            "./basic.p4(8): Cannot cast implicitly type 'h' to type 'bit<48>'\n",
            "./basic.p4(39): [--Werror=type-error] error: 'a = b'; a = b;; "
            "./basic.p4(8): Cannot cast implicitly type 'h' to type 'bit<48>'",
        ),
        (
            "./basic.p4(15): [--Wwarn=unused] warning: parser 'P' is unused\n"
            "[--Wwarn=missing] warning: Program does not contain a `main' module\n",
            "[--Wwarn=missing] warning: Program does not contain a `main' module",
        ),
        (
            "./basic.p4(13): [--Werror=overlimit] error: 99999999999: does not support bitstrings this large\n"
            "struct m { bit<99999999999>\n               ^^^^^^^^^^^\n"
            "[--Werror=overlimit] error: 1 errors encountered, aborting compilation\n",
            "./basic.p4(13): [--Werror=overlimit] error: 99999999999: does not support bitstrings this large; "
            "struct m { bit<99999999999>",
        ),
        (
            "./basic.p4(9): [--Wwarn=unused] warning: unused\n"
            "./basic.p4(32): [--Wwarn=deprecated] warning: clone3: Using deprecated feature clone3.\n clone3(x);\n"
            "/include/v1model.p4(595)\nextern void clone3<T>\n            ^^^^^^\n"
            "/include/v1model.p4(595): [--Werror=unknown] error: clone3: unknown extern function\n",
            "./basic.p4(32): [--Wwarn=deprecated] warning: clone3: Using deprecated feature clone3.; "
            "/include/v1model.p4(595): [--Werror=unknown] error: clone3: unknown extern function",
        ),
        (
            "/include/v1model.p4(751): [--Werror=type-error] error: 'package V1Switch'\npackage V1Switch<H, M>(\n"
            "  ---- Actual error:\n  /include/v1model.p4(756): dep: No argument supplied for parameter\n"
            "  ---- Originating from:\n  ./sub/basic.p4(75): Constructor invocation does not match 'V1Switch'\n",
            "./sub/basic.p4(75): Constructor invocation does not match 'V1Switch'; "
            "/include/v1model.p4(751): [--Werror=type-error] error: 'package V1Switch'; package V1Switch<H, M>(",
        ),
    ],
    ids=["syntax", "include", "type", "main", "width", "deprecated", "constructor"],
)
def test_file_line_and_reason_of_an_error_are_shown(output: str, summary: str, compiler: Path, tmp_path: Path) -> None:
    (tmp_path / "output").write_text(output)
    compiler.write_text(f'#!/bin/sh\ncase "$4" in\n-o) cat {tmp_path}/output >&2; exit 1 ;;\nesac\n')
    source = tmp_path / "basic.p4"
    source.write_text("one")
    with pytest.raises(CompileError) as caught:
        program_json(source)
    assert str(caught.value) == f"p4c-bm2-ss: {summary}"


BROKEN = {
    "semicolon": ("std.egress_spec = port;", "std.egress_spec = port", "(35):syntax error, unexpected IDENTIFIER"),
    "brace": ("{ mark_to_drop(std); }", "{ mark_to_drop(std); ", "(33):syntax error, unexpected ACTION"),
    "parenthesis": ("if (!hdr.ipv4.isValid()", "if !hdr.ipv4.isValid()", "(55):syntax error, unexpected !"),
    "character": ("size = 64;", "size = 64 $ 2;", "(44):syntax error, unexpected UNEXPECTED_TOKEN"),
    "keyword": ("action route(", "action table(", "(33):syntax error, unexpected TABLE"),
    "type": ("bit<32> next_hop; }", "bitt<32> next_hop; }", "(13):syntax error, unexpected IDENTIFIER"),
    "no include": ("#include <v1model.p4>", "", "(15):syntax error, unexpected IDENTIFIER"),
    "include": ("<v1model.p4>", "<v1modell.p4>", ":5:10: fatal error: v1modell.p4: No such file or directory"),
    "comment": ("// Plain", "/* Plain", ":3:1: error: unterminated comment"),
    "name": ("meta.next_hop = next_hop;", "meta.next_hop = nexthop;", "(35): [--Werror=not-found] error: nexthop"),
    "field": ("hdr.ipv4.ttl - 1", "hdr.ipv4.ttll - 1", "(36): [--Werror=type-error] error: Field ttll is not a member"),
    "types": ("dst = dst;", "dst = hdr.ipv4;", "Cannot cast implicitly type 'header ipv4_h' to type 'bit<48>'"),
    "state": ("0x0800: ipv4;", "0x0800: ipv5;", "(18): [--Werror=not-found] error: ipv5: declaration not found"),
    "width": ("bit<32> next_hop; }", "bit<99999999999> next_hop; }", "(13): [--Werror=overlimit] error: 99999999999:"),
    "old API": ("mark_to_drop(std)", "clone3(CloneType.I2E, 32w1, std)", "(32): [--Wwarn=deprecated] warning: clone3:"),
    "arguments of main": ("V1Switch(P(), ", "V1Switch(", "(75): Constructor invocation"),
    "twice": ("action rewrite(", "action route(", "(39): [--Werror=duplicate] error: route: Duplicates declaration"),
}


@pytest.mark.skipif(shutil.which(COMPILER_NAME) is None, reason="no p4c-bm2-ss on the PATH")
@pytest.mark.parametrize("kind", BROKEN)
def test_broken_programs_keep_their_place(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    right, wrong, words = BROKEN[kind]
    text = (PROGRAM_SOURCES / "l3.p4").read_text()
    assert right in text
    source = tmp_path / "l3.p4"
    source.write_text(text.replace(right, wrong))
    with pytest.raises(CompileError) as caught:
        program_json(source)
    assert str(caught.value).startswith("p4c-bm2-ss: ./l3.p4")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_with_shell_characters_are_refused(compiler: Path, tmp_path: Path) -> None:
    """p4c passes the source's name to a shell. It runs in the source's folder, so folder names are not passed."""
    folder = tmp_path / "a; touch b"
    folder.mkdir()
    (folder / "basic.p4").write_text("one")
    assert program_json(folder / "basic.p4").read_text() == "one"
    hostile = tmp_path / "$(touch b).p4"
    hostile.write_text("one")
    with pytest.raises(CompileError, match="p4c takes names of letters"):
        program_json(hostile)


def test_missing_p4c_is_an_error(compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "basic.p4").write_text("one")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompileError, match="no p4c-bm2-ss on the PATH"):
        program_json(tmp_path / "basic.p4")


def test_absent_source_raises_file_not_found(compiler: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        program_json(tmp_path / "nothing.p4")
