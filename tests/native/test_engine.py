# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the compiled host engine: it gives the same traces as its sources, and edited sources take precedence."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.native import sources
from sfc_testbed.native.build import build_engine, missing
from sfc_testbed.native.modules import INTERPRETED
from sfc_testbed.place import ROOT
from tests.native.ways import SCENARIOS
from tests.testbed.incasts import assert_same_run
from tests.tree import copy_of_package

WHERE = "import importlib, sys; print(*(importlib.import_module(name).__file__ for name in sys.argv[1:]), sep='\\n')"
NIC, HPCC, MINE = (
    "sfc_testbed.hosts.transport.nic",
    "sfc_testbed.hosts.transport.congestion.hpcc",
    "sfc_testbed.hosts.transport.congestion.mine",
)
CALLS = "sfc_testbed.hosts.io.kernel_calls"
MUST_HAVE = {"sfc": ("bts", "sent"), "pfc": ("pfc", "sent"), "faults": ("drops", "link_down")}
"""Results that must be above 0, so that a comparison of the runs of a scenario is meaningful."""


@pytest.fixture(scope="module")
def engine() -> Path:
    """Return the build of the current sources."""
    lacking = missing()
    if lacking is not None:
        pytest.skip(lacking)
    return build_engine()


def python(words: Sequence[str], root: Path = ROOT, *, interpreted: str = "0") -> subprocess.CompletedProcess[str]:
    """Run this Python with arguments in a tree."""
    environment = {**os.environ, INTERPRETED: interpreted}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def places(*modules: str, root: Path = ROOT, interpreted: str = "0") -> list[str]:
    """Return the suffixes of the files that modules are loaded from."""
    done = python(["-c", WHERE, *modules], root, interpreted=interpreted)
    assert done.returncode == 0, done.stderr
    return [Path(line).suffix for line in done.stdout.splitlines()]


def test_imports_take_the_compiled_modules_unless_the_variable_is_set(engine: Path) -> None:
    assert places(NIC, HPCC, CALLS) == [".so", ".so", ".so"]
    assert places(NIC, HPCC, CALLS, interpreted="1") == [".py", ".py", ".py"]


def test_a_class_is_complete_if_a_compiled_module_imports_its_module_first(engine: Path) -> None:
    """The agents' messages contain objects of such a class, and pydantic reads them."""
    script = (
        "import sfc_testbed.hosts.transport.nic; from sfc_testbed.hosts.protocol import *; "
        "line = event_line(HostStatistics('h1', NicCounters(pauses=3))).decode(); print(parse_event(line).nic.pauses)"
    )
    done = python(["-c", script])
    assert (done.stdout, done.stderr) == ("3\n", "")


@pytest.fixture(scope="module")
def runs(engine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the scenarios: compiled on one and two processes (`0/NAME-1`, `0/NAME-2`), and interpreted (`1/NAME-1`)."""
    folder = tmp_path_factory.mktemp("ways")
    for interpreted, suffix, counts in (("0", ".so", ("1", "2")), ("1", ".py", ("1",))):
        words = ["-m", "tests.native.ways", str(folder / interpreted), *counts]
        done = python(words, interpreted=interpreted)
        assert (done.returncode, done.stdout.split()) == (0, [suffix]), done.stderr
    return folder


@pytest.mark.parametrize("name", SCENARIOS)
def test_traces_are_equal_compiled_or_interpreted_and_on_one_or_two_processes(name: str, runs: Path) -> None:
    first = runs / "0" / f"{name}-1"
    assert pl.read_parquet(first / "flows.parquet").height > 0
    if name in MUST_HAVE:
        group, count = MUST_HAVE[name]
        assert json.loads((first / "result.json").read_text())[group][count] > 0
    for other in (runs / "0" / f"{name}-2", runs / "1" / f"{name}-1"):
        assert_same_run(other, first)


@pytest.mark.long
def test_the_interpreted_engine_passes_the_contract_tests() -> None:
    """The suite itself runs them with the compiled engine."""
    tests = [
        "tests/hosts/transport/test_transport_contract.py",
        "tests/hosts/transport/scheduling/test_wire_schedule.py",
    ]
    done = python(["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], interpreted="1")
    assert done.returncode == 0, done.stdout


def test_edited_and_new_algorithms_run_interpreted_beside_the_compiled_engine(engine: Path, tmp_path: Path) -> None:
    root = copy_of_package(tmp_path)
    folder = root / "hosts" / "transport" / "congestion"
    folder.joinpath("mine.py").write_text(
        "from sfc_testbed.hosts.transport.congestion.hpcc import Hpcc\n\n\nclass Mine(Hpcc):\n"
        "    def on_ack(self, sample, now_ns):\n        self.window_bytes = 5\n"
    )
    assert places(NIC, HPCC, MINE, root=root) == [".so", ".so", ".py"]
    edited = folder / "hpcc.py"
    edited.write_text(edited.read_text() + "\n# edited\n")
    assert places(NIC, HPCC, MINE, root=root) == [".so", ".py", ".py"]


def test_an_edited_engine_module_makes_the_whole_engine_run_interpreted(engine: Path, tmp_path: Path) -> None:
    """The engine's classes use each other's memory layout."""
    root = copy_of_package(tmp_path)
    edited = root / sources.engine().modules[0]
    edited.write_text(edited.read_text() + "\n# edited\n")
    assert places(NIC, HPCC, "sfc_testbed.wire.roce.decoder", root=root) == [".py", ".py", ".py"]
