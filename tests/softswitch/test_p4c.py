# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""P4 sources where JSON is wanted."""

from __future__ import annotations

from pathlib import Path

import pytest

from softswitch.p4c import CompileError, program_json

COMPILER = """#!/bin/sh
# p4c-bm2-ss --std p4-16 ./SOURCE (--version | -E | -o JSON)
case "$4" in
--version) echo 1 ;;
-E) cat "$3" ;;
*) if grep -q wrong "$3"; then echo "$3(1): error: wrong" >&2; exit 1; fi; cp "$3" "$5" ;;
esac
"""


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only program on the PATH that compiles P4, with a cache of its own."""
    path = tmp_path / "bin" / "p4c-bm2-ss"
    path.parent.mkdir()
    path.write_text(COMPILER)
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{path.parent}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return path


def test_json_is_taken_as_it_is(tmp_path: Path) -> None:
    """Whether it is there or not: whoever reads it says so."""
    assert program_json(tmp_path / "basic.json") == tmp_path / "basic.json"


def test_a_source_is_compiled_into_the_cache(compiler: Path, tmp_path: Path) -> None:
    """By its content: an edit makes another file, and nothing half made stays."""
    source = tmp_path / "basic.p4"
    source.write_text("one")
    first = program_json(source)
    assert (first.read_text(), first.suffix) == ("one", ".json")
    assert program_json(source) == first
    source.write_text("two")
    second = program_json(source)
    assert {each.read_text() for each in first.parent.iterdir()} == {"one", "two"}
    assert second.parent == first.parent


def test_the_compilers_words_are_kept(compiler: Path, tmp_path: Path) -> None:
    """In one line, and nothing else is."""
    source = tmp_path / "basic.p4"
    source.write_text("wrong")
    with pytest.raises(CompileError, match=r"^p4c-bm2-ss: \./basic\.p4\(1\): error: wrong$"):
        program_json(source)


def test_a_shell_reads_no_name(compiler: Path, tmp_path: Path) -> None:
    """p4c hands the source's to one; folders are left out, since it is called where the source lies."""
    folder = tmp_path / "a; touch b"
    folder.mkdir()
    (folder / "basic.p4").write_text("one")
    assert program_json(folder / "basic.p4").read_text() == "one"
    hostile = tmp_path / "$(touch b).p4"
    hostile.write_text("one")
    with pytest.raises(CompileError, match="p4c takes names of letters"):
        program_json(hostile)


def test_without_p4c_the_json_is_asked_for(compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line."""
    (tmp_path / "basic.p4").write_text("one")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CompileError, match="no p4c-bm2-ss on the PATH"):
        program_json(tmp_path / "basic.p4")


def test_a_source_that_is_not_there_is_no_matter_of_p4cs(compiler: Path, tmp_path: Path) -> None:
    """The system says it in one line."""
    with pytest.raises(FileNotFoundError):
        program_json(tmp_path / "nothing.p4")
