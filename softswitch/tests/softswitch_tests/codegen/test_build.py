# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests of the build: the cache, concurrent builds and compiler errors."""

import errno
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from os_helpers.cache import CacheRefused, cache_dir
from softswitch import build
from softswitch.build import BuildError, build_library
from softswitch.codegen import generate as generator
from softswitch.engine import SwitchEngine
from softswitch_tests.pipeline.harness import PROGRAMS


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "sfc-testbed"


def test_second_build_is_cached_and_programs_share_objects(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second build writes no file, parses no program and reads no source; another program adds only its own files."""
    first = build_library(PROGRAMS / "l3.json")
    file_times = {p: p.stat().st_mtime_ns for p in cache.iterdir()}
    with monkeypatch.context() as patch:
        patch.setattr(generator, "generate", lambda path: pytest.fail(f"{path} is generated again"))
        patch.setattr(build._Builder, "here", lambda *_: pytest.fail("the sources are read again"))
        assert build_library(PROGRAMS / "l3.json") == first
    assert {p: p.stat().st_mtime_ns for p in cache.iterdir()} == file_times
    build_library(PROGRAMS / "again.json")
    assert len(list(cache.iterdir())) == len(file_times) + 4  # C, object, library and the note about it


def test_a_change_of_equal_length_and_time_is_built_again(cache: Path, tmp_path: Path) -> None:
    path = tmp_path / "program.json"
    text = (PROGRAMS / "l3.json").read_text()
    path.write_text(text)
    os.utime(path, ns=(1, 1))
    first = build_library(path)
    path.write_text(text.replace("ttl", "ttx"))
    os.utime(path, ns=(1, 1))
    assert build_library(path) != first


@pytest.mark.parametrize("content", ["", "{", "[1, 2]", '["l3.so", 3]', '["../../l3.so", [1, 2, 3, 4]]'])
def test_a_damaged_note_is_written_again(content: str, built: Path, cache: Path) -> None:
    shutil.copytree(built, cache)
    library = build_library(PROGRAMS / "l3.json")
    [note] = cache.glob(f"{build._NOTE}-*")
    text = note.read_text()
    note.write_text(content)
    assert build_library(PROGRAMS / "l3.json") == library
    assert note.read_text() == text


@pytest.mark.long
def test_concurrent_builds_give_the_same_file(cache: Path) -> None:
    with ThreadPoolExecutor(2) as pool:
        paths = set(pool.map(build_library, [PROGRAMS / "l3.json"] * 2))
    assert len(paths) == 1
    assert not list(cache.glob(".build-*"))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cache in which a program is built, to be copied and damaged."""
    folder = tmp_path_factory.mktemp("built")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder))
        build_library(PROGRAMS / "l3.json")
    return folder / "sfc-testbed"


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()
    (path / "something").touch()
    path.chmod(0)


def _dead_link(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "folder": _folder,
    "dead-link": _dead_link,
    "unreadable": lambda path: path.chmod(0),
}


@pytest.mark.parametrize("suffix", [".so", ".o", ".c"])
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_cache_file_is_built_again(
    damage: str, suffix: str, built: Path, cache: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The build prints one line about the damaged file. Other files are read only if the library is missing too."""
    if damage == "unreadable" and os.geteuid() == 0:
        pytest.skip("root may read everything")
    shutil.copytree(built, cache)
    library = build_library(PROGRAMS / "l3.json")
    [*_, damaged] = sorted(cache.glob(f"l3-*{suffix}"))
    DAMAGES[damage](damaged)
    if suffix != ".so":
        library.unlink()
    assert capfd.readouterr().err == ""
    again = build_library(PROGRAMS / "l3.json")
    assert capfd.readouterr().err == f"{damaged} is damaged and is made again\n"
    with SwitchEngine(again) as engine:
        assert engine.command("show_tables")
    assert build_library(PROGRAMS / "l3.json") == again
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "moment", [*(pytest.param(step, marks=pytest.mark.long) for step in ("generate", "compile")), "link"]
)
def test_cache_removed_during_a_build_is_filled_again(
    moment: str, built: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user may remove ~/.cache at any moment."""
    if moment != "generate":
        shutil.copytree(built, cache)
        for path in cache.glob("l3-*.so" if moment == "link" else "l3-*o"):
            path.unlink()
    removed: list[None] = []

    def remove_once() -> None:
        if not removed:
            removed.append(None)
            shutil.rmtree(cache)

    run = build._run

    def run_meanwhile(words: tuple[str, ...]) -> str:
        if {"compile": "-c", "link": "-shared"}.get(moment) in words:
            remove_once()
        return run(words)

    generate = generator.generate

    def generate_meanwhile(path: Path, **options: bool) -> str:
        if moment == "generate":
            remove_once()
        return generate(path, **options)

    monkeypatch.setattr(build, "_run", run_meanwhile)
    monkeypatch.setattr(generator, "generate", generate_meanwhile)
    with SwitchEngine(build_library(PROGRAMS / "l3.json")) as engine:
        assert engine.command("show_tables")
    assert removed


def test_library_that_cannot_be_loaded_is_a_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "empty.so").touch()
    with pytest.raises(CacheRefused, match=r"empty\.so cannot be loaded .*set XDG_CACHE_HOME"):
        SwitchEngine(tmp_path / "empty.so")


@pytest.mark.parametrize(
    ("words", "number"),
    [
        ("ld: final link failed: No space left on device", errno.ENOSPC),
        ("as: out.o: File too large", errno.EFBIG),
        ("collect2: fatal error: ld terminated with signal 25 [File size limit exceeded]", errno.EFBIG),
    ],
)
def test_compiler_without_disk_space_raises_oserror(
    words: str, number: int, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho '{words}' >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CC", str(compiler))
    with pytest.raises(OSError, match="for the C compiler") as caught:
        build_library(PROGRAMS / "l3.json")
    assert caught.value.errno == number
    assert caught.value.filename == str(cache_dir())
    assert not list(cache.glob(".build-*"))


def test_compiler_errors_include_the_compilers_output(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(BuildError, match="no-such-compiler"):
        build_library(PROGRAMS / "l3.json")
    monkeypatch.delenv("CC")
    monkeypatch.setattr(generator, "generate", lambda _, **options: "int broken(void) { return missing; }\n")
    with pytest.raises(BuildError, match="missing"):
        build_library(PROGRAMS / "l3.json")
    assert not list(cache.glob(".build-*"))
