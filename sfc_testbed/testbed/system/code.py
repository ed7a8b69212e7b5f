# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A digest of the code that determines a run's results, so that a sweep never mixes versions.

It covers the project's modules, the C sources, the compiled P4 programs, the workload data, and the versions of Python,
NumPy, Polars and Pydantic. It omits code that only presents results or only schedules runs.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path

import softswitch
from sfc_testbed.place import PACKAGE

FOLDERS = (
    "analysis",
    "hosts",
    "request",
    "scenarios",
    "softswitch",
    "switch-bmv2",
    "telemetry",
    "testbed",
    "topologies",
    "wire",
)
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
def code_digest(root: Path = PACKAGE, folders: Sequence[str] = FOLDERS) -> str:
    """Return the digest of the sources in these folders as they are on disk now, in hexadecimal."""
    digest = hashlib.sha256()
    for word in (platform.python_version(), *(f"{name} {metadata.version(name)}" for name in _PACKAGES)):
        digest.update(f"{word}\0".encode())
    for name in folders:
        folder = _folder(root, name)
        for path in _sources(root, folder):
            content = path.read_bytes()
            digest.update(f"{name}/{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
            digest.update(content)
    return digest.hexdigest()


def _folder(root: Path, name: str) -> Path:
    """Return a folder of the package, or that of softswitch, which is installed beside the package."""
    return Path(softswitch.__path__[0]) if name == "softswitch" else root / name


def _sources(root: Path, folder: Path) -> Iterator[Path]:
    omitted = tuple(root / name for name in SHOWS_OR_SCHEDULES)
    for path in sorted(folder.rglob("*")):
        if path.suffix in _SUFFIXES and not any(path.is_relative_to(name) for name in omitted):
            yield path
