# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""User programs of `--p4`: reading or compiling them, checking that they are programs, and naming them.

The program's text is part of a run's plan, so that a later edit of the file or another machine changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from os_helpers.cache import CacheRefused
from os_helpers.kept import DIGITS, CacheGone, kept_file
from sfc_testbed.place import PACKAGE
from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.request.shown import nearest
from sfc_testbed.request.spec import P4Program
from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.program.declared import Program
from sfc_testbed.testbed.program.registered import SWITCH_PROGRAMS
from sfc_testbed.testbed.program.sources import OWN_PROGRAM, SOURCES
from softswitch.codegen.ir.source import CodegenError
from softswitch.p4c import COMPILER, CompileError, compile_source, program_folder

BUILT_IN = "built-in"
"""The argument of `--p4` that selects the testbed's program, for comparisons with other programs."""
MOST_BYTES = 64_000_000
_JSON_MAJOR = 2
_NAME = "the file"
_LONGEST_NAME = 32


def compiled_program(word: str, path: str, name: str, text: str) -> P4Program:
    """Return the program of `--p4 WORD` from its BMv2 JSON."""
    return P4Program(path, hashlib.sha256(text.encode()).hexdigest(), name, word, text)


def own_program() -> P4Program:
    """Return the testbed's program in the source tree, without its text."""
    return P4Program(str(OWN_PROGRAM), hashlib.sha256((PACKAGE / OWN_PROGRAM).read_bytes()).hexdigest())


def declarations_of(program: P4Program | None) -> Program:
    """Return the objects that the control plane can name in a user program, or in the testbed's program for None."""
    return _declared((PACKAGE / OWN_PROGRAM).read_text() if program is None else program.text)


@lru_cache(maxsize=8)
def _declared(text: str) -> Program:
    """Parse a program, once for all jobs of a sweep."""
    return Program(_document(text))


def _document(text: str) -> Any:
    """Return the document in a program, which is not always JSON: BMv2 and softswitch also read line breaks in strings.

    Raise CodegenError.
    """
    try:
        return json.loads(text)
    except ValueError:
        from softswitch.codegen.load.document import read_document  # few programs need it

        return read_document(text.encode(), _NAME)


def program_file(program: P4Program | None) -> Path:
    """Return the JSON file of a user program, in the cache, or of the testbed's program for None.

    Raise CacheRefused or OSError.
    """
    if program is None:
        return PACKAGE / OWN_PROGRAM
    text = program.text.encode()
    try:
        return kept_file(
            program_folder(), f"program-{program.sha256[:DIGITS]}", ".json", lambda part: part.write_bytes(text)
        )
    except CacheGone as error:
        raise CacheRefused(f"{error}; run the command again") from error


def read_program(word: str | None) -> P4Program | None:
    """Return the program that `--p4` names, or None for the testbed's. Raise UsageError if it is not a program."""
    return None if word is None else read_programs([word])[0]


def read_programs(words: Sequence[str]) -> list[P4Program | None]:
    """Return the programs named by several `--p4`, each with a unique name.

    Raise UsageError if one is not a program.
    """
    paths = [None if word == BUILT_IN else _path_of(word) for word in words]
    for place, path in enumerate(paths):
        if path in paths[:place]:
            raise UsageError(f"--p4 {words[place]}: named twice")
    own = [path for word, path in zip(words, paths, strict=True) if path is not None and word not in SWITCH_PROGRAMS]
    names = iter(_names(own))
    return [
        None
        if path is None
        else compiled_program(word, str(path), word if word in SWITCH_PROGRAMS else next(names), _read(word, path))
        for word, path in zip(words, paths, strict=True)
    ]


_SPELLINGS: tuple[Callable[[Path], str], ...] = (
    lambda path: path.stem,
    lambda path: path.name,
    lambda path: f"{path.parent.name}-{path.stem}",
    lambda path: f"{path.parent.name}-{path.name}",
)


def _names(paths: Sequence[Path]) -> list[str]:
    """Return unique names in the shortest spelling that makes them so. They become part of folder names."""
    for spelling in _SPELLINGS:
        names = [re.sub(r"[^\w.+-]", "_", spelling(path))[:_LONGEST_NAME] for path in paths]
        if len(set(names)) == len(names):
            return names
    raise UsageError(f"--p4: two P4 programs have the same name, {names[0]!r} among them; rename one of them")


def _path_of(word: str) -> Path:
    """Return the absolute path of the program of an extension, or of a file."""
    row = SWITCH_PROGRAMS.get(word)
    return Path(os.path.normpath(Path(word if row is None else row.path).absolute()))


def _read(word: str, path: Path) -> str:
    try:
        text = read_bounded_text(path, MOST_BYTES)
        if path.suffix == ".p4":
            text = compile_source(path, [PACKAGE / SOURCES]).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"--p4 {word}: {error.strerror}{nearest(word, SWITCH_PROGRAMS)}") from error
    except FileRefused as error:
        raise UsageError(f"--p4 {word} {error}") from error
    except CompileError as error:
        raise UsageError(f"--p4 {word}: {error}") from error
    _check_is_program(word, text)
    return text


def _check_is_program(word: str, text: str) -> None:
    """Raise UsageError unless a text is BMv2 JSON of p4c.

    This checks everything that is read before a switch starts.
    """
    try:
        document = _document(text)
        if document["__meta__"]["version"][0] == _JSON_MAJOR:
            Program(document)
            json.dumps(
                document, ensure_ascii=False
            ).encode()  # JSON may contain lone surrogates, which UTF-8 cannot encode
            return
    except CodegenError as error:
        reason = str(error).removeprefix(f"{_NAME} is not JSON: ")
        raise UsageError(f"--p4 {word}: neither P4 (its name ends in .p4) nor JSON: {reason}") from error
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        pass
    kind = f"a P4 program as {COMPILER} compiles it (BMv2 JSON of version {_JSON_MAJOR})"
    raise UsageError(f"--p4 {word}: not {kind}{_fault_of(text)}")


def _fault_of(text: str) -> str:
    """Return what softswitch says about a program that is refused, with the place, or nothing if it accepts it."""
    from softswitch.codegen.load.document import read_document
    from softswitch.codegen.load.program import load_program

    try:
        load_program(read_document(text.encode(), _NAME), _NAME)
    except CodegenError as error:
        return f": {error}"
    return ""
