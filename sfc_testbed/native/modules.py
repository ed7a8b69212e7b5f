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
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from os_helpers.cache import CacheRefused, private_cache
from os_helpers.kept import is_whole
from sfc_testbed.native.sources import MANIFEST, algorithms, build_name, builds_prefix, digest_of, engine, module_name

INTERPRETED = "SFC_TESTBED_INTERPRETED"
"""The environment variable that makes the engine run from its sources, for a debugger. Any value but 0 enables it."""


def install() -> None:
    """Import compiled modules from now on, if the cache has a build of the current sources."""
    if wants_compiled() and not any(isinstance(finder, CompiledFinder) for finder in sys.meta_path):
        folder = engine_folder()
        if folder is not None:
            sys.meta_path.insert(0, CompiledFinder(folder))


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
    """Return whether this process has loaded modules of the engine from their sources."""
    return any(module_name(source) in sys.modules for source in engine().modules)


def interpreted_algorithms(folder: Path) -> list[str]:
    """Return the files of algorithms that a build lacks, because they have changed or the compiler refused them."""
    modules = CompiledFinder(folder).modules
    return [source for source in algorithms() if module_name(source) not in modules]


class CompiledFinder(MetaPathFinder):
    """A finder of the modules of one build. It omits modules whose sources, or whose imports' sources, have changed."""

    def __init__(self, folder: Path) -> None:
        entries: dict[str, dict[str, Any]] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        self._folder = folder
        self.modules: Mapping[str, dict[str, Any]] = _intact(entries)
        self._unrestored = {name: entry["classes"] for name, entry in self.modules.items()}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of the extension module with this name, or None."""
        entry = self.modules.get(fullname)
        if entry is None:
            return None
        place = str(self._folder / entry["file"])
        if not os.path.exists(place):  # noqa: PTH110 (creating a Path for each import is slow)
            raise CacheRefused(f"{self._folder} was removed while the command used it; run the command again")
        return spec_from_file_location(fullname, place, loader=_Loader(fullname, place, self._restore_classes))

    def _restore_classes(self) -> None:
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
