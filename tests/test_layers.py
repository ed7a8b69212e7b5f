# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Structure of the tree: the layers of packages, no import cycles, no deep folders and no tiny packages.

A package is a folder with modules. A row of `LAYERS` imports only lower rows, and neither modules nor packages import
each other in a cycle. Therefore every package can be read, tested and replaced alone.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.tree import LINKS, ROOT, files_of_tree

# Lowest row first. A package may import itself and packages of lower rows, but not others of its own row.
LAYERS = (
    {"os_helpers"},
    {"softswitch"},
    {"sfc_testbed.place"},
    {"sfc_testbed.native"},
    {"sfc_testbed.wire"},
    {"sfc_testbed.request"},
    {"sfc_testbed.telemetry", "sfc_testbed.topologies"},
    {"sfc_testbed.hosts.transport", "sfc_testbed.analysis"},
    {"sfc_testbed.hosts.io", "sfc_testbed.scenarios"},
    {"sfc_testbed.hosts", "sfc_testbed.testbed"},
    {"sfc_testbed.reproduction", "sfc_testbed.simulators"},
    {"sfc_testbed.documents"},
    {"sfc_testbed.contract"},
    {"sfc_testbed.api"},
    {"sfc_testbed.extend", "sfc_testbed.extend_results"},
    {"sfc_testbed.cli"},
    {"sfc_testbed", "sfc_testbed.command"},
    {"runner", "bench"},
)
# The packages of `testbed`, lowest first; each imports only earlier ones.
TESTBED = (
    *("errors", "interrupt", "control_plane", "flows", "system", "program", "plan", "targets"),
    *("recording", "watch", "virtual", "live", "execution", "speed", "jobs", "sweep", "validation", "prompt"),
)
# The testbed also imports hosts.agent and its modules, which are in the same row.
ALLOWED = {("sfc_testbed.testbed", "sfc_testbed.hosts")}
OFFERS_ALL = "sfc_testbed"
"""The package itself offers names of all layers, whose modules are imported when the names are used."""
FORBIDDEN_IN_TRANSPORT = {"time", "socket", "random", "select", "threading", "asyncio", "datetime", "secrets"}
NOT_IN_LAYERS = ("tests", "tools", "examples", "runs", "build")
SOFTSWITCH = ROOT / "softswitch"
PROJECTS = (
    "sfc_testbed",
    "softswitch/src/os_helpers",
    "softswitch/src/softswitch",
    "softswitch/tests/softswitch_tests",
)
"""Folders of a distribution. Levels of folders count from there."""
DISTRIBUTIONS = {"google": "protobuf", "grpc": "grpcio", "p4": "p4runtime"}
"""The packages of the index that have modules under another name."""
NOT_INSTALLED = {"finsy", "p4net", "p4runtime_sh"}
"""Clients that a test installs in environments of their own."""
DEEPEST_FOLDER = 3
FEWEST_MODULES = 3


def _modules() -> dict[str, Path]:
    own = [path for path in ROOT.rglob("*.py") if not path.is_relative_to(SOFTSWITCH)]
    found = {**_named(ROOT, own), **_named(SOFTSWITCH / "src", (SOFTSWITCH / "src").rglob("*.py"))}
    return {f"sfc_testbed.{name}" if name.partition(".")[0] in LINKS else name: path for name, path in found.items()}


def _named(folder: Path, paths: Iterable[Path]) -> dict[str, Path]:
    """Return the modules of these paths by the names under which Python finds them from a folder."""
    modules = {}
    for path in sorted(paths):
        parts = path.relative_to(folder).with_suffix("").parts
        if not parts[0].startswith(".") and parts[0] not in NOT_IN_LAYERS:
            modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return modules


MODULES = _modules()


def _imports(path: Path) -> Iterator[str]:
    """Yield the modules that a file imports; `from a import b` gives `a.b` if that is a module of ours, else `a`."""
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
    """Return the row and name of the layer whose name is the longest prefix of a module, or None."""
    layers = [
        (len(name), row, name)
        for row, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(f"{name}.")
    ]
    return max(layers)[1:] if layers else None


def _package(module: str) -> str:
    """Return the package of a module. Modules at the top of `sfc_testbed` count alone, in different layers."""
    folder = module.rpartition(".")[0]
    return module if MODULES[module].name == "__init__.py" or folder in ("", "sfc_testbed") else folder


def _cycle(graph: Mapping[str, set[str]]) -> list[str] | None:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return None


@pytest.mark.parametrize("module", MODULES)
def test_module_imports_only_lower_layers(module: str) -> None:
    own = _layer(module)
    assert own is not None, f"{module} belongs to no layer"
    if module == OFFERS_ALL:
        return
    for name in _imports(MODULES[module]):
        other = _layer(name)
        if other is None or other == own or (own[1], other[1]) in ALLOWED:
            continue
        assert other[0] < own[0], f"{module} ({own[1]}) imports {name} ({other[1]})"


def test_packages_of_the_testbed_import_only_lower_ones() -> None:
    """A package includes its subpackages."""
    packages = {module: module.split(".")[2] for module in MODULES if module.startswith("sfc_testbed.testbed.")}
    assert set(packages.values()) == set(TESTBED)
    for module, own in packages.items():
        for name in set(_imports(MODULES[module])) & set(packages):
            assert TESTBED.index(packages[name]) <= TESTBED.index(own), f"{module} imports {name}"


def test_modules_have_no_import_cycle() -> None:
    """Imports inside functions count too, because they hide a cycle without removing it."""
    graph = {module: {name for name in _imports(path) if name in MODULES} for module, path in MODULES.items()}
    assert _cycle(graph) is None


def test_packages_have_no_import_cycle() -> None:
    """A folder and its subfolders count as separate packages: a child must not import a parent that imports it."""
    graph: dict[str, set[str]] = {}
    for module, path in MODULES.items():
        used = {_package(name) for name in _imports(path) if name in MODULES}
        graph.setdefault(_package(module), set()).update(used - {_package(module)})
    assert _cycle(graph) is None


def test_folders_are_at_most_three_levels_below_the_top() -> None:
    depths = {name: len(_in_its_project(name).parent.parts) - 1 for name in files_of_tree()}
    assert not {name for name, depth in depths.items() if depth > DEEPEST_FOLDER}


def _in_its_project(name: str) -> Path:
    for folder in PROJECTS:
        if name.startswith(f"{folder}/"):
            return Path(name).relative_to(Path(folder).parent)
    return Path(name)


def test_package_has_at_least_three_modules() -> None:
    """Subpackages count as modules. A smaller package belongs into its parent."""
    sizes = Counter(module.rpartition(".")[0] for module in MODULES)
    packages = [module for module, path in MODULES.items() if path.name == "__init__.py"]
    assert not {package: sizes[package] for package in packages if sizes[package] < FEWEST_MODULES}


@pytest.mark.parametrize("path", sorted((ROOT / "hosts" / "transport").rglob("*.py")), ids=lambda path: path.name)
def test_transport_reads_no_clock_and_opens_no_socket(path: Path) -> None:
    """The caller of the transport engine passes time, bytes and random numbers to it."""
    imported = {name.partition(".")[0] for name in _imports(path)}
    assert not imported & FORBIDDEN_IN_TRANSPORT


def test_only_live_networks_and_the_mininet_switch_class_import_mininet() -> None:
    """Everything else works without Mininet."""
    users = {module for module, path in MODULES.items() if any(name.startswith("mininet") for name in _imports(path))}
    assert users
    allowed = ("sfc_testbed.testbed.live.", "sfc_testbed.testbed.prompt.", "softswitch.mininet", "bench.queues.")
    assert all(user.startswith(allowed) for user in users)


@pytest.mark.parametrize(
    ("folder", "end"), [("src", "[project.optional-dependencies]"), ("tests", "[project.scripts]")]
)
def test_softswitch_and_its_tests_import_nothing_of_the_testbed(folder: str, end: str) -> None:
    """Everybody can install softswitch alone, so it imports itself, Python's library and its declared dependencies."""
    text = (SOFTSWITCH / "pyproject.toml").read_text(encoding="utf-8").partition(end)[0]
    declared = set(re.findall(r'^    "([a-z0-9]+)[>=]', text, re.MULTILINE))
    used = {name.partition(".")[0] for path in (SOFTSWITCH / folder).rglob("*.py") for name in _imports(path)}
    foreign = used - sys.stdlib_module_names - {"os_helpers", "softswitch", "softswitch_tests", "mininet"}
    assert {DISTRIBUTIONS.get(name, name) for name in foreign - NOT_INSTALLED} <= declared


def test_scenarios_import_no_plots_and_no_network() -> None:
    """Listing the scenarios must not load heavy packages."""
    used = {
        name.removeprefix("sfc_testbed.").partition(".")[0]
        for module, path in MODULES.items()
        if module.startswith("sfc_testbed.scenarios")
        for name in _imports(path)
    }
    assert not used & {"matplotlib", "mininet", "analysis", "polars"}
