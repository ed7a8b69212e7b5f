# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for building the host engine: parallel builds, damaged builds and failures."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from os_helpers.cache import CacheRefused, private_cache
from os_helpers.kept import seal
from sfc_testbed.native import build, first_use
from sfc_testbed.native.build import BuildFailed, build_engine
from sfc_testbed.native.modules import INTERPRETED, CompiledFinder, engine_folder
from sfc_testbed.native.sources import EXTENSIONS, MANIFEST, algorithms, build_name, engine
from sfc_testbed.place import ROOT
from tests.appearing import await_file
from tests.testbed import running


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a cache for this test, which does not exist yet."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv(INTERPRETED, raising=False)
    return tmp_path / "home" / "sfc-testbed"


def test_two_parallel_builds_leave_one_whole_engine(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The barrier lets both builds start before either is finished."""
    barrier = threading.Barrier(2, timeout=60)

    def compile_both(work: Path, target: Path) -> None:
        barrier.wait()
        (target / MANIFEST).write_text("{}")

    monkeypatch.setattr(build, "_compile", compile_both)
    monkeypatch.setattr(build, "missing", lambda: None)
    with ThreadPoolExecutor(2) as pool:
        builds = [future.result() for future in [pool.submit(build_engine) for _ in range(2)]]
    assert builds[0] == builds[1] and (builds[0] / MANIFEST).exists()
    assert list(cache.iterdir()) == [builds[0]]


@pytest.mark.parametrize("damage", ["module", "manifest", "emptied", "file"])
def test_a_damaged_engine_is_built_again_by_the_next_run(
    damage: str, cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def compile_it(work: Path, target: Path) -> None:
        (target / MANIFEST).write_text("{}")
        (target / "nic.so").write_text("code")

    monkeypatch.setattr(build, "_compile", compile_it)
    for module in (build, first_use):
        monkeypatch.setattr(module, "missing", lambda: None)
    monkeypatch.setattr(first_use, "_compile_apart", first_use.compile_engine)
    monkeypatch.setattr(sys, "argv", [str(ROOT / "runner.py"), "run", "incast"])
    monkeypatch.setattr(signal, "pthread_sigmask", lambda how, numbers: set())
    restarts: list[Sequence[str]] = []
    monkeypatch.setattr(os, "execv", lambda path, words: restarts.append(words))
    folder = build_engine()
    shutil.copytree(folder, folder.with_name(f"{folder.name[:-8]}00000000"))  # a build with older algorithms is whole
    if damage == "module":
        (folder / "nic.so").write_bytes(b"")
    elif damage == "manifest":
        (folder / MANIFEST).write_text("{")
    else:
        shutil.rmtree(folder)
        folder.mkdir() if damage == "emptied" else folder.touch()
    assert engine_folder() != folder
    first_use.prepare()
    line = "the host engine in the cache is damaged; compiling it again: about a minute\n"
    assert capsys.readouterr().err == line
    assert (folder / "nic.so").read_text() == "code"
    assert engine_folder() == folder
    assert len(restarts) == 1
    first_use.prepare()
    assert (capsys.readouterr().err, len(restarts)) == ("", 1)


def test_an_engine_that_is_removed_during_use_is_refused(cache: Path) -> None:
    """Interpreted modules must not be mixed with compiled modules that are already loaded."""
    private_cache()
    folder = cache / build_name()
    folder.mkdir()
    entry: dict[str, object] = {"file": "gone.so", "source": None, "digest": None, "imports": [], "classes": {}}
    (folder / MANIFEST).write_text(json.dumps({"hosts.gone": entry}))
    finder = CompiledFinder(folder)
    with pytest.raises(CacheRefused, match="was removed while the command used it"):
        finder.find_spec("hosts.gone", None)


def test_without_a_compiler_the_sources_run_and_one_line_is_printed(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    command = [sys.executable, "-m", "sfc_testbed.native"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
    assert len(done.stderr.splitlines()) == 1
    assert "runs interpreted, several times slower: no C compiler (no-such-compiler)" in done.stderr
    code = "import sfc_testbed.hosts.transport.nic as nic; print(nic.__file__)"
    imported = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert imported.stdout.strip() == str(ROOT / "hosts" / "transport" / "nic.py")


def test_the_first_error_of_a_failing_compiler_is_printed_in_one_line(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def translate(work: Path) -> list[str]:
        broken = work / "broken.c"
        broken.write_text("this is no C;\n")
        extension = {"name": "broken", "sources": [str(broken)], "include_dirs": [], "flags": []}
        (work / EXTENSIONS).write_text(json.dumps([extension]))
        return [*engine().modules]

    monkeypatch.setattr(build, "_translate", translate)
    monkeypatch.setattr(build, "missing", lambda: None)
    monkeypatch.setattr(first_use, "missing", lambda: "already checked")
    assert not first_use.compile_engine()
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1 and "broken.c:1:" in lines[0] and "error" in lines[0]
    assert list(cache.iterdir()) == []


def test_an_algorithm_that_the_compiler_refuses_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = algorithms()[0]

    def run(command: Sequence[str], **_: Any) -> subprocess.CompletedProcess[str]:
        output = f"{refused}:3: error: Nested class definitions not supported\n" if refused in command else ""
        return subprocess.CompletedProcess(command, 1 if output else 0, output, "")

    monkeypatch.setattr(subprocess, "run", run)
    assert build._translate(tmp_path) == [*engine().modules, *algorithms()[1:]]
    refused = engine().modules[0]
    with pytest.raises(BuildFailed, match=f"{refused}:3: error: Nested"):
        build._translate(tmp_path)


def test_only_the_command_compiles_and_restarts_itself(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[None] = []
    restarts: list[Sequence[str]] = []
    can_be_compiled = False

    def compile_apart() -> None:
        compiled.append(None)
        if can_be_compiled:
            (cache / build_name()).mkdir()
            (cache / build_name() / MANIFEST).write_text("{}")
            seal(cache / build_name())

    monkeypatch.setattr(first_use, "_compile_apart", compile_apart)
    monkeypatch.setattr(os, "execv", lambda path, words: restarts.append([path, *words]))
    monkeypatch.setattr(signal, "pthread_sigmask", lambda how, numbers: set())
    first_use.prepare()
    monkeypatch.setattr(sys, "argv", [str(ROOT / "runner.py"), "run", "incast"])
    monkeypatch.setenv(INTERPRETED, "1")
    first_use.prepare()
    assert not compiled
    monkeypatch.delenv(INTERPRETED)
    first_use.prepare()
    assert (len(compiled), restarts) == (1, [])
    can_be_compiled = True
    for _ in range(2):
        first_use.prepare()
    assert len(compiled) == 2
    assert restarts == [[sys.executable, sys.executable, *sys.argv]]


@pytest.mark.parametrize("words", [["incast", "--set", "degre=4"], ["incast", "--workers", "99"]])
def test_a_refused_command_compiles_nothing(words: list[str], cache: Path) -> None:
    """The line appears at once, while compilation would take a minute."""
    done = running.run("run", *words, "--clock", "virtual")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert list(cache.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_the_compiler_ends_with_the_run_and_leaves_nothing(number: signal.Signals, cache: Path) -> None:
    command = running.command("run", "incast", "--clock", "virtual", "--out", str(cache.parent))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None and "compiling" in process.stderr.readline()
        await_file(cache, ".build-*/c", process)
        process.send_signal(number)
        errors = process.stderr.read()  # end of file: no process has stderr open any more
    if number == signal.SIGTERM:
        assert (process.returncode, errors) == (130, "runner.py: interrupted\n")
    assert not [entry for entry in cache.iterdir() if entry.is_dir()]
