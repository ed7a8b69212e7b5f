# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Links between pages lead to existing files and headings, and files in inline code exist."""

from __future__ import annotations

import re
from pathlib import Path

from tests.docs.commands import PAGES, spans_of
from tests.test_citations import anchors
from tests.tree import ROOT, files_of_tree

_LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
_FILE = re.compile(r"[\w.-]+(/[\w.-]+)+\.\w+")
_PLACEHOLDER = re.compile(r"[A-Z]{2}")


def test_links_lead_to_existing_files_and_headings() -> None:
    broken, followed = [], 0
    for page in PAGES:
        for name, anchor in _LINK.findall((ROOT / page).read_text(encoding="utf-8")):
            followed += 1
            target = (ROOT / page).parent / name if name else ROOT / page
            is_valid = target.exists() and (not anchor or anchor in anchors(target.resolve()))
            broken += [] if is_valid else [f"{page}: {name}#{anchor}"]
    assert followed > 100
    assert not broken


def test_files_in_inline_code_exist() -> None:
    """Files are named by their path, and P4 files by the end of it. Names with capitals are placeholders."""
    files = files_of_tree()
    ours = {Path(name).parts[0] for name in files}
    ends = {"/".join(Path(name).parts[-count:]) for name in files for count in range(2, len(Path(name).parts) + 1)}
    named = {(span.page, span.text) for page in PAGES for span in spans_of(page) if _FILE.fullmatch(span.text)}
    expected = {
        (place, name)
        for place, name in named
        if not _PLACEHOLDER.search(name) and (name.partition("/")[0] in ours or name.endswith(".p4"))
    }
    assert len(expected) > 50
    assert not sorted(f"{place}: {name}" for place, name in expected if name not in ends)
