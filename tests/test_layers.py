# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The shape of the tree: who may import whom, no circles, and no folder that must be searched.

A package is a folder with modules. Two rules hold it together: a row of `LAYERS` imports only lower rows, and neither
modules nor packages import each other in a circle, so that a package can be read, tested and replaced by itself.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.tree import files_of_tree

ROOT = Path(__file__).resolve().parent.parent

# Lowest first; a package may import those of lower rows and itself, not its row's others.
LAYERS = (
    {"compiled"},
    {"wire"},
    {"telemetry", "topologies", "softswitch"},
    {"hosts.transport", "analysis"},
    {"hosts.io", "scenarios"},
    {"hosts", "testbed"},
    {"reproduction"},
    {"command"},
    {"runner", "bench"},
)
# hosts.agent and what it is made of serve the testbed.
ALLOWED = {("testbed", "hosts")}
FORBIDDEN_IN_TRANSPORT = {"time", "socket", "random", "select", "threading", "asyncio", "datetime", "secrets"}
NOT_IN_LAYERS = ("tests", "tools", "examples", "runs", "build")
MOST_FILES_IN_A_FOLDER = 25


def _modules() -> dict[str, Path]:
    found = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if not parts[0].startswith(".") and parts[0] not in NOT_IN_LAYERS:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = _modules()


def _imports(path: Path) -> Iterator[str]:
    """Names that a file imports; `from a import b` gives `a.b` where that is a module of ours, else `a`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            for alias in node.names:
                full = f"{node.module}.{alias.name}"
                yield full if full in MODULES else node.module


def _layer(module: str) -> tuple[int, str] | None:
    """The row and name of the longest layer that a module belongs to."""
    found = [
        (len(name), row, name)
        for row, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(f"{name}.")
    ]
    return max(found)[1:] if found else None


def _package(module: str) -> str:
    return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0] or module


def _circle(graph: Mapping[str, set[str]]) -> list[str] | None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return None


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_lower_layers(module: str) -> None:
    own = _layer(module)
    assert own is not None, f"{module} belongs to no layer"
    for name in _imports(MODULES[module]):
        other = _layer(name)
        if other is None or other == own or (own[1], other[1]) in ALLOWED:
            continue
        assert other[0] < own[0], f"{module} ({own[1]}) imports {name} ({other[1]})"


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions count: they hide a circle, they do not break it."""
    graph = {module: {name for name in _imports(path) if name in MODULES} for module, path in MODULES.items()}
    assert _circle(graph) is None


def test_no_packages_import_each_other_in_a_circle() -> None:
    """A folder and its subfolders are packages of their own: a parent that imports a child is not imported by it."""
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        used = {_package(name) for name in _imports(path) if name in MODULES}
        graph.setdefault(_package(module), set()).update(used - {_package(module)})
    assert _circle(graph) is None


def test_no_folder_must_be_searched() -> None:
    """A folder's listing explains it only while it is short."""
    sizes = Counter(Path(name).parent for name in files_of_tree())
    assert not {str(folder): size for folder, size in sizes.items() if size > MOST_FILES_IN_A_FOLDER}


@pytest.mark.parametrize("path", sorted((ROOT / "hosts" / "transport").rglob("*.py")), ids=lambda path: path.name)
def test_transport_reads_no_clock_and_opens_no_socket(path: Path) -> None:
    """The engine is handed time, bytes and chance."""
    imported = {name.partition(".")[0] for name in _imports(path)}
    assert not imported & FORBIDDEN_IN_TRANSPORT


def test_only_live_runs_and_its_switch_class_import_mininet() -> None:
    """Everything else works where there is no Mininet."""
    users = {module for module, path in MODULES.items() if any(name.startswith("mininet") for name in _imports(path))}
    assert users
    assert all(user.startswith("testbed.live.") or user == "softswitch.mininet" for user in users)


def test_softswitch_stands_alone() -> None:
    """A Mininet script needs no testbed: only the cache of programs and the text for terminals come from elsewhere."""
    shared = {"compiled.cache", "compiled.kept", "compiled.visible"}
    used = {
        name
        for module, path in MODULES.items()
        if module in shared or _package(module).partition(".")[0] == "softswitch"
        for name in _imports(path)
        if name in MODULES
    }
    assert {name for name in used if name.partition(".")[0] != "softswitch"} == shared


def test_scenarios_are_data() -> None:
    """They neither draw nor touch a network, so that a list of them costs no heavy import."""
    used = {
        name.partition(".")[0]
        for module, path in MODULES.items()
        if module.startswith("scenarios")
        for name in _imports(path)
    }
    assert not used & {"matplotlib", "mininet", "analysis", "polars"}
