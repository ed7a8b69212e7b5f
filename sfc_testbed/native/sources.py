# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The Python sources that are compiled, as the packages list them, and their digests.

The engine's modules are compiled together, because their classes use each other's memory layout. Only a table that is
never compiled refers to an algorithm. An edited algorithm, or one that the compiler refuses, therefore runs interpreted
beside the compiled engine.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import softswitch
from sfc_testbed.place import PACKAGE, ROOT

_LISTS = "*/compiled.json"
"""The lists of what is compiled. Each package has its own beside its modules."""

GROUP = "sfc_testbed_engine"
"""Name of the group of modules that are compiled together, and of their shared library."""
EXTENSIONS = "extensions.json"
"""The translator's list of extension modules for the C compiler."""
MANIFEST = "manifest.json"
"""A build's list of modules for imports."""
_RECIPE = tuple(f"sfc_testbed/native/{name}.py" for name in ("sources", "build", "translate"))


@dataclass(frozen=True)
class CModule:
    """A module written in C. A Python module of the same name is used on machines without a compiler."""

    sources: tuple[str, ...]
    headers: tuple[str, ...]
    include: str
    """The folder in which the compiler looks for the headers."""


@dataclass(frozen=True)
class Engine:
    """All that is compiled, as files relative to the folder of the package `sfc_testbed` or `softswitch`."""

    modules: tuple[str, ...]
    """The modules on a packet's path. Settings and records are not compiled: they are built once, and pydantic reads
    them."""
    algorithm_folders: tuple[str, ...]
    """The folders whose other modules are algorithms."""
    c_modules: Mapping[str, CModule]


@cache
def engine() -> Engine:
    """Return what the packages list in their files `compiled.json`."""
    lists = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.glob(_LISTS))]
    return Engine(
        tuple(name for listed in lists for name in listed["modules"]),
        tuple(name for listed in lists for name in listed.get("algorithms", ())),
        {
            name: CModule(tuple(module["sources"]), tuple(module["headers"]), module["include"])
            for listed in lists
            for name, module in listed.get("c_modules", {}).items()
        },
    )


def algorithms() -> list[str]:
    """Return the files of all algorithms."""
    no_algorithms = {*engine().modules, *(f"{folder}/__init__.py" for folder in engine().algorithm_folders)}
    paths = [path for folder in engine().algorithm_folders for path in sorted((ROOT / folder).glob("*.py"))]
    return [name for path in paths if (name := path.relative_to(ROOT).as_posix()) not in no_algorithms]


def path_of(name: str) -> Path:
    """Return where a file or folder of one of the two packages is."""
    package, _, rest = name.partition("/")
    return Path(softswitch.__path__[0], rest) if package == "softswitch" else PACKAGE / rest


def module_name(source: str) -> str:
    """Return the name under which a source file is imported."""
    return source.removesuffix(".py").replace("/", ".")


def digest_of(source: str) -> str:
    """Return the digest of a source file's content."""
    path = path_of(source)
    status = path.stat()
    return _digest_of(path, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@lru_cache(maxsize=1_000)  # the finder and a run ask again for all of them
def _digest_of(path: Path, *content: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:24]


def build_name() -> str:
    """Return the name of the build of the current sources, which begins with `builds_prefix`."""
    parts = [f"{name} {digest_of(name)}" for name in algorithms()]
    return builds_prefix() + hashlib.sha256("\0".join(parts).encode()).hexdigest()[:8]


def builds_prefix() -> str:
    """Return the common prefix of all builds of the engine's current modules, for this Python and this recipe."""
    in_c = [name for module in engine().c_modules.values() for name in (*module.sources, *module.headers)]
    files = (*engine().modules, *in_c, *_RECIPE)
    parts = [EXTENSION_SUFFIXES[0], *(f"{name} {digest_of(name)}" for name in files)]
    return f"engine-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:24]}-"


def imports_of(source: str) -> list[str]:
    """Return the modules that a file imports from."""
    tree = ast.parse(path_of(source).read_text(encoding="utf-8"))
    return [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module]


def dropped_details(source: str) -> dict[str, dict[str, Any]]:
    """Return, by class, the details that the compiler drops: the docstring, and the annotations of a dataclass.

    The compiler keeps the bare types but not the metadata of `Annotated`, such as the bounds of a parameter.
    """
    return dropped_from(path_of(source).read_text(encoding="utf-8"))


def dropped_from(text: str) -> dict[str, dict[str, Any]]:
    """Return the same for a module's text."""
    tree = ast.parse(text)
    return {
        node.name: {"doc": ast.get_docstring(node), "annotations": _annotations(node) if _is_dataclass(node) else None}
        for node in tree.body
        if isinstance(node, ast.ClassDef)
    }


def _is_dataclass(node: ast.ClassDef) -> bool:
    return any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list)


def _annotations(node: ast.ClassDef) -> dict[str, str]:
    return {
        item.target.id: ast.unparse(item.annotation)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
