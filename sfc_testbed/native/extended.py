# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Extended builds: builds of the engine that also have modules of users' files (`runner.py compile FILE.py`).

The modules are compiled together with the engine, because a class uses the memory layout of its base class. An extended
build fits exactly the texts that it was made from. Changed files run interpreted.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from os_helpers.cache import CacheRefused, private_cache
from os_helpers.kept import is_whole
from sfc_testbed.native.sources import build_name, digest_of

WANTED = "SFC_TESTBED_BUILD"
"""The environment variable with the name of the extended build that child processes use, such as agents and jobs."""
USES = "uses.json"
"""An extended build's list of its files, with path and SHA-256."""
_KIND = "extended"
_RECIPE = "sfc_testbed/native/rewriting.py"


@dataclass(frozen=True)
class UserModule:
    """A module of a user's file."""

    name: str
    path: str
    text: str

    @property
    def digest(self) -> str:
        """The SHA-256 of the text."""
        return text_digest(self.text)


@dataclass(frozen=True)
class UserFile:
    """A file of `--use`, with those of its modules that are compiled."""

    path: str
    sha256: str
    """The digest of all its modules."""
    modules: tuple[UserModule, ...]


def text_digest(text: str) -> str:
    """Return the SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def extended_name(files: Iterable[UserFile]) -> str:
    """Return the name of the build of the current engine and these files."""
    parts = sorted(f"{file.path}\0{file.sha256}" for file in files)
    return _prefix() + text_digest("\0".join(parts))[:16]


def _prefix() -> str:
    """Return the common prefix of all extended builds of the current engine and algorithms."""
    return f"{_KIND}-{text_digest(f'{build_name()} {digest_of(_RECIPE)}')[:24]}-"


def uses_of(folder: Path) -> dict[str, str]:
    """Return the files of users in a build, path -> SHA-256."""
    try:
        uses: dict[str, str] = json.loads((folder / USES).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    return uses


def extended_builds() -> list[Path]:
    """Return the whole extended builds of the current engine."""
    try:
        cache = private_cache()
    except CacheRefused:
        return []
    if not any(cache.glob(f"{_KIND}-*")):  # the digests of the engine take a few milliseconds
        return []
    return [folder for folder in sorted(cache.glob(f"{_prefix()}*")) if is_whole(folder)]


def best_build(files: Mapping[str, str]) -> Path | None:
    """Return the extended build that has most of these files (path -> SHA-256) and fewest others, or None."""
    numbers: list[tuple[int, int, str, Path]] = []
    for folder in extended_builds():
        uses = uses_of(folder)
        common = sum(files.get(path) == sha256 for path, sha256 in uses.items())
        if common:
            numbers.append((common, -len(uses), folder.name, folder))
    return max(numbers)[-1] if numbers else None


def wanted_build() -> Path | None:
    """Return the extended build that the environment names, if the cache has it and it fits the current engine."""
    name = os.environ.get(WANTED, "")
    if not name or os.sep in name or not name.startswith(_prefix()):
        return None
    try:
        folder = private_cache() / name
    except CacheRefused:
        return None
    return folder if is_whole(folder) else None


def as_json(files: Sequence[UserFile]) -> str:
    """Return files as JSON, for the process that compiles them."""
    return json.dumps([[file.path, file.sha256, [[m.name, m.path, m.text] for m in file.modules]] for file in files])


def from_json(text: str) -> list[UserFile]:
    """Return the files of `as_json`."""
    return [
        UserFile(path, sha256, tuple(UserModule(*module) for module in modules))
        for path, sha256, modules in json.loads(text)
    ]
