# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The files that each kind of change touches, read from CONTRIBUTING's table."""

from __future__ import annotations

import re

from tests.tree import ROOT


def _listed() -> dict[str, set[str]]:
    """Kind -> places, from CONTRIBUTING's table; `NAME` and `GROUP` stand for what is chosen."""
    rows = re.findall(r"^\| ([a-zA-Z0-9 ]+) \| (.*) \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    return {kind: set(re.findall(r"`([\w./-]+/[\w./-]+\.\w+)`", places)) for kind, places in rows}


LISTED = _listed()


def is_at(place: str, pattern: str) -> bool:
    """Whether a file is one that such a pattern means."""
    return re.fullmatch(re.escape(pattern).replace("NAME", r"\w+").replace("GROUP", r"\w+"), place) is not None
