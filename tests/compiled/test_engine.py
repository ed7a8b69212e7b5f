# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The compiled host engine: the same traces as its sources, found by import, and never in anybody's way."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest

from compiled.build import build_engine, missing
from compiled.modules import INTERPRETED
from compiled.sources import ENGINE, ROOT

WHERE = "import importlib, sys; print(*(importlib.import_module(name).__file__ for name in sys.argv[1:]), sep='\\n')"
NIC, HPCC, MINE = "hosts.transport.nic", "hosts.transport.congestion.hpcc", "hosts.transport.congestion.mine"
CALLS = "hosts.io.kernel.calls"
SMALL = ("--clock", "virtual", "--seed", "7", "--json")
SCENARIOS = {
    "sfc": ("run", "incast", "--scheme", "sfc", "--set", "degree=6", "--set", "message_bytes=60000"),
    "pfc": ("run", "testbed-incast", "--scheme", "pfc", "--duration", "0.1"),
    "fault": (
        *("run", "incast", "--scheme", "irn", "--set", "degree=6", "--set", "message_bytes=60000"),
        *("--fault", "link:tor2-spine1,down=2us,up=60us"),
    ),
    "telemetry": ("run", "datacentre", "--scheme", "sfc+hpcc", "--duration", "0.05"),
    "delays": ("run", "hadoop-50", "--scheme", "onramp+dcqcn", "--duration", "0.05"),
    "pulls": ("run", "incast", "--scheme", "ndp", "--set", "degree=6", "--set", "message_bytes=60000"),
}


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


@pytest.mark.long
@pytest.mark.parametrize("name", SCENARIOS)
def test_traces_are_those_of_the_sources(name: str, engine: Path, tmp_path: Path) -> None:
    """Every row of every table."""
    for kind in ("0", "1"):
        words = ["runner.py", *SCENARIOS[name], *SMALL, "--out", str(tmp_path / kind)]
        done = python(words, interpreted=kind)
        assert done.returncode in (0, 3), done.stderr
    compiled, interpreted = ({path.name: path for path in (tmp_path / kind).rglob("*.parquet")} for kind in "01")
    assert len(compiled) >= 4 and compiled.keys() == interpreted.keys()
    assert pl.read_parquet(compiled["flows.parquet"]).height > 0
    for table, path in compiled.items():
        assert pl.read_parquet(path).equals(pl.read_parquet(interpreted[table])), table


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
