# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Loads extensions: executes their files, which add rows to the tables of names.

A file is executed once per process, from the text that was read when the command began. Jobs, agents and ranks get that
text with their request, so a later edit of the file changes nothing. A module of an installed package is imported where
it is needed, and its digest is compared.
"""

from __future__ import annotations

import ast
import os
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from importlib import import_module, reload
from pathlib import Path

from sfc_testbed.native.extended import UserFile, UserModule
from sfc_testbed.native.modules import CompiledFinder, choose_build, compiled_finder
from sfc_testbed.native.rewriting import interpreted_part
from sfc_testbed.native.sources import engine, module_name
from sfc_testbed.request.arguments import checked_call
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.extension import (
    Extension,
    installed_extension,
    module_texts,
    read_extension,
)
from sfc_testbed.request.installed import installed_modules
from sfc_testbed.request.table import Table

PathLike = str | os.PathLike[str]

_DONE = "_sfc_interpreted_part_executed"
"""The name in a compiled module that marks that its interpreted part was executed."""


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


def load_installed() -> list[str]:
    """Load the extensions of installed packages. Return a line for each one that cannot be loaded and is left out."""
    problems = []
    for name in installed_modules():
        try:
            load([installed_extension(name)])
        except UsageError as error:
            problems.append(f"an installed package's extension is left out: {str(error).removeprefix('--use ')}")
    return problems


def load(extensions: Iterable[Extension]) -> None:
    """Execute those extensions that this process has not loaded. UsageError, one line, if one fails."""
    with _lock:
        extensions = list(extensions)
        if any(_loaded.get(each.path) != each for each in extensions):
            choose_build({each.path: each.sha256 for each in (*_loaded.values(), *extensions)})
        for extension in extensions:
            known = _loaded.get(extension.path)
            if known is not None and known.sha256 == extension.sha256:
                continue
            if known is not None:
                _unload(known)
            _execute(extension)
            _loaded[extension.path] = extension


@checked_call
def unuse(*files: PathLike) -> None:
    """Remove what these files added, or what all files added if none is named. UsageError for a file not in use."""
    with _lock:
        paths = [os.path.realpath(file) for file in files] if files else list(_loaded)
        for file, path in zip(files or paths, paths, strict=True):
            if path not in _loaded:
                raise UsageError(f"{os.fspath(file)}: this file is not in use")
            _unload(_loaded[path])


def loaded() -> tuple[Extension, ...]:
    """Return the extensions of this process."""
    return tuple(_loaded.values())


def choose_compiled(words: Iterable[str]) -> None:
    """Choose the build that has the files among the words of a command, before the command loads the engine."""
    files = {}
    for word in words:
        if word.endswith(".py"):
            with suppress(UsageError):
                extension = read_extension(word.removeprefix("--use="))
                files[extension.path] = extension.sha256
    if files:
        choose_build(files)


def is_compiled(extension: Extension) -> bool:
    """Return whether algorithms of an extension that this process has loaded are compiled."""
    finder = compiled_finder(extension.path, extension.sha256)
    return finder is not None and any(map(finder.is_compiled, module_texts(extension)))


def for_compiler(extension: Extension) -> UserFile:
    """Return a loaded extension with the modules of its algorithms, and those that they import from its folder.

    UsageError if it has no algorithm, or is no file.
    """
    if not extension.files:
        raise UsageError(f"{extension.word}: only files can be compiled, not modules of installed packages")
    bases = {module_name(source) for source in engine().modules}
    rows = [row for table in Table.all for row in table.of(extension.word).values() if isinstance(row, type)]
    kinds = [row for row in rows if any(base.__module__ in bases for base in row.__mro__)]
    paths = module_texts(extension)
    waiting = sorted({base.__module__ for kind in kinds for base in kind.__mro__} & set(paths))
    if not waiting:
        raise UsageError(
            f"{extension.word}: it adds no congestion control, flow control or loss recovery, and only these can be "
            "compiled"
        )
    modules: dict[str, UserModule] = {}
    while waiting:
        name = waiting.pop()
        if name not in modules:
            modules[name] = UserModule(name, *paths[name])
            waiting += [each for each in _imported_modules(name, *paths[name]) if each in paths]
    return UserFile(extension.path, extension.sha256, tuple(module for _, module in sorted(modules.items())))


def _imported_modules(name: str, path: str, text: str) -> Iterator[str]:
    """Yield the names that the relative imports of a module may stand for."""
    parts = name.split(".") if Path(path).name == "__init__.py" else name.split(".")[:-1]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.level > 0:
            base = [*parts[: len(parts) - node.level + 1], *((node.module,) if node.module else ())]
            yield from (".".join([*base, *more]) for more in ((), *((alias.name,) for alias in node.names)))


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
        with _as_owner(extension), redirect_stdout(sys.stderr):  # stdout may be JSON
            if extension.files:
                from sfc_testbed.request.extension_finder import ExtensionFinder  # most commands have no extension

                compiled = compiled_finder(extension.path, extension.sha256)
                ExtensionFinder.of(extension.package).add(module_texts(extension), compiled)
                import_module(extension.module)
                if compiled is not None:
                    _execute_rest(extension, compiled)
            else:
                if installed_extension(extension.word).sha256 != extension.sha256:
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


def _execute_rest(extension: Extension, finder: CompiledFinder) -> None:
    """Execute the interpreted parts of compiled modules. Compiled modules import each other without our finder."""
    finder.restore_classes()
    paths = module_texts(extension)
    for name in reversed([name for name in sys.modules if name in paths]):
        names = vars(sys.modules[name])
        if finder.is_compiled(name) and _DONE not in names:
            names[_DONE] = True
            path, text = paths[name]
            exec(compile(interpreted_part(UserModule(name, path, text)), path, "exec", dont_inherit=True), names)


def _unload(extension: Extension) -> None:
    """Remove the rows and the modules of an extension."""
    for table in Table.all:
        table.remove(extension.word)
    _loaded.pop(extension.path, None)
    finder = compiled_finder(extension.path, extension.sha256)
    if finder is not None and is_compiled(extension):
        finder.forget_users()
    if extension.files:
        for name in module_texts(extension):
            sys.modules.pop(name, None)


def description(error: BaseException, extension: Extension) -> str:
    """Return the place in the extension's files, the kind of error and the first line of its message."""
    message = next(iter(str(error).splitlines()), "")
    hint = ""
    if isinstance(error, ModuleNotFoundError) and error.name and error.name.startswith(f"{extension.package}."):
        missing = error.name.removeprefix(f"{extension.package}.")
        message, hint = f"there is no {missing.replace('.', '/')}.py beside {Path(extension.path).name}", ""
    elif isinstance(error, ModuleNotFoundError) and error.name:
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
    folder = Path(extension.path).parent
    own = {str(folder / name): name for name in extension.files or (Path(extension.path).name,)}
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in own]
    if not frames:
        return ""
    frame = frames[-1]
    where = "" if frame.filename == extension.path else f"{own[frame.filename]} "
    return f"{where}line {frame.lineno}: "
