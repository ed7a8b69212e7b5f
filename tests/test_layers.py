# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The layers of the tree: each package imports only lower ones, the sans-IO engine neither clock, socket nor chance."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

# Lowest first; a package may import those of lower rows and itself, not its row's others.
LAYERS = (
    {"wire"},
    {"telemetry", "topologies", "softswitch"},
    {"hosts.transport", "analysis"},
    {"hosts.io", "scenarios"},
    {"hosts", "testbed"},
    {"runner", "bench"},
)
# hosts.agent and what it is made of serve the testbed.
ALLOWED = {("testbed", "hosts")}
FORBIDDEN_IN_TRANSPORT = {"time", "socket", "random", "select", "threading", "asyncio", "datetime", "secrets"}


def _layer(module: str) -> tuple[int, str] | None:
    """The row and name of the longest layer that a module belongs to."""
    found = [
        (len(name), row, name)
        for row, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(f"{name}.")
    ]
    return max(found)[1:] if found else None


def _modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if parts[0].startswith(".") or parts[0] in ("tests", "tools", "runs", "build"):
            continue
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize(
    ("module", "path"), list(_modules()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_module_imports_only_lower_layers(module: str, path: Path) -> None:
    """Every import of ours goes down."""
    own = _layer(module)
    assert own is not None, f"{module} belongs to no layer"
    for name in _imports(path):
        other = _layer(name)
        if other is None or other == own or (own[1], other[1]) in ALLOWED:
            continue
        assert other[0] < own[0], f"{module} ({own[1]}) imports {name} ({other[1]})"


@pytest.mark.parametrize("path", sorted((ROOT / "hosts" / "transport").rglob("*.py")), ids=lambda path: path.name)
def test_transport_reads_no_clock_and_opens_no_socket(path: Path) -> None:
    """The engine is handed time, bytes and chance."""
    imported = {name.partition(".")[0] for name in _imports(path)}
    assert not imported & FORBIDDEN_IN_TRANSPORT


def test_only_emulation_imports_mininet() -> None:
    """Everything else works where there is no Mininet."""
    users = {module for module, path in _modules() if any(name.startswith("mininet") for name in _imports(path))}
    assert users <= {"testbed.emulation"}
