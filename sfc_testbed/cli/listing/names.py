# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The names that users type, with their meanings. The cache keeps them, because their modules load slowly."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from os_helpers.cache import CacheRefused, private_cache
from os_helpers.kept import DIGITS, CacheGone, kept_file
from sfc_testbed.place import PACKAGE

_SOURCES = ("scenarios", "topologies", "request", "api", "cli/listing")
"""The folders with all that the names and their meanings depend on."""

Names = dict[str, list[list[str]]]
"""Rows by kind. A row is a name and its meaning, and for a scenario also the names of its scales."""


def names() -> Names:
    """Return the names of scenarios, faults and topologies, with those of extensions."""
    extensions = sys.modules.get("sfc_testbed.request.extensions")
    return _names_in_cache() if extensions is None or not extensions.loaded() else _names()


@cache
def _names_in_cache() -> Names:
    try:
        path = kept_file(private_cache(), f"names-{_digest()}", ".json", _write)
        kept: Names = json.loads(path.read_bytes())
        return kept
    except (CacheRefused, CacheGone, OSError, ValueError):
        return _names()


def _write(path: Path) -> None:
    path.write_text(json.dumps(_names()), encoding="utf-8")


def _digest() -> str:
    """Return the digest of all sources."""
    digest = hashlib.sha256()
    for path in sorted(_sources()):
        digest.update(f"{path}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:DIGITS]


def _sources() -> Iterator[Path]:
    for folder in _SOURCES:
        yield from (PACKAGE / folder).rglob("*.py")


def _names() -> Names:
    from sfc_testbed.api.catalogue import names_of
    from sfc_testbed.scenarios.catalogue import SCENARIOS

    others = {kind: [[*row] for row in names_of(kind).items()] for kind in ("faults", "topologies")}
    return {"scenarios": [[row.name, row.summary, *row.scales] for row in SCENARIOS.values()], **others}
