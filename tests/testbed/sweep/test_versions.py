# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that a resumed sweep never mixes versions: changed code, P4 programs or input files make new jobs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from sfc_testbed.native.modules import INTERPRETED
from sfc_testbed.place import PACKAGE
from sfc_testbed.scenarios.traffic.sizes import load_sizes
from sfc_testbed.testbed.sweep.sweep import jobs_of, read_sweep
from sfc_testbed.testbed.system.code import FOLDERS, SHOWS_OR_SCHEDULES, _folder, _sources
from tests.tree import ROOT, copy_of_package

OTHERS = {"api", "cli", "contract", "documents", "native", "reproduction", "simulators"}
"""Folders whose code does not affect results."""
SWEEP = "name: a\nscenario: incast\nschemes: [sfc]\nsettings: {message_bytes: 5000, degree: 2}\n"


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of this tree that tests may change."""
    copy = copy_of_package(tmp_path_factory.mktemp("tree"))
    shutil.copytree(ROOT / "softswitch" / "src", copy / "softswitch" / "src")
    shutil.copy(ROOT / "runner.py", copy)
    return copy


def _sweep(tree: Path, out: Path) -> subprocess.CompletedProcess[str]:
    file = out / "sweep.yaml"
    file.write_text(SWEEP)
    command = [sys.executable, str(tree / "runner.py"), "sweep", str(file), "--out", str(out)]
    # The version of the code is the same if it is interpreted, and compiling would take a minute.
    environment = {**os.environ, INTERPRETED: "1", "PYTHONPATH": str(tree / "softswitch" / "src")}
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=200, env=environment)


@pytest.mark.parametrize("changed", ["hosts/transport/sender.py", "switch-bmv2/artifacts/sfc.json"])
@pytest.mark.long
def test_jobs_are_repeated_after_a_change_of_the_code(changed: str, tree: Path, tmp_path: Path) -> None:
    assert "1 run now, 0 already complete" in _sweep(tree, tmp_path).stdout
    again = _sweep(tree, tmp_path)
    assert "0 run now, 1 already complete" in again.stdout
    with (tree / changed).open("a") as source:
        source.write("\n")
    other = _sweep(tree, tmp_path)
    assert "1 run now, 0 already complete" in other.stdout
    assert "other versions of the code" in other.stderr
    assert "other versions of the code" not in again.stderr
    assert len(list((tmp_path / "a" / "jobs").glob("*/result.json"))) == 2
    assert pl.read_parquet(tmp_path / "a" / "results.parquet").height == 1


def test_the_content_of_a_file_of_sizes_is_part_of_the_job(tmp_path: Path) -> None:
    sizes, file = tmp_path / "sizes.txt", tmp_path / "sweep.yaml"
    file.write_text(f"name: a\nscenario: datacentre\nschemes: [sfc]\nsettings: {{sizes: {sizes}, arrivals_us: 50}}\n")
    names = []
    for largest in (2000, 3000):
        sizes.write_text(f"1000 0\n{largest} 100\n")
        load_sizes.cache_clear()
        names += [job.name for job in jobs_of(read_sweep(file))]
    assert len(set(names)) == 2


def test_every_folder_of_code_is_listed_as_relevant_or_not() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/*.py")} | {"softswitch", "switch-bmv2"}
    assert folders == {*FOLDERS, *OTHERS}
    assert all((PACKAGE / folder).is_dir() for folder in SHOWS_OR_SCHEDULES)


def test_softswitch_is_relevant_but_its_tests_are_not() -> None:
    relevant = set(_sources(PACKAGE, _folder(PACKAGE, "softswitch")))
    sources = {path for kind in ("*.py", "*.[ch]") for path in (ROOT / "softswitch" / "src" / "softswitch").rglob(kind)}
    assert {".py", ".c", ".h"} == {path.suffix for path in sources}
    assert sources <= relevant
