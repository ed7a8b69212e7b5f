# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Extensions: Python files of users, and modules of installed packages, that add rows to the tables of names.

A file is executed once per process, from the text that was read when the command began. Jobs, agents and ranks get that
text with their request, so a later edit of the file changes nothing. A file may import the modules beside it by
relative imports (`from .helper import x`), and these travel with it. A module of an installed package is imported where
it is needed, and its digest is compared.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import sys
import threading
import traceback
import zlib
from base64 import b85decode, b85encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from importlib import import_module, reload
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Annotated

from pydantic import BeforeValidator, ConfigDict, PlainSerializer, ValidationInfo
from pydantic.dataclasses import dataclass

from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.request.checks import shown
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.table import Table

GROUP = "sfc_testbed.extensions"
"""The group of entry points by which installed packages name their extensions."""
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


_lock = threading.RLock()
_loaded: dict[str, Extension] = {}
"""The extensions of this process by path."""
_loading: list[Extension] = []


def use(*words: str | Path) -> tuple[Extension, ...]:
    """Read extensions and add their rows to the tables. UsageError, one line, if one cannot be read or executed.

    A file that has changed since it was loaded is loaded again.
    """
    extensions = tuple(read_extension(str(word)) for word in words)
    load(extensions)
    return extensions


def installed() -> tuple[Extension, ...]:
    """Return the extensions that installed packages name by entry points."""
    from importlib import metadata  # loads slowly

    names = sorted({entry.value.partition(":")[0] for entry in metadata.entry_points(group=GROUP)})
    return tuple(read_extension(name) for name in names)


def read_extension(word: str) -> Extension:
    """Return the extension of `--use WORD` without executing it. UsageError if it cannot be read."""
    path = Path(word)
    if path.suffix != ".py":
        return _of_module(word)
    texts = _texts(path.absolute(), word)
    return Extension(word, str(path.absolute()), _digest(texts), texts)


def load(extensions: Iterable[Extension]) -> None:
    """Execute those extensions that this process has not loaded. UsageError, one line, if one fails."""
    with _lock:
        for extension in extensions:
            known = _loaded.get(extension.path)
            if known is not None and known.sha256 == extension.sha256:
                continue
            if known is not None:
                _unload(known)
            _execute(extension)
            _loaded[extension.path] = extension


def loaded() -> tuple[Extension, ...]:
    """Return the extensions of this process."""
    return tuple(_loaded.values())


def owner() -> str:
    """Return the name of the extension that is being executed. UsageError if there is none."""
    if not _loading:
        raise UsageError(
            "names are added by files that --use or sfc.use() loads, so that jobs and agents can load them too; "
            "put this into a file of its own"
        )
    return _loading[-1].word


def folder() -> Path:
    """Return the folder of the extension that is being executed."""
    owner()
    return Path(_loading[-1].path).parent


@contextmanager
def _as_owner(extension: Extension) -> Iterator[None]:
    _loading.append(extension)
    try:
        yield
    finally:
        _loading.pop()


def _execute(extension: Extension) -> None:
    writes, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with _as_owner(extension):
            if extension.files:
                _Finder.of(extension.package).files.update(_paths(extension))
                import_module(extension.module)
            else:
                if _of_module(extension.word).sha256 != extension.sha256:
                    raise UsageError("its files differ from those that the request was made with")
                known = sys.modules.get(extension.module)
                import_module(extension.module) if known is None else reload(known)
        if not any(table.of(extension.word) for table in Table.all):
            raise UsageError("the file adds nothing to the testbed; see docs/extensions.md")
    except BaseException as error:
        _unload(extension)
        if isinstance(error, UsageError):
            raise UsageError(f"--use {extension.word}: {_line(error, extension)}{error}") from error
        if isinstance(error, (Exception, SystemExit)):
            raise UsageError(f"--use {extension.word}: {description(error, extension)}") from error
        raise
    finally:
        sys.dont_write_bytecode = writes


def _unload(extension: Extension) -> None:
    """Remove the rows and the modules of an extension."""
    for table in Table.all:
        table.remove(extension.word)
    _loaded.pop(extension.path, None)
    if extension.files:
        for name in extension.files:
            sys.modules.pop(f"{extension.package}.{_module_of(name)}", None)


def description(error: BaseException, extension: Extension) -> str:
    """Return the place in the extension's files, the kind of error and the first line of its message."""
    message = next(iter(str(error).splitlines()), "")
    hint = ""
    if isinstance(error, ModuleNotFoundError) and error.name:
        beside = Path(extension.path).parent / f"{error.name}.py"
        hint = f"; it is beside the file: write `from .{error.name} import ...`" if beside.exists() else ""
    return f"{_line(error, extension)}{type(error).__name__}: {message}{hint}"


def described(error: BaseException) -> str:
    """Return the place of an error in the extensions, its kind and the first line of its message."""
    place, message = place_in_extensions(error), next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {message}" + (f" ({place})" if place else "")


def place_in_extensions(error: BaseException) -> str | None:
    """Return `FILE:LINE` of the innermost line of an extension's file in a traceback, or None."""
    folders = {Path(extension.path).parent for extension in _loaded.values()}
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).parent in folders:
            return f"{frame.filename}:{frame.lineno}"
    return None


def _line(error: BaseException, extension: Extension) -> str:
    if isinstance(error, SyntaxError):
        return ""  # its text contains the line
    own = {str(path): name for path, name in ((Path(path), name) for path, (name, _) in _paths_of(extension).items())}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own]
    if not frames:
        return ""
    frame = frames[-1]
    where = "" if frame.filename == extension.path else f"{own[frame.filename]} "
    return f"{where}line {frame.lineno}: "


def _paths_of(extension: Extension) -> dict[str, tuple[str, str]]:
    folder = Path(extension.path).parent
    files = extension.files or {Path(extension.path).name: ""}
    return {str(folder / name): (name, text) for name, text in files.items()}


def _paths(extension: Extension) -> dict[str, tuple[str, str]]:
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
        try:
            texts[name] = read_bounded_text(file, MOST_BYTES)
        except FileNotFoundError as error:
            raise UsageError(f"--use {word}: {error.strerror}") from error
        except FileRefused as error:
            raise UsageError(f"--use {word if file == path else file} {error}") from error
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


def _of_module(word: str) -> Extension:
    """Return the extension that is a module of an installed package. Its digest covers the package's Python files."""
    if not all(part.isidentifier() for part in word.split(".")):
        raise UsageError(f"--use {shown(word)}: neither a Python file, NAME.py, nor the name of an installed module")
    top = word.partition(".")[0]
    try:
        spec = PathFinder.find_spec(top) or find_spec(top)
    except (ImportError, ValueError):
        spec = None
    if spec is None or spec.origin is None:
        raise UsageError(f"--use {word}: no file of this name, and no installed module {top}")
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


class _Finder(MetaPathFinder):
    """Finds the modules of one folder of extensions in the texts that were read."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.files: dict[str, tuple[str, str]] = {}

    @classmethod
    def of(cls, package: str) -> _Finder:
        """Return the finder of a package, and install it if it is new."""
        for finder in sys.meta_path:
            if isinstance(finder, cls) and finder.package == package:
                return finder
        finder = cls(package)
        sys.meta_path.insert(0, finder)
        module = ModuleType(package)
        module.__path__ = []
        sys.modules[package] = module
        return finder

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of a module of the package, or None."""
        if name not in self.files:
            return None
        file, text = self.files[name]
        within: list[str] | None = [] if Path(file).name == "__init__.py" else None
        return spec_from_file_location(name, file, loader=_Loader(file, text), submodule_search_locations=within)


class _Loader(SourceLoader):
    """Loads a module from its text, with the path of its file for tracebacks."""

    def __init__(self, file: str, text: str) -> None:
        self._file, self._text = file, text

    def get_filename(self, fullname: str) -> str:
        """Return the path of the file."""
        return self._file

    def get_data(self, path: bytes | str) -> bytes:
        """Return the text of the file."""
        return self._text.encode()
