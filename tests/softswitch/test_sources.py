# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks the structure of the C code: layers, no cycles between files, and style rules beyond clang-format.

Calls are read from object files, which list the symbols that they define and use. A function whose address is taken
therefore counts like a called function.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from softswitch.build import SOURCE_DIR
from softswitch.codegen.generate import generate
from softswitch_tests.pipeline.harness import PROGRAMS

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(SOURCE_DIR.rglob("*.c"))
HEADERS = sorted(SOURCE_DIR.rglob("*.h"))
EVERYWHERE = sorted(
    path
    for folder in ("softswitch/src", "softswitch/tests", "bench", "tests")
    for path in (ROOT / folder).rglob("*.[ch]")
)

# Lowest layer first; a folder may use only itself and the folders before it.
LAYERS = (
    "common",
    "arithmetic",
    "runtime",
    "traffic",
    "v1model",
    "switch",
    "control/words",
    "control",
    "ports",
    "process",
)
SEAM = "runtime/pipeline.h"
GENERATED_CODE_INCLUDES = "runtime/runtime.h"
MOST_LINES_OF_A_FUNCTION = 60
MOST_LINES_OF_A_FILE = 600

Graph = dict[str, set[str]]


def _name(path: Path) -> str:
    return path.relative_to(SOURCE_DIR).as_posix()


def _folder(name: str) -> str:
    return name.rpartition("/")[0]


def _cycle(graph: Mapping[str, set[str]]) -> list[str] | None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


def _symbols(source: Path, objects: Path) -> tuple[set[str], set[str]]:
    compiled = objects / f"{_name(source).replace('/', '-')}.o"
    compiler = shlex.split(os.environ.get("CC", "cc"))
    flags = ("-std=gnu11", "-O0", f"-I{SOURCE_DIR}", "-c", "-o")
    subprocess.run([*compiler, *flags, compiled, source], check=True)
    listed = subprocess.run(["nm", "-P", "-g", compiled], capture_output=True, text=True, check=True)
    rows = [line.split()[:2] for line in listed.stdout.splitlines()]
    return {name for name, kind in rows if kind != "U"}, {name for name, kind in rows if kind == "U"}


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    objects = tmp_path_factory.mktemp("objects")
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        symbols = dict(zip(SOURCES, pool.map(lambda source: _symbols(source, objects), SOURCES), strict=True))
    home = {symbol: _name(source) for source, (defined, _) in symbols.items() for symbol in defined}
    return {
        _name(source): {home[symbol] for symbol in wanted if symbol in home} for source, (_, wanted) in symbols.items()
    }


def _includes() -> Graph:
    return {
        _name(path): set(re.findall(r'^#include "([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE))
        for path in SOURCES + HEADERS
    }


def _functions(path: Path) -> Iterator[tuple[int, int]]:
    """Yield line and length of each function, relying on clang-format's layout."""
    start = 0
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line == "{":
            start = number
        elif line == "}" and start:
            yield start, number - start - 1
            start = 0


def test_calls_between_sources_have_no_cycle(calls: Graph) -> None:
    assert sum(map(len, calls.values())) > len(SOURCES), "the compiler's answer is not understood"
    assert _cycle(calls) is None


def test_includes_between_headers_have_no_cycle() -> None:
    """An include guard would hide a cycle."""
    includes = _includes()
    assert {name for used in includes.values() for name in used} <= set(includes), "a header that is not there"
    assert _cycle(includes) is None


def test_folders_use_only_lower_folders(calls: Graph) -> None:
    includes = _includes()
    assert {_folder(name) for name in includes} == set(LAYERS)
    wrong = [
        f"{user} uses {used}"
        for graph in (calls, includes)
        for user, all_used in graph.items()
        for used in all_used
        if LAYERS.index(_folder(used)) > LAYERS.index(_folder(user))
    ]
    assert not wrong


def test_target_includes_only_one_runtime_header() -> None:
    """The internals of a pipeline are visible only to the runtime and generated code."""
    seen = {
        f"{user} includes {used}"
        for user, all_used in _includes().items()
        for used in all_used
        if _folder(used) == "runtime" != _folder(user) and used != SEAM
    }
    assert not seen


@pytest.mark.parametrize("program", sorted(PROGRAMS.glob("*.json")), ids=lambda path: path.stem)
def test_generated_code_includes_one_header(program: Path) -> None:
    """No other header may become part of the interface unnoticed."""
    assert re.findall(r"^\s*#\s*include.*$", generate(program), re.MULTILINE) == [
        f'#include "{GENERATED_CODE_INCLUDES}"'
    ]


@pytest.mark.parametrize("path", EVERYWHERE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_source_follows_style_limits(path: Path) -> None:
    """`sizeof(x)` has parentheses, and functions and files are not too long."""
    text = path.read_text(encoding="utf-8")
    bare = [n for n, line in enumerate(text.splitlines(), start=1) if re.search(r"\bsizeof\b(?!\()", line)]
    assert not bare, f"sizeof without parentheses in lines {bare}"
    long = [line for line, length in _functions(path) if length > MOST_LINES_OF_A_FUNCTION]
    assert not long, f"functions of more than {MOST_LINES_OF_A_FUNCTION} lines at {long}"
    assert text.count("\n") <= MOST_LINES_OF_A_FILE
