# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Links between pages lead to a file and a heading; files of ours that prose names are there."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.commands import PAGES, spans_of
from tests.test_citations import anchors
from tests.tree import ROOT, files_of_tree

_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
_FILE = re.compile(r"[\w.-]+(/[\w.-]+)+\.\w+")
_PLACEHOLDER = re.compile(r"[A-Z]{2}")


def test_links_lead_somewhere() -> None:
    """Relative to their page."""
    broken, followed = [], 0
    for page in PAGES:
        for name, anchor in _LINK.findall((ROOT / page).read_text(encoding="utf-8")):
            followed += 1
            target = (ROOT / page).parent / name if name else ROOT / page
            is_there = target.exists() and (not anchor or anchor in anchors(target.resolve()))
            broken += [] if is_there else [f"{page}: {name}#{anchor}"]
    assert followed > 100
    assert not broken


def test_files_that_prose_names_are_there() -> None:
    """By their path in the tree, of P4 by the end of it. Names in capitals stand for the reader's own."""
    files = files_of_tree()
    ours = {Path(name).parts[0] for name in files}
    ends = {"/".join(Path(name).parts[-count:]) for name in files for count in range(2, len(Path(name).parts) + 1)}
    named = {(each.place, each.text) for page in PAGES for each in spans_of(page) if _FILE.fullmatch(each.text)}
    sought = {
        (place, name)
        for place, name in named
        if not _PLACEHOLDER.search(name) and (name.partition("/")[0] in ours or name.endswith(".p4"))
    }
    assert len(sought) > 50
    assert not sorted(f"{place}: {name}" for place, name in sought if name not in ends)
