# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles the host engine from Python to C and to extension modules, and caches it by content.

A build is a folder of the cache that appears complete, by a rename. Two processes may build at the same time; the first
complete build is kept. The content of a build never changes. A damaged build is replaced.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import string
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from os_helpers.cache import UNFINISHED, forget_unused, private_cache
from os_helpers.compiler import compiler_words
from os_helpers.kept import discard, is_whole, seal
from os_helpers.temporary import temporary_folder
from sfc_testbed.native.extended import USES, UserFile, UserModule, extended_name
from sfc_testbed.native.rewriting import NotCompilable, compiled_text
from sfc_testbed.native.sources import (
    EXTENSIONS,
    MANIFEST,
    algorithms,
    build_name,
    digest_of,
    dropped_details,
    dropped_from,
    engine,
    imports_of,
    module_name,
    path_of,
)
from sfc_testbed.place import PACKAGE, how_to_install, how_to_install_for_python

_FLAGS = ("-shared", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-fwrapv", "-w")
_C_FLAGS = ("-std=gnu11", "-O2")
_ERROR = re.compile(r"^(\S+\.py):\d+(?::\d+)?: error: .*$", re.MULTILINE)
_ERROR_IN_TEXT = re.compile(r"^(.+\.py):(\d+)(?::\d+)?: error: (.*?)(?:  \[[a-z-]+\])?$", re.MULTILINE)
_SHOWN_CHARACTERS = 300
_NO_TEXTS: Mapping[Path, UserModule] = {}
_PLAIN = frozenset(f"{string.ascii_letters}{string.digits}/._- ".encode())


class BuildFailed(Exception):
    """A failure to compile the engine. The message is one line."""


def missing() -> str | None:
    """Return what this machine lacks to compile the engine and what to do about it, or None."""
    compiler = compiler_words()[0]
    if shutil.which(compiler) is None:
        return f"no C compiler ({compiler}) on the PATH; {how_to_install('gcc', 'libc6-dev')}"
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        return f"no Python.h of this Python; {how_to_install('python3-dev')}"
    if find_spec("mypyc") is None or find_spec("setuptools") is None:
        return f"no mypyc in this Python's environment; {how_to_install_for_python('mypy')}"
    return None


def build_engine() -> Path:
    """Return the folder with a build of the current engine and algorithms, and build it unless it is in the cache.

    Raise BuildFailed, CacheRefused or OSError.
    """
    return _build(build_name, lambda work, target: _compile(work, target))


def build_extended(files: Sequence[UserFile]) -> Path:
    """Return the folder with a build of the engine and of users' files, and build it unless it is in the cache.

    Raise BuildFailed, CacheRefused or OSError.
    """

    def make(work: Path, target: Path) -> None:
        _compile(work, target, [module for file in files for module in file.modules])
        (target / USES).write_text(json.dumps({file.path: file.sha256 for file in files}), encoding="utf-8")

    return _build(lambda: extended_name(files), make)


def _build(name_now: Callable[[], str], make: Callable[[Path, Path], None]) -> Path:
    folder = private_cache() / name_now()
    if is_whole(folder):
        return folder
    lacking = missing()
    if lacking is not None:
        raise BuildFailed(lacking)
    with temporary_folder(UNFINISHED, folder.parent) as work:
        new_build = work / folder.name
        new_build.mkdir()
        make(work / "c", new_build)
        if name_now() != folder.name:
            raise BuildFailed("its sources changed during compilation; try again")
        seal(new_build)
        if not is_whole(folder):
            discard(folder)
            try:
                new_build.rename(folder)
            except OSError:
                if not is_whole(folder):  # if it is whole, another process was faster
                    raise
    forget_unused()
    return folder


def _compile(work: Path, target: Path, modules: Sequence[UserModule] = ()) -> None:
    """Compile the engine with modules of users: C files go to the folder `work`, modules and manifest to `target`."""
    from concurrent.futures import ThreadPoolExecutor  # every command loads this module, but few compile

    work.mkdir()
    texts = _write_texts(modules, work)
    sources = _translate(work, texts) if texts else _translate(work)
    _show_real_paths(work, texts)
    extensions: list[dict[str, Any]] = json.loads((work / EXTENSIONS).read_text(encoding="utf-8"))
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        list(pool.map(lambda extension: _link(extension, target), extensions))
        list(pool.map(lambda name: link_c_module(name, target), engine().c_modules))
    _write_manifest(target, sources, [str(extension["name"]) for extension in extensions], texts)


def _write_texts(modules: Sequence[UserModule], work: Path) -> dict[Path, UserModule]:
    """Write the texts that are compiled, one folder for each package, and return the modules by their paths."""
    compiled = {module_name(source) for source in (*engine().modules, *algorithms())}
    texts: dict[Path, UserModule] = {}
    for module in {module.name: module for module in modules}.values():
        is_package = Path(module.path).name == "__init__.py"
        path = work.joinpath(*module.name.split("."), *(("__init__",) if is_package else ())).with_suffix(".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        for folder in path.relative_to(work).parents:
            if folder.name:
                (work / folder / "__init__.py").touch()
        try:
            path.write_text(compiled_text(module, compiled), encoding="utf-8")
        except NotCompilable as error:
            raise BuildFailed(str(error)) from error
        texts[path] = module
    return texts


def _show_real_paths(work: Path, texts: Mapping[Path, UserModule]) -> None:
    """Replace the paths of the written texts in the C files, so that tracebacks name the user's files."""
    for file in work.rglob("*.c") if texts else ():
        code = file.read_bytes()
        for path, module in texts.items():
            code = code.replace(f'"{path}"'.encode(), _c_string(os.fsencode(module.path)))
        file.write_bytes(code)


def _c_string(text: bytes) -> bytes:
    return b'"' + b"".join(b"%c" % byte if byte in _PLAIN else b"\\%03o" % byte for byte in text) + b'"'


def _translate(work: Path, texts: Mapping[Path, UserModule] = _NO_TEXTS) -> list[str]:
    """Translate Python to C and return the translated sources. Algorithms that mypyc refuses are omitted.

    The names of sources are relative to a folder with nothing but the package. Beside an installed package there may be
    modules that hide those of Python's library. Raise BuildFailed for an error in the engine or in the texts of users.
    """
    folder = work / "packages"
    folder.mkdir(exist_ok=True)
    if not (folder / PACKAGE.name).is_symlink():
        (folder / PACKAGE.name).symlink_to(PACKAGE)
    optional = algorithms()
    while True:
        sources = [*engine().modules, *optional]
        command = [sys.executable, "-m", "sfc_testbed.native.translate", str(work), *sources, *map(str, texts)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return sources
        refused = set(_ERROR.findall(done.stdout)) & set(optional)
        if not refused:
            raise BuildFailed(_error_in(texts, done.stdout, folder) or _first_error(done.stdout + done.stderr))
        optional = [name for name in optional if name not in refused]


def _error_in(texts: Mapping[Path, UserModule], output: str, folder: Path) -> str | None:
    """Return the first error in a user's file, with its place, and the number of further ones."""
    errors = [
        f"{module.path}, line {line}: {message}"
        for name, line, message in _ERROR_IN_TEXT.findall(output)
        if (module := texts.get((folder / name).resolve())) is not None
    ]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{errors[0]}{more}" if errors else None


def _link(extension: dict[str, Any], target: Path) -> None:
    """Compile and link an extension module from its C files."""
    output = target / (str(extension["name"]) + EXTENSION_SUFFIXES[0])
    include = [f"-I{folder}" for folder in (sysconfig.get_path("include"), *extension["include_dirs"])]
    command = [*compiler_words(), *extension["flags"], *_FLAGS, *include, "-o", str(output), *extension["sources"]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailed(_first_error(done.stderr))


def link_c_module(name: str, target: Path) -> None:
    """Compile a module that is written in C into the folder `target`. Raise BuildFailed."""
    module = engine().c_modules[name]
    include, flags = [str(path_of(module.include))], list(_C_FLAGS)
    _link(
        {
            "name": name,
            "sources": [str(path_of(source)) for source in module.sources],
            "include_dirs": include,
            "flags": flags,
        },
        target,
    )


def _write_manifest(
    target: Path, sources: Sequence[str], extensions: Sequence[str], texts: Mapping[Path, UserModule] = _NO_TEXTS
) -> None:
    source_of = {module_name(source): source for source in sources}
    entries = {
        name: _entry(name, source=module.sources[0], imports=[], classes={})
        for name, module in engine().c_modules.items()
    }
    entries |= {
        name: _entry(
            name,
            source=source_of.get(name),
            imports=_imports_among(source_of, name),
            classes=dropped_details(source_of[name]) if name in source_of else {},
        )
        for name in extensions
    }
    for path, module in texts.items():
        entries[module.name]["text"] = module.digest
        entries[module.name]["classes"] = dropped_from(path.read_text(encoding="utf-8"))
    (target / MANIFEST).write_text(json.dumps(entries), encoding="utf-8")


def _imports_among(source_of: Mapping[str, str], name: str) -> list[str]:
    """Return the compiled modules that a module imports."""
    if name not in source_of:
        return []
    return [module for module in imports_of(source_of[name]) if module in source_of]


def _entry(name: str, *, source: str | None, imports: list[str], classes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the manifest's entry of an extension module. `source` is None for modules that mypyc adds."""
    return {
        "file": name + EXTENSION_SUFFIXES[0],
        "source": source,
        "digest": None if source is None else digest_of(source),
        "imports": imports,
        "classes": classes,
    }


def _first_error(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()] or lines[-1:] or ["no reason given"]
    return errors[0][:_SHOWN_CHARACTERS]
