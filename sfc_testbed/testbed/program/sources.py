# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The P4 sources of this tree, and whether the committed artifacts were compiled from them.

`tools.compile_p4` compiles the sources and stores their hash beside the artifacts.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from sfc_testbed.place import PACKAGE, is_clone
from sfc_testbed.testbed.errors import UsageError
from softswitch.p4c import COMPILER

SOURCES = Path("switch-bmv2")
ARTIFACTS = SOURCES / "artifacts"
HASH_FILE = ARTIFACTS / "sources.sha256"
OWN_PROGRAM = ARTIFACTS / "sfc.json"
"""The program that switches run without `--p4`. Paths are relative to the package and to a clone."""

HOW_TO_GET_IT = "docs/bmv2.md says how to get it"


def source_hash(root: Path = PACKAGE) -> str:
    """Return the SHA-256 over the names and contents of all P4 sources."""
    digest = hashlib.sha256()
    for path in sorted((root / SOURCES).rglob("*.p4")):
        digest.update(f"{path.relative_to(root)}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def can_compile() -> bool:
    """Return whether `make p4` finds a compiler."""
    return any(shutil.which(name) for name in (COMPILER, "docker"))


def check_artifacts(root: Path = PACKAGE) -> None:
    """Raise UsageError if a P4 source was edited but not compiled, since a run would use the previous version."""
    stored = root / HASH_FILE
    if stored.exists() and stored.read_text().strip() == source_hash(root):
        return
    if not is_clone():
        raise UsageError(f"the files in {root / SOURCES}/ are not those of the package: install it again")
    compiles = (
        "`make p4` compiles them"
        if can_compile()
        else f"`make p4` compiles them where there is {COMPILER} or Docker ({HOW_TO_GET_IT}); without, undo the change"
    )
    raise UsageError(f"the P4 sources in {SOURCES}/ are not those that {OWN_PROGRAM} was compiled from: {compiles}")
