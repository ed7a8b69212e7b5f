# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The files that each kind of change touches, read from the table in CONTRIBUTING.md."""

from __future__ import annotations

import re

from tests.tree import ROOT


def _listed() -> dict[str, set[str]]:
    """Return the files of each kind of change; `NAME` and `GROUP` stand for names that a contributor chooses."""
    rows = re.findall(r"^\| ([a-zA-Z0-9 ]+) \| (.*) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    return {kind: set(re.findall(r"`([\w./-]+/[\w./-]+\.\w+)`", places)) for kind, places in rows}


LISTED = _listed()


def is_at(place: str, pattern: str) -> bool:
    """Return whether a file's path matches a path of the table, in which `NAME` and `GROUP` match any name."""
    return re.fullmatch(re.escape(pattern).replace("NAME", r"\w+").replace("GROUP", r"\w+"), place) is not None
