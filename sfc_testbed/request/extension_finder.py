# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Imports the modules of extensions from the texts that were read. Only commands with extensions load this module."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

from sfc_testbed.native.modules import CompiledFinder


class ExtensionFinder(MetaPathFinder):
    """Finds the modules of one folder of extensions in the texts that were read."""

    def __init__(self, package: str) -> None:
        self.package = package
        self.files: dict[str, tuple[str, str]] = {}
        self._compiled: CompiledFinder | None = None

    def add(self, files: Mapping[str, tuple[str, str]], compiled: CompiledFinder | None) -> None:
        """Add the modules of an extension, path and text by name, and the finder that may have compiled ones."""
        self.files.update(files)
        self._compiled = compiled or self._compiled

    @classmethod
    def of(cls, package: str) -> ExtensionFinder:
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
        compiled = self._compiled and self._compiled.spec_of(name, text)
        if compiled:
            return compiled
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
