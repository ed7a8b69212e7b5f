# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Imports compiled modules in place of their sources, without a change of the import statements.

A finder in front of Python's own finders knows the modules of one build in the cache. The packages install it before
the first of these modules is imported, so a process never mixes compiled and interpreted engine modules.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from os_helpers.cache import CacheRefused, private_cache
from os_helpers.kept import is_whole
from sfc_testbed.native.extended import WANTED, best_build, text_digest, uses_of, wanted_build
from sfc_testbed.native.sources import MANIFEST, algorithms, build_name, builds_prefix, digest_of, engine, module_name

INTERPRETED = "SFC_TESTBED_INTERPRETED"
"""The environment variable that makes the engine run from its sources, for a debugger. Any value but 0 enables it."""


def install() -> None:
    """Import compiled modules from now on, if the cache has a build of the current sources."""
    if wants_compiled() and _installed() is None:
        folder = wanted_build() or engine_folder()
        if folder is not None:
            sys.meta_path.insert(0, CompiledFinder(folder))


def choose_build(files: Mapping[str, str]) -> None:
    """Choose the extended build that has most of these files of users (path -> SHA-256), if there is one.

    Child processes will use this build, and so does this process unless it has loaded a module of the engine.
    """
    if not wants_compiled():
        return
    folder = best_build(files)
    if folder is None:
        os.environ.pop(WANTED, None)
        return
    os.environ[WANTED] = folder.name
    finder = _installed()
    if not loaded_sources() and (finder is None or finder.folder != folder):
        sys.meta_path[:] = [each for each in sys.meta_path if each is not finder]
        sys.meta_path.insert(0, CompiledFinder(folder))


def is_extended() -> bool:
    """Return whether this process uses an extended build. The cache may then lack a build of the engine alone."""
    finder = _installed()
    return finder is not None and bool(finder.files)


def compiled_finder(path: str, sha256: str) -> CompiledFinder | None:
    """Return the finder of this process if its build has this file of a user with this digest, else None."""
    finder = _installed()
    return finder if finder is not None and finder.files.get(path) == sha256 else None


def _installed() -> CompiledFinder | None:
    return next((finder for finder in sys.meta_path if isinstance(finder, CompiledFinder)), None)


def wants_compiled() -> bool:
    """Return whether compiled modules are wanted: `SFC_TESTBED_INTERPRETED` is not set."""
    return os.environ.get(INTERPRETED, "0") in ("", "0")


def engine_folder() -> Path | None:
    """Return the newest whole build of the engine's sources, preferably with the current algorithms, or None."""
    try:
        cache = private_cache()
    except CacheRefused:
        return None
    exact = cache / build_name()
    if is_whole(exact):
        return exact
    whole = [folder for folder in cache.glob(f"{builds_prefix()}*") if is_whole(folder)]
    return max(whole, key=lambda folder: folder.stat().st_mtime_ns, default=None)


def has_damaged_engine() -> bool:
    """Return whether the build of the current sources is in the cache but damaged."""
    try:
        exact = private_cache() / build_name()
    except CacheRefused:
        return False
    return os.path.lexists(exact) and not is_whole(exact)


def loaded_sources() -> bool:
    """Return whether this process has loaded modules of the engine."""
    return any(module_name(source) in sys.modules for source in engine().modules)


def interpreted_algorithms(folder: Path) -> list[str]:
    """Return the files of algorithms that a build lacks, because they have changed or the compiler refused them."""
    modules = CompiledFinder(folder).modules
    return [source for source in algorithms() if module_name(source) not in modules]


class CompiledFinder:
    """A finder of the modules of one build. It omits modules whose sources, or whose imports' sources, have changed."""

    def __init__(self, folder: Path) -> None:
        entries: dict[str, dict[str, Any]] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        self.folder = folder
        intact = _intact(entries)
        self.modules: Mapping[str, dict[str, Any]] = {k: v for k, v in intact.items() if "text" not in v}
        self.files: Mapping[str, str] = uses_of(folder)
        """The files of users, path -> SHA-256."""
        self._of_users = {name: entry for name, entry in intact.items() if "text" in entry}
        self._unrestored = {name: entry["classes"] for name, entry in intact.items()}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the extension module with this name, or None."""
        entry = self.modules.get(fullname)
        return None if entry is None else self._spec(fullname, entry)

    def _spec(self, name: str, entry: Mapping[str, Any]) -> ModuleSpec | None:
        place = str(self.folder / entry["file"])
        if not os.path.exists(place):  # noqa: PTH110 (creating a Path for each import is slow)
            raise CacheRefused(f"{self.folder} was removed while the command used it; run the command again")
        return spec_from_file_location(name, place, loader=_Loader(name, place, self.restore_classes))

    def spec_of(self, name: str, text: str) -> ModuleSpec | None:
        """Return the spec of the compiled module of a user's text, or None if the build has no module of this text.

        The caller asks for it, because the name alone does not decide.
        """
        entry = self._of_users.get(name)
        return None if entry is None or entry["text"] != text_digest(text) else self._spec(name, entry)

    def is_compiled(self, name: str) -> bool:
        """Return whether a module of a user that this process has loaded is compiled."""
        file = getattr(sys.modules.get(name), "__file__", None) or ""
        return name in self._of_users and file.endswith(EXTENSION_SUFFIXES[0])

    def forget_users(self) -> None:
        """Let modules of users run interpreted from now on: a compiled module can be executed only once."""
        self._of_users = {}

    def restore_classes(self) -> None:
        """Restore what the compiler drops from the classes of all loaded modules (`native.sources.dropped_details`).

        A compiled module imports another one directly, without a finder or loader.
        """
        for name in [name for name in self._unrestored if name in sys.modules]:
            module, classes = sys.modules[name], self._unrestored[name]
            if not all(hasattr(module, kind) for kind in classes):
                continue  # the module is still being imported
            del self._unrestored[name]
            for kind, details in ((getattr(module, kind), details) for kind, details in classes.items()):
                kind.__doc__ = details["doc"]
                if details["annotations"] is not None:
                    kind.__annotations__ = dict(details["annotations"])
                    kind.__slots__ = tuple(kind.__annotations__)  # without slots, pydantic expects a `__dict__`
                    for name, annotation in kind.__annotations__.items():
                        kind.__dataclass_fields__[name].type = annotation  # the compiler stores `type` for a union


class _Loader(ExtensionFileLoader):
    """A loader that calls a function after it has executed a module."""

    def __init__(self, name: str, path: str, then: Callable[[], None]) -> None:
        super().__init__(name, path)
        self._then = then

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module and then call the function."""
        super().exec_module(module)
        self._then()


def _intact(entries: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    intact = {name: entry for name, entry in entries.items() if _is_unchanged(entry)}
    while True:
        broken = [name for name, entry in intact.items() if any(module not in intact for module in entry["imports"])]
        if not broken:
            return intact
        for name in broken:
            del intact[name]


def _is_unchanged(entry: Mapping[str, Any]) -> bool:
    if entry["source"] is None:
        return True
    try:
        return bool(digest_of(entry["source"]) == entry["digest"])
    except OSError:
        return False
