# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""What code cites can be read in this repository: sections of docs/sources.md and of other documents."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.tree import ROOT, files_of_tree

SUFFIXES = {".py", ".p4", ".c", ".h", ".md", ".yaml", ".sh", ".toml", ".stf"}
CITATION = re.compile(r"(docs/[\w/-]+\.md)(?:#([\w-]+))?")
# Documents that this repository does not have must not be cited by their section.
ELSEWHERE = re.compile(r"\b(?:FACTS|DESIGN|ANCHORS)(?:\.md)?\s*(?:§|sections?\b|:)")


def _texts() -> list[Path]:
    paths = [ROOT / name for name in files_of_tree()]
    return [path for path in paths if path.suffix in SUFFIXES and path != Path(__file__)]


@cache
def anchors(document: Path) -> frozenset[str]:
    """The anchors of a document's headings, as a Markdown viewer makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings)


def test_every_citation_resolves() -> None:
    broken = []
    cited = 0
    for path in _texts():
        for document, anchor in CITATION.findall(path.read_text(encoding="utf-8")):
            cited += 1
            target = ROOT / document
            if not target.exists() or (anchor and anchor not in anchors(target)):
                broken.append(f"{path.relative_to(ROOT)}: {document}#{anchor}")
    assert cited > 20, "the pattern finds no citations any more"
    assert not broken


def test_nothing_outside_the_repository_is_cited() -> None:
    """A reader of a comment can look up what it names."""
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in _texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if ELSEWHERE.search(line)
    ]
    assert not found
