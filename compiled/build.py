# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compiles the host engine: Python to C to extension modules, cached by content.

A build is a folder of the cache that appears whole, by a rename: two processes may build at once, and the first one's
stays. What is in it never changes; a damaged folder is replaced.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from compiled.cache import forget_unused, private_cache
from compiled.kept import discard, is_whole, seal
from compiled.sources import (
    ENGINE,
    EXTENSIONS,
    MANIFEST,
    NATIVE,
    NATIVE_INCLUDES,
    ROOT,
    algorithms,
    build_name,
    digest_of,
    imports_of,
    module_name,
    written,
)

_FLAGS = ("-shared", "-fPIC", "-fvisibility=hidden", "-DNDEBUG", "-fwrapv", "-w")
_NATIVE_FLAGS = ("-std=gnu11", "-O2")
_ERROR = re.compile(r"^(\S+\.py):\d+(?::\d+)?: error: .*$", re.MULTILINE)
_SHOWN_CHARACTERS = 300


class BuildFailed(Exception):
    """The engine cannot be compiled; one line that says why."""


def missing() -> str | None:
    """What this machine lacks to compile the engine, and what to do about it; None if nothing."""
    compiler = _compiler()[0]
    if shutil.which(compiler) is None:
        return f"no C compiler ({compiler}) on the PATH; run tools/provision.sh"
    if not (Path(sysconfig.get_path("include")) / "Python.h").exists():
        return "no Python.h of this Python; run tools/provision.sh"
    if find_spec("mypyc") is None or find_spec("setuptools") is None:
        return "no mypyc in this Python's environment; run make setup"
    return None


def build_engine() -> Path:
    """Return the folder with the engine and the algorithms as they are now, built unless the cache has it whole.

    Raises BuildFailed, CacheRefused, and OSError.
    """
    folder = private_cache() / build_name()
    if is_whole(folder):
        return folder
    lacking = missing()
    if lacking is not None:
        raise BuildFailed(lacking)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder.parent) as name:
        made = Path(name) / folder.name
        made.mkdir()
        _compile(Path(name) / "c", made)
        if build_name() != folder.name:
            raise BuildFailed("its sources changed meanwhile; try again")
        seal(made)
        if not is_whole(folder):
            discard(folder)
            try:
                made.rename(folder)
            except OSError:
                if not is_whole(folder):  # else another process was faster
                    raise
    forget_unused()
    return folder


def _compile(work: Path, made: Path) -> None:
    """Translates in `work`, leaves modules and manifest in `made`."""
    work.mkdir()
    sources = _translate(work)
    extensions: list[dict[str, Any]] = json.loads((work / EXTENSIONS).read_text(encoding="utf-8"))
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        list(pool.map(lambda extension: _link(extension, made), extensions))
        list(pool.map(lambda name: link_native(name, made), NATIVE))
    _write_manifest(made, sources, [str(extension["name"]) for extension in extensions])


def _translate(work: Path) -> list[str]:
    """Python to C. An algorithm that mypyc refuses is left out; the names of the sources that were taken."""
    optional = algorithms()
    while True:
        sources = [*ENGINE, *optional]
        command = [sys.executable, "-m", "compiled.translate", str(work), *sources]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return sources
        refused = set(_ERROR.findall(done.stdout)) & set(optional)
        if not refused:
            raise BuildFailed(_first_error(done.stdout + done.stderr))
        optional = [name for name in optional if name not in refused]


def _link(extension: dict[str, Any], made: Path) -> None:
    """One extension module from its C."""
    target = made / (str(extension["name"]) + EXTENSION_SUFFIXES[0])
    include = [f"-I{folder}" for folder in (sysconfig.get_path("include"), *extension["include_dirs"])]
    command = [*_compiler(), *extension["flags"], *_FLAGS, *include, "-o", str(target), *extension["sources"]]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailed(_first_error(done.stderr))


def link_native(name: str, made: Path) -> None:
    """The extension module of one row of `NATIVE`, in the folder `made`. Raises BuildFailed."""
    flags, files = list(_NATIVE_FLAGS), list(NATIVE[name])
    _link({"name": name, "sources": files, "include_dirs": [NATIVE_INCLUDES], "flags": flags}, made)


def _write_manifest(made: Path, sources: Sequence[str], extensions: Sequence[str]) -> None:
    taken = {module_name(source): source for source in sources}
    native = {name: files[0] for name, files in NATIVE.items()}
    entries = {name: _entry(name, source=source, imports=[], classes={}) for name, source in native.items()}
    entries |= {
        name: _entry(
            name,
            source=taken.get(name),
            imports=[each for each in imports_of(taken[name]) if each in taken] if name in taken else [],
            classes=written(taken[name]) if name in taken else {},
        )
        for name in extensions
    }
    (made / MANIFEST).write_text(json.dumps(entries), encoding="utf-8")


def _entry(name: str, *, source: str | None, imports: list[str], classes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What the manifest says of an extension module; `source` is what it was made of, None for what mypyc adds."""
    return {
        "file": name + EXTENSION_SUFFIXES[0],
        "source": source,
        "digest": None if source is None else digest_of(source),
        "imports": imports,
        "classes": classes,
    }


def _compiler() -> list[str]:
    return shlex.split(os.environ.get("CC", "")) or ["cc"]


def _first_error(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    named = [line for line in lines if "error" in line.lower()] or lines[-1:] or ["no reason given"]
    return named[0][:_SHOWN_CHARACTERS]
