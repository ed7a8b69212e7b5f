# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Late imports of packages that load slowly and that a command needs only at its end, or never.

`import polars` then gives a module that imports the package when an attribute is first used. The command's signal
handlers are in force by then, and stay so: polars would replace the one of SIGINT.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

_LOADING = threading.RLock()
"""Held while a package is loaded, so that other threads wait for its attributes."""


def import_late(name: str) -> None:
    """Load the package `name` only when one of its attributes is used, unless it is loaded already."""
    if name not in sys.modules and not any(
        isinstance(finder, _Finder) and finder.name == name for finder in sys.meta_path
    ):
        sys.meta_path.insert(0, _Finder(name))


def is_late(name: str) -> bool:
    """Return whether only a name stands for this package so far."""
    return "_finder" in vars(sys.modules[name])


def leave_out_plugins() -> None:
    """Let pydantic use no plugins, as its variable `PYDANTIC_DISABLE_PLUGINS` does, and not load `importlib.metadata`.

    Otherwise the first check of a model loads the names of all installed packages. The testbed needs no plugin.
    """
    if "pydantic.plugin._loader" not in sys.modules:
        module = ModuleType("pydantic.plugin._loader")
        module.__dict__["get_plugins"] = tuple
        sys.modules[module.__name__] = module


class _Finder:
    """Answers the first import of a package with a `_LateModule`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(name, self) if name == self.name else None  # type: ignore[arg-type]  # `importlib.abc` is slow

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _LateModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__dict__["_finder"] = self


class _LateModule(ModuleType):
    """Takes the attributes of the package that it stands for when the first of them is used."""

    def __getattr__(self, name: str) -> Any:
        with _LOADING:
            finder = self.__dict__.get("_finder")
            if finder is not None:
                sys.meta_path.remove(finder)
                del sys.modules[self.__name__]
                try:
                    with _handler_kept(signal.SIGINT):
                        package = import_module(self.__name__)
                except BaseException:  # the next use tries again
                    sys.meta_path.insert(0, finder)
                    sys.modules[self.__name__] = self
                    raise
                del self.__dict__["_finder"]
                self.__dict__.update(package.__dict__)
        if name in self.__dict__:
            return self.__dict__[name]
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")


@contextmanager
def _handler_kept(number: signal.Signals) -> Iterator[None]:
    """Install the handler again afterwards, in case a package replaced it. Only the main thread may do so."""
    handler = signal.getsignal(number)
    try:
        yield
    finally:
        if handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(number, handler)
