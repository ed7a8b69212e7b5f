# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The compiled host engine: the same traces as its sources, found by import, and never in anybody's way."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from compiled.build import build_engine, missing
from compiled.modules import INTERPRETED
from compiled.sources import ENGINE, ROOT
from tests.compiled.ways import SCENARIOS

WHERE = "import importlib, sys; print(*(importlib.import_module(name).__file__ for name in sys.argv[1:]), sep='\\n')"
NIC, HPCC, MINE = "hosts.transport.nic", "hosts.transport.congestion.hpcc", "hosts.transport.congestion.mine"
CALLS = "hosts.io.kernel.calls"
MUST_HAVE = {"sfc": ("bts", "sent"), "pfc": ("pfc", "sent"), "faults": ("drops", "link_down")}
"""What a run must have had to be worth comparing, where its flows alone do not say it."""


@pytest.fixture(scope="module")
def engine() -> Path:
    """The build of these sources, made unless it is there."""
    lacking = missing()
    if lacking is not None:
        pytest.skip(lacking)
    return build_engine()


def python(words: Sequence[str], root: Path = ROOT, *, interpreted: str = "0") -> subprocess.CompletedProcess[str]:
    """Runs this Python in a tree."""
    environment = {**os.environ, INTERPRETED: interpreted}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def places(*modules: str, root: Path = ROOT, interpreted: str = "0") -> list[str]:
    """Suffixes of the files that modules come from."""
    done = python(["-c", WHERE, *modules], root, interpreted=interpreted)
    assert done.returncode == 0, done.stderr
    return [Path(line).suffix for line in done.stdout.splitlines()]


def tree(tmp_path: Path) -> Path:
    """A copy of what the engine is made of."""
    for name in ("compiled", "wire", "hosts", "testbed", "softswitch/src/ports"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_imports_take_the_compiled_modules_unless_told_otherwise(engine: Path) -> None:
    """By an environment variable, as a debugger wants it."""
    assert places(NIC, HPCC, CALLS) == [".so", ".so", ".so"]
    assert places(NIC, HPCC, CALLS, interpreted="1") == [".py", ".py", ".py"]


@pytest.fixture(scope="module")
def runs(engine: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`0/NAME-1` and `0/NAME-2`, compiled on one process and on two, and `1/NAME-1`, interpreted."""
    folder = tmp_path_factory.mktemp("ways")
    for interpreted, suffix, counts in (("0", ".so", ("1", "2")), ("1", ".py", ("1",))):
        words = ["-m", "tests.compiled.ways", str(folder / interpreted), *counts]
        done = python(words, interpreted=interpreted)
        assert (done.returncode, done.stdout.split()) == (0, [suffix]), done.stderr
    return folder


def told(run: Path) -> dict[str, Any]:
    """Its result, but for what it cost."""
    result = json.loads((run / "result.json").read_text())
    return {name: value for name, value in result.items() if name not in ("wall_s", "packets_per_s")}


@pytest.mark.parametrize("name", SCENARIOS)
def test_traces_are_the_same_whoever_runs_the_hosts(name: str, runs: Path) -> None:
    """Every row of every table, and the result: compiled or not, on one process or on two."""
    first = runs / "0" / f"{name}-1"
    tables = sorted(first.glob("*.parquet"))
    assert len(tables) >= 4
    assert pl.read_parquet(first / "flows.parquet").height > 0
    if name in MUST_HAVE:
        group, count = MUST_HAVE[name]
        assert told(first)[group][count] > 0
    for other in (runs / "0" / f"{name}-2", runs / "1" / f"{name}-1"):
        for table in tables:
            assert pl.read_parquet(other / table.name).equals(pl.read_parquet(table)), (other.name, table.name)
        assert told(other) == told(first)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["0", "1"], ids=["compiled", "interpreted"])
def test_both_kinds_hold_the_contract(kind: str, engine: Path) -> None:
    """The tests of the engine's contract, in a process of each kind."""
    tests = [
        "tests/hosts/transport/test_transport_contract.py",
        "tests/hosts/transport/scheduling/test_wire_schedule.py",
    ]
    done = python(["-m", "pytest", "-q", "-p", "no:cacheprovider", *tests], interpreted=kind)
    assert done.returncode == 0, done.stdout


def test_an_edited_algorithm_runs_as_it_is_written(engine: Path, tmp_path: Path) -> None:
    """Beside the compiled rest; so does a new one that builds on a compiled one, which knows nothing of all this."""
    root = tree(tmp_path)
    folder = root / "hosts" / "transport" / "congestion"
    folder.joinpath("mine.py").write_text(
        "from hosts.transport.congestion.hpcc import Hpcc\n\n\nclass Mine(Hpcc):\n"
        "    def on_ack(self, sample, now_ns):\n        self.window_bytes = 5\n"
    )
    assert places(NIC, HPCC, MINE, root=root) == [".so", ".so", ".py"]
    edited = folder / "hpcc.py"
    edited.write_text(edited.read_text() + "\n# as somebody left it\n")
    assert places(NIC, HPCC, MINE, root=root) == [".so", ".py", ".py"]


def test_an_edited_engine_runs_as_it_is_written(engine: Path, tmp_path: Path) -> None:
    """All of it: its classes know each other's memory."""
    root = tree(tmp_path)
    edited = root / ENGINE[0]
    edited.write_text(edited.read_text() + "\n# as somebody left it\n")
    assert places(NIC, HPCC, "wire.roce.decoder", root=root) == [".py", ".py", ".py"]
