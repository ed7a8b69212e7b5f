# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Packages in a user's folder, with the names of the testbed's own, affect neither a clone nor an installed wheel.

The wheel has nothing else at its top level than the package, has its data, and writes nothing where it is installed.
"""

from __future__ import annotations

import json
import os
import sys
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from sfc_testbed.cli.output import EXIT_DONE, EXIT_INVALID
from sfc_testbed.testbed.system.code import code_digest
from tests.outside import run_outside
from tests.testbed import running
from tests.tree import LINKS, files_of_tree
from tools.build_wheels import BuildRefused, build_wheels

NAMES = (
    *("analysis", "cli", "documents", "hosts", "native", "reproduction", "request", "scenarios", "simulators"),
    *("telemetry", "testbed", "tools", "topologies", "wire"),
)
"""The packages of the testbed before they were below one name, and its folder of tools."""
PATIENCE_S = 900.0
"""Time for a command, which may compile the host engine first."""
TINY = ("--scale", "ci", "--set", "message_bytes=50000")
SWEEP = "name: mine\nscenario: incast\nclock: virtual\nschemes: [irn, sfc]\nscale: ci\naxes:\n  degree: [3, 4]\n"

installed_too = pytest.mark.parametrize(
    "command", ["clone", pytest.param("wheel", marks=pytest.mark.long)], indirect=True
)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Build the wheels of the testbed and of softswitch. Skip the test if pip cannot get what this needs."""
    try:
        return build_wheels(tmp_path_factory.mktemp("dist"))
    except BuildRefused as error:
        pytest.skip(f"pip cannot build wheels: {error}")


@pytest.fixture(scope="module")
def programs(wheels: Sequence[Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the `bin` of an environment with the wheels and with the other packages of this environment."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True, system_site_packages=True)
    [packages] = folder.glob("lib/python*/site-packages")
    others = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    (packages / "others.pth").write_text("\n".join(others))
    words = ["install", "--quiet", "--no-deps", "--no-index", "--ignore-installed", *map(str, wheels)]
    run_outside(folder, folder / "bin" / "python", "-m", "pip", *words, timeout_s=PATIENCE_S).check_returncode()
    return folder / "bin"


@pytest.fixture
def command(request: pytest.FixtureRequest) -> list[str]:
    """Return the words that start the command, in the clone or from the wheel."""
    if request.param == "clone":
        return running.command()
    return [str(request.getfixturevalue("programs") / "sfc-testbed")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a user's folder with packages that cannot be imported."""
    for name in NAMES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(f"raise ImportError('imported the package {name} of a user')\n")
    return tmp_path


def _run(command: Sequence[str], folder: Path, *words: str, ends: Sequence[int] = (EXIT_DONE,)) -> str:
    """Run a command of a user who has the folder in PYTHONPATH."""
    done = run_outside(folder, *command, *words, timeout_s=PATIENCE_S, PYTHONPATH=str(folder))
    assert done.returncode in ends, done.stdout + done.stderr
    return done.stdout


def _has_completed(output: str, flows: int) -> bool:
    result: dict[str, int] = json.loads(output)["flows"]
    return result["completed"] == result["total"] == flows


@installed_too
@pytest.mark.timeout(PATIENCE_S)
def test_virtual_run_and_its_workers_import_nothing_of_the_user(command: list[str], folder: Path) -> None:
    words = ("run", "incast", "--clock", "virtual", "--workers", "2", "--set", "degree=3", *TINY, "--json")
    assert _has_completed(_run(command, folder, *words), 3)


@installed_too
@pytest.mark.timeout(PATIENCE_S)
def test_jobs_of_a_sweep_import_nothing_of_the_user(command: list[str], folder: Path) -> None:
    (folder / "sweep.yaml").write_text(SWEEP)
    assert "4 jobs: 4 run now" in _run(command, folder, "sweep", "sweep.yaml", "--workers", "2")


@installed_too
@running.needs_mininet
@pytest.mark.timeout(PATIENCE_S)
def test_live_run_and_its_agents_import_nothing_of_the_user(command: list[str], folder: Path) -> None:
    words = ("run", "incast", "--set", "degree=3", *TINY, "--json")
    assert _has_completed(_run(command, folder, *words, ends=(EXIT_DONE, EXIT_INVALID)), 3)


@pytest.mark.long
def test_wheels_have_one_package_each_and_all_files(wheels: Sequence[Path]) -> None:
    testbed, softswitch = (set(zipfile.ZipFile(wheel).namelist()) for wheel in wheels)
    assert _top(testbed) == {"sfc_testbed"}
    assert _top(softswitch) == {"softswitch", "os_helpers"}
    assert {name for name in testbed if not _is_metadata(name)} == _installed_files()
    source = "softswitch/src/"
    assert {name for name in softswitch if not _is_metadata(name)} == {
        name.removeprefix(source) for name in files_of_tree() if name.startswith(source)
    }
    for names in (testbed, softswitch):
        assert any(name.endswith("LICENSE") for name in names)


def _top(names: set[str]) -> set[str]:
    return {name.partition("/")[0] for name in names if not _is_metadata(name)}


def _is_metadata(name: str) -> bool:
    return name.partition("/")[0].endswith(".dist-info")


def _installed_files() -> set[str]:
    """Return the files of the package in the tree, by their names in the package."""
    folders = {os.path.normpath(f"sfc_testbed/{target}"): name for name, target in LINKS.items()}
    files = {name for name in files_of_tree() if name.startswith("sfc_testbed/") and name.count("/") > 0}
    for folder, name in folders.items():
        files |= {
            f"sfc_testbed/{name}/{file.removeprefix(f'{folder}/')}"
            for file in files_of_tree()
            if file.startswith(f"{folder}/")
        }
    return files


@pytest.mark.long
def test_wheels_are_reproducible(wheels: Sequence[Path], tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        again = build_wheels(tmp_path)
    finally:
        os.umask(before)
    assert [path.read_bytes() for path in again] == [path.read_bytes() for path in wheels]


@pytest.mark.long
@pytest.mark.timeout(PATIENCE_S)
def test_wheel_has_the_clones_code_and_writes_nothing_where_it_is_installed(programs: Path, tmp_path: Path) -> None:
    before = _files_without_bytecode(programs)
    _run([str(programs / "sfc-testbed")], tmp_path, "run", "incast", "--clock", "virtual", *TINY, "--out", "runs")
    [config] = tmp_path.glob("runs/*/config.json")
    assert json.loads(config.read_text())["command"].startswith("sfc-testbed run incast ")
    code = "from sfc_testbed.testbed.system.code import code_digest; print(code_digest())"
    assert _run([str(programs / "python")], tmp_path, "-c", code).strip() == code_digest()
    assert _files_without_bytecode(programs) == before


def _files_without_bytecode(programs: Path) -> set[Path]:
    return {path for path in programs.parent.rglob("*") if "__pycache__" not in path.parts}


@pytest.mark.long
def test_messages_of_an_installation_name_nothing_of_a_clone(programs: Path, tmp_path: Path) -> None:
    command = [str(programs / "sfc-testbed")]
    texts = [
        _run(command, tmp_path, *words)
        for words in (
            ("doctor",),
            ("list",),
            ("list", "incast"),
            ("list", "--schemes"),
            ("run", "--help"),
            ("validate", "--show"),
            ("reproduce", "signaling", "--show", "--full"),
        )
    ]
    for text in texts:
        assert not [word for word in ("runner.py", "make ", "provision.sh", ".venv/") if word in text], text
