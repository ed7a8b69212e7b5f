# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""An extension as a request names it: a user's Python file with its text, or a module of an installed package.

A file may import the modules beside it by relative imports (`from .helper import x`), and their texts belong to the
extension. Nothing is executed here.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import zlib
from base64 import b85decode, b85encode
from collections.abc import Iterator, Mapping
from dataclasses import field
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, PlainSerializer, ValidationInfo
from pydantic.dataclasses import dataclass

from sfc_testbed.request.bounded_file import read_named_text
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.shown import shown

MOST_BYTES = 1_000_000
_PACKAGE = "sfc_extension_"
_OURS = "sfc_testbed"


def _packed(texts: Mapping[str, str]) -> str:
    return b85encode(zlib.compress(json.dumps(dict(texts)).encode())).decode()


def _unpacked(value: str | Mapping[str, str], info: ValidationInfo) -> object:
    return json.loads(zlib.decompress(b85decode(value))) if isinstance(value, str) and value else value or {}


Texts = Annotated[Mapping[str, str], PlainSerializer(_packed, when_used="json"), BeforeValidator(_unpacked)]
"""Texts of files by name, compressed in JSON."""


@dataclass(frozen=True, config=ConfigDict(defer_build=True))
class Extension:
    """An extension as a request names it."""

    word: str
    """The argument of `--use`: the path of a file, or the name of a module."""
    path: str
    """The absolute path of its file."""
    sha256: str
    """The SHA-256 over its files, in hexadecimal."""
    files: Texts = field(default_factory=dict, repr=False)
    """The texts of a file and of the modules that it imports from its folder, by relative name. Empty for a module of
    an installed package, and in stored files."""

    def __str__(self) -> str:
        return self.word

    def as_dict(self) -> dict[str, str]:
        """Return word, path and SHA-256, for JSON files."""
        return {"word": self.word, "path": self.path, "sha256": self.sha256}

    @property
    def package(self) -> str:
        """The name of the package that stands for the file's folder."""
        return _PACKAGE + hashlib.sha256(str(Path(self.path).parent).encode()).hexdigest()[:8]

    @property
    def module(self) -> str:
        """The name under which the module is imported."""
        return f"{self.package}.{_module_of(Path(self.path).name)}" if self.files else self.word


def read_extension(word: str) -> Extension:
    """Return the extension of `--use WORD` without executing it. UsageError if it cannot be read."""
    path = Path(word)
    if path.suffix != ".py":
        return installed_extension(word)
    path = Path(os.path.realpath(path))  # as Python does for a script
    texts = _texts(path, word)
    return Extension(word, str(path), _digest(texts), texts)


def module_texts(extension: Extension) -> dict[str, tuple[str, str]]:
    """Return path and text of each module of an extension, by the module's name."""
    folder = Path(extension.path).parent
    return {
        f"{extension.package}.{_module_of(name)}": (str(folder / name), text) for name, text in extension.files.items()
    }


def _module_of(name: str) -> str:
    """Return the module of a relative file name: `a/__init__.py` is `a`, and `a/b.py` is `a.b`."""
    path = PurePosixPath(name).with_suffix("")
    parts = path.parts[:-1] if path.name == "__init__" else path.parts
    return ".".join(re.sub(r"\W", "_", part) for part in parts)


def _texts(path: Path, word: str) -> dict[str, str]:
    """Return the texts of a file and of the files that it imports from its folder, by relative name."""
    texts: dict[str, str] = {}
    waiting = [path]
    while waiting:
        file = waiting.pop()
        name = file.relative_to(path.parent).as_posix()
        if name in texts:
            continue
        texts[name] = read_named_text(f"--use {word if file == path else file}", file, MOST_BYTES)
        waiting += _imported(texts[name], file, path.parent)
    return dict(sorted(texts.items()))


def _imported(text: str, file: Path, folder: Path) -> Iterator[Path]:
    """Yield the files in a folder that a file imports by relative imports."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return  # its execution says so
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            base = file.parents[node.level - 1]
            base = base.joinpath(*node.module.split(".")) if node.module else base
            for place in (base, *(base / alias.name for alias in node.names)):
                for candidate in (place.with_suffix(".py"), place / "__init__.py"):
                    if candidate.is_file() and candidate.is_relative_to(folder) and candidate != folder / "__init__.py":
                        yield candidate


def installed_extension(word: str) -> Extension:
    """Return the extension that is a module of an installed package. Its digest covers the package's Python files."""
    if not all(part.isidentifier() for part in word.split(".")):
        raise UsageError(f"--use {shown(word)}: neither a Python file, NAME.py, nor the name of an installed module")
    top = word.partition(".")[0]
    try:
        spec = PathFinder.find_spec(top) or find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        hint = f"; did you mean {word}.py?" if os.path.exists(f"{word}.py") else ""  # noqa: PTH110 (also of names that are too long)
        raise UsageError(f"--use {word}: no file of this name, and no installed module {top}{hint}")
    origin = Path(spec.origin)
    folder = origin.parent
    files = sorted(folder.rglob("*.py")) if spec.submodule_search_locations else [origin]
    texts = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}
    if not any(_OURS in text for text in texts.values()):
        raise UsageError(f"--use {word}: the module does not import {_OURS}")
    path = folder.joinpath(*word.split(".")[1:])
    file = next((each for each in (path.with_suffix(".py"), path / "__init__.py", origin) if each.is_file()), origin)
    return Extension(word, str(file), _digest(texts))


def _digest(texts: Mapping[str, str]) -> str:
    parts = [part for name, text in sorted(texts.items()) for part in (name, text)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
