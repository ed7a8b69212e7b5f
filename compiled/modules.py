# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Lets compiled modules take the place of their sources: `import hosts.transport.nic` stays what it is.

A finder in front of Python's own knows the modules of one build of the cache. It is installed before the first of them
is imported, by the packages they are in, and never afterwards: a process has one kind or the other.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from compiled.cache import CacheRefused, private_cache
from compiled.kept import is_whole
from compiled.sources import MANIFEST, algorithms, build_name, builds_prefix, digest_of, module_name

INTERPRETED = "SFC_TESTBED_INTERPRETED"
"""Set to anything but 0, the engine runs from its sources, for a debugger."""


def install() -> None:
    """From now on imports take what is in the cache, if the sources are those it was made of."""
    if _finder() is None and wants_compiled():
        folder = engine_folder()
        if folder is not None:
            sys.meta_path.insert(0, CompiledFinder(folder))


def wants_compiled() -> bool:
    """Whether nobody asked for the sources."""
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
    """Whether the build of the sources as they are now is in the cache, but not whole."""
    try:
        exact = private_cache() / build_name()
    except CacheRefused:
        return False
    return os.path.lexists(exact) and not is_whole(exact)


def interpreted_algorithms(folder: Path) -> list[str]:
    """Files of algorithms that are newer than that build, or that the compiler refused."""
    taken = CompiledFinder(folder).modules
    return [source for source in algorithms() if module_name(source) not in taken]


class CompiledFinder(MetaPathFinder):
    """Finds the modules of one build whose sources are unchanged, and whose imports among them are."""

    def __init__(self, folder: Path) -> None:
        entries: dict[str, dict[str, Any]] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        self._folder = folder
        self.modules: Mapping[str, dict[str, Any]] = _intact(entries)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The extension module, if there is one of that name."""
        entry = self.modules.get(fullname)
        if entry is None:
            return None
        place = str(self._folder / entry["file"])
        if not os.path.exists(place):  # noqa: PTH110 (a Path for each import is slow)
            raise CacheRefused(f"{self._folder} was removed while the command used it; run the command again")
        return spec_from_file_location(fullname, place, loader=_Loader(fullname, place, entry["classes"]))


class _Loader(ExtensionFileLoader):
    """Gives the classes of a module back what the compiler drops (`compiled.sources.written`)."""

    def __init__(self, name: str, path: str, classes: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(name, path)
        self._classes = classes

    def exec_module(self, module: ModuleType) -> None:
        """Runs it, and then restores."""
        super().exec_module(module)
        for name, written in self._classes.items():
            kind = getattr(module, name)
            kind.__doc__ = written["doc"]
            if written["annotations"] is not None:
                kind.__annotations__ = dict(written["annotations"])


def _intact(entries: Mapping[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    found = {name: entry for name, entry in entries.items() if _is_unchanged(entry)}
    while True:
        alone = [name for name, entry in found.items() if any(each not in found for each in entry["imports"])]
        if not alone:
            return found
        for name in alone:
            del found[name]


def _is_unchanged(entry: Mapping[str, Any]) -> bool:
    if entry["source"] is None:
        return True
    try:
        return bool(digest_of(entry["source"]) == entry["digest"])
    except OSError:
        return False


def _finder() -> CompiledFinder | None:
    return next((each for each in sys.meta_path if isinstance(each, CompiledFinder)), None)
