# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`make wheel`: builds the wheels of the testbed and of softswitch into the folder `dist/`.

The wheels are reproducible: the same files and the same version of setuptools give the same bytes. They are built from
a copy, so that times, permissions and files of earlier builds do not matter.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from sfc_testbed.place import ROOT

DIST = ROOT / "dist"
PARTS = {
    "sfc_testbed": (".", ("pyproject.toml", "README.md", "LICENSE", "src")),
    "softswitch": ("softswitch", ("pyproject.toml", "README.md", "LICENSE", "src")),
}
"""The folder of each distribution, and its files and folders that a wheel is made of."""
_OMITTED = shutil.ignore_patterns("__pycache__", "*.pyc", "*.egg-info")
_TIME = "315532800"
"""The time of all files in a wheel: the earliest one that a zip archive can have, 1980."""


class BuildRefused(Exception):
    """pip cannot build a wheel. The message is the last line of its output."""


def build_wheels(target: Path = DIST) -> list[Path]:
    """Build the wheels into a folder, in place of earlier ones, and return their paths. Raise BuildRefused."""
    with tempfile.TemporaryDirectory() as name:
        built = Path(name) / "built"
        for distribution in PARTS:
            _build(_copied(distribution, Path(name) / distribution), built)
        target.mkdir(parents=True, exist_ok=True)
        for distribution in PARTS:
            for earlier in target.glob(f"{distribution}-*.whl"):
                earlier.unlink()
        return [Path(shutil.copyfile(wheel, target / wheel.name)) for wheel in sorted(built.glob("*.whl"))]


def _copied(distribution: str, copy: Path) -> Path:
    """Copy the files of a distribution, with the files that links lead to, and return the copy's folder."""
    folder, names = PARTS[distribution]
    copy.mkdir()
    for name in names:
        source = ROOT / folder / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=_OMITTED)
        else:
            shutil.copyfile(source, copy / name)
    for path in copy.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return copy


def _build(project: Path, target: Path) -> None:
    command = [sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps"]
    done = subprocess.run(
        [*command, "--wheel-dir", target, project],
        cwd=project,
        env={**os.environ, "SOURCE_DATE_EPOCH": _TIME, "PYTHONWARNINGS": "ignore"},
        capture_output=True,
        text=True,
        check=False,
        umask=0o022,
    )
    if done.returncode != 0:
        raise BuildRefused((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])


if __name__ == "__main__":
    try:
        for built_wheel in build_wheels():
            print(built_wheel.relative_to(ROOT))
    except BuildRefused as error:
        sys.exit(f"pip cannot build the wheels: {error}")
