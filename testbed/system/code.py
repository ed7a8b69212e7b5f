# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A digest of the code that decides a run's results, so that a sweep never mixes versions.

Our own modules, the C sources, the compiled P4 programs, the data of workloads, and the versions of Python and of the
packages that draw and reckon. Left out is what only shows results, or only decides where and when a run is made.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("analysis", "hosts", "scenarios", "softswitch", "switch-bmv2", "telemetry", "testbed", "topologies", "wire")
SHOWS_OR_SCHEDULES = (
    "analysis/plots",
    "analysis/report",
    "analysis/validation",
    "testbed/jobs",
    "testbed/sweep",
    "testbed/validation",
)
_SUFFIXES = {".py", ".c", ".h", ".json", ".csv"}
_PACKAGES = ("numpy", "polars", "pydantic")


@cache
def code_digest(root: Path = ROOT, folders: Sequence[str] = FOLDERS) -> str:
    """Hexadecimal; of the sources in these folders as they are on disk now."""
    digest = hashlib.sha256()
    for word in (platform.python_version(), *(f"{name} {metadata.version(name)}" for name in _PACKAGES)):
        digest.update(f"{word}\0".encode())
    for path in _sources(root, folders):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources(root: Path, folders: Sequence[str]) -> Iterator[Path]:
    left_out = tuple(root / folder for folder in SHOWS_OR_SCHEDULES)
    for folder in folders:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in _SUFFIXES and not any(path.is_relative_to(each) for each in left_out):
                yield path
