# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the modules that a verb loads: listing names loads no plotting, data frames or network modules."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from sfc_testbed.cli import verbs
from sfc_testbed.cli.app import VERBS, app_for
from sfc_testbed.cli.listing.names import names
from sfc_testbed.scenarios.faults.kinds import FAULTS
from tests.changes.change import copy_of_tree, environment_of
from tests.tree import ROOT

PARSER = {"annotated_doc", "os_helpers", "sfc_testbed", "shellingham", "typer"}
CHECKS = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}
"""pydantic, which Typer loads for the options of a verb, too."""
ENGINE = {"isal", "librt", "mypy_extensions", "numpy", "sfc_testbed_engine__mypyc", "softswitch"}
LATE = {"polars", "psutil"}
"""Packages that a name stands for until it is used (`native.late`)."""
LOADED = {
    ("list",): PARSER | LATE | {"rich"},
    ("--help",): PARSER | LATE,
    ("list", "nosuch"): PARSER | CHECKS | LATE,
    ("run", "--nosuch"): PARSER | CHECKS | ENGINE | LATE,
    ("run", "nosuch"): PARSER | CHECKS | ENGINE | LATE,
    ("run", "incast", "--set", "nosuch=1"): PARSER | CHECKS | ENGINE | LATE,
    ("run", "incast", "--clock", "virtual"): PARSER | CHECKS | ENGINE | LATE,
}
"""The packages, without Python's library, that a command may load; a virtual run before its first packet."""
OURS = {
    ("list",): {"analysis", "api", "cli", "command", "native", "place", "request", "testbed"},
    ("list", "nosuch"): {"api", "cli", "command", "native", "place", "request", "testbed"},
    ("run", "incast", "--set", "nosuch=1"): {
        *("api", "cli", "command", "native", "place", "request", "scenarios", "testbed", "topologies", "wire"),
    },
    ("run", "incast", "--clock", "virtual"): {
        *("api", "cli", "command", "hosts", "native", "place", "request", "scenarios", "telemetry", "testbed"),
        *("topologies", "wire"),
    },
}
"""Our own packages that a command may load."""
NOT_BEFORE_PACKETS = {
    *("sfc_testbed.testbed.live", "sfc_testbed.testbed.speed", "sfc_testbed.testbed.validation"),
    *("sfc_testbed.api.dilations", "sfc_testbed.api.progress", "sfc_testbed.hosts.agent_config"),
    *("sfc_testbed.scenarios.faults", "sfc_testbed.testbed.recording.counters", "softswitch.codegen.generate"),
    *("importlib.metadata", "logging.config", "numpy.ma"),
}
"""Modules of live runs, of results, and of what a run does not use."""
SCRIPT = """
import json, sys
bare = set(sys.modules)
def end(status):
    from sfc_testbed.native.late import is_late
    loaded = {name: is_late(name) for name in sys.modules if name not in bare}
    print(json.dumps([status, loaded]), file=sys.stderr, flush=True)
    import os; os._exit(0)
import sfc_testbed.command
if "virtual" in sys.argv:
    class Finder:
        def find_spec(self, name, path, target=None):
            if name != "sfc_testbed.testbed.virtual.simulation":
                return None
            sys.meta_path.remove(self)
            from importlib.util import find_spec
            spec = find_spec(name)
            execute = spec.loader.exec_module
            def exec_module(module):
                execute(module)
                module._Simulation.run_until = lambda *_: end(0)
            spec.loader.exec_module = exec_module
            return spec
    sys.meta_path.insert(0, Finder())
try:
    sfc_testbed.command.main()
except SystemExit as error:
    end(error.code)
"""


@pytest.mark.parametrize("words", LOADED, ids=" ".join)
def test_a_command_loads_only_what_it_needs(words: tuple[str, ...], tmp_path: Path) -> None:
    """The test checks modules, because the time depends on the machine."""
    names()  # the first command after a change of a source computes them
    out = ("--out", str(tmp_path)) if words[0] == "run" else ()
    line = [sys.executable, "-c", SCRIPT, *words, *out]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True, timeout=100)
    status, loaded = json.loads(done.stderr.splitlines()[-1])
    loaded.pop("pydantic.plugin._loader", None)  # `leave_out_plugins`
    assert status == (2 if any("nosuch" in word for word in words) else 0), done.stderr
    packages = {name.partition(".")[0] for name in loaded} - {*sys.stdlib_module_names, "__mp_main__"}
    generated = {name for name in packages if name.startswith(("_cython", "cython_runtime", "_sysconfigdata"))}
    assert packages - generated - LOADED[words] == set()
    assert {name for name in LATE & set(loaded) if not loaded[name]} == set()
    ours = {name.split(".")[1] for name in loaded if name.startswith("sfc_testbed.")}
    assert ours - OURS.get(words, ours) == set()
    assert {name for name in NOT_BEFORE_PACKETS if name in loaded} == set()


def test_list_names_every_kind_of_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """Users do not have to provoke an error to learn the names."""
    app_for(["list"])(["list"], standalone_mode=False)
    lines = capsys.readouterr().out.splitlines()
    assert {line.split()[0] for line in lines if line.strip()} >= set(FAULTS)


def test_the_table_has_every_verb() -> None:
    modules = {path.stem for path in Path(verbs.__path__[0]).glob("*.py")} - {"__init__"}
    assert modules == set(VERBS)
    assert all(callable(import_module(f"sfc_testbed.cli.verbs.{name}").verb) for name in modules)


def test_help_of_a_verb_lists_its_options(capsys: pytest.CaptureFixture[str]) -> None:
    app_for(["sweep", "--help"])(["sweep", "--help"], standalone_mode=False)
    output = capsys.readouterr().out
    assert VERBS["sweep"].split(";")[0] in " ".join(output.split())
    assert "--scheduler" in output


@pytest.mark.root
def test_root_leaves_no_bytecode_in_the_tree_of_another_user(tmp_path: Path) -> None:
    """The owner could not remove root's folders, and `make clean` would fail."""
    tree = copy_of_tree(tmp_path)
    (tree / ".venv").symlink_to(ROOT / ".venv")
    for path in (tree, *tree.rglob("*")):
        os.chown(path, 1234, 1234, follow_symlinks=False)
    environment = environment_of(tree)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    words = [str(tree / "runner.py"), "list", "incast"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert [path for path in tree.rglob("__pycache__") if ".venv" not in path.parts] == []
