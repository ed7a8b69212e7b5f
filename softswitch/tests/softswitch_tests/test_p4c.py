# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of compiling P4 sources to JSON."""

from pathlib import Path

import pytest

from softswitch.p4c import CompileError, program_json

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
