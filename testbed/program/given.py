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
import zlib
from base64 import b85decode, b85encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, ValidationInfo

from compiled.cache import CacheRefused
from compiled.kept import DIGITS, CacheGone, kept_file
from softswitch.p4c import COMPILER, CompileError, compile_source, program_folder
from testbed.errors import UsageError
from testbed.program.declared import Program
from testbed.program.sources import OWN_PROGRAM, ROOT, SOURCES
from wire.input.bounded_file import FileRefused, read_bounded_text

BUILT_IN = "built-in"
"""The argument of `--p4` that selects the testbed's program, for comparisons with other programs."""
MOST_BYTES = 64_000_000
_JSON_MAJOR = 2
_LONGEST_NAME = 32


def _packed(text: str) -> str:
    return b85encode(zlib.compress(text.encode())).decode()


def _unpacked(text: str, info: ValidationInfo) -> str:
    return zlib.decompress(b85decode(text)).decode() if info.mode == "json" else text


Packed = Annotated[str, PlainSerializer(_packed, when_used="json"), BeforeValidator(_unpacked)]
"""A text that is compressed to about a tenth in JSON, because each job of a sweep contains its program."""


@dataclass(frozen=True)
class GivenProgram:
    """A program of the user as BMv2 JSON."""

    word: str
    """The argument as typed by the user."""
    path: str
    name: str
    """The name by which runs with different programs are distinguished."""
    text: Packed = field(repr=False)

    @property
    def sha256(self) -> str:
        """The SHA-256 of the compiled program, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def declared(self) -> Program:
        """Return the objects that the control plane can name."""
        return _declared(self.text)

    def file(self) -> Path:
        """Return the program's file in the cache, for building or loading the program.

        Raise CacheRefused or OSError.
        """
        name = f"program-{self.sha256[:DIGITS]}"
        try:
            return kept_file(program_folder(), name, ".json", lambda part: part.write_bytes(self.text.encode()))
        except CacheGone as error:
            raise CacheRefused(f"{error}; run the command again") from error


@lru_cache(maxsize=8)
def _declared(text: str) -> Program:
    """Parse a program, once for all jobs of a sweep."""
    return Program(json.loads(text))


def program_file(program: GivenProgram | None) -> Path:
    """Return the JSON file of a user program, or of the testbed's program for None."""
    return ROOT / OWN_PROGRAM if program is None else program.file()


def program_given(word: str | None) -> GivenProgram | None:
    """Return the program that `--p4` names, or None for the testbed's. Raise UsageError if it is not a program."""
    return None if word is None else programs_given([word])[0]


def programs_given(words: Sequence[str]) -> list[GivenProgram | None]:
    """Return the programs named by several `--p4`, each with a unique name.

    Raise UsageError if one is not a program.
    """
    paths = [None if word == BUILT_IN else Path(os.path.normpath(Path(word).absolute())) for word in words]
    for place, path in enumerate(paths):
        if path in paths[:place]:
            raise UsageError(f"--p4 {words[place]}: named twice")
    names = iter(_names([path for path in paths if path is not None]))
    return [
        None if path is None else GivenProgram(word, str(path), next(names), _read(word))
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
    raise UsageError(f"--p4: two of the programs have the same name, {names[0]!r} among them; rename one of them")


def _read(word: str) -> str:
    try:
        text = read_bounded_text(Path(word), MOST_BYTES)
        if word.endswith(".p4"):
            text = compile_source(Path(word), [ROOT / SOURCES]).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"--p4 {word}: {error.strerror}") from error
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
        document = json.loads(text)
        if document["__meta__"]["version"][0] == _JSON_MAJOR:
            Program(document)
            json.dumps(
                document, ensure_ascii=False
            ).encode()  # JSON may contain lone surrogates, which UTF-8 cannot encode
            return
    except json.JSONDecodeError as error:
        raise UsageError(f"--p4 {word}: neither P4 (its name ends in .p4) nor JSON: {error}") from error
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        pass
    raise UsageError(f"--p4 {word}: not a program as {COMPILER} compiles it (BMv2 JSON of version {_JSON_MAJOR})")
