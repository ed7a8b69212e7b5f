# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Citations in the code lead to documents of this repository and to sections that exist in them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.tree import ROOT, files_of_tree

SUFFIXES = {".py", ".p4", ".c", ".h", ".md", ".yaml", ".sh", ".toml", ".stf"}
CITATION = re.compile(r"((?:softswitch/)?docs/[\w/-]+\.md)(?:#([\w-]+))?")
# The names of working documents that are not in this repository, followed by a section.
ELSEWHERE = re.compile(r"\b(?:FACTS|DESIGN|ANCHORS)(?:\.md)?\s*(?:§|sections?\b|:)")


def _texts() -> list[Path]:
    paths = [ROOT / name for name in files_of_tree()]
    return [path for path in paths if path.suffix in SUFFIXES and path != Path(__file__)]


@cache
def anchors(document: Path) -> frozenset[str]:
    """Return the anchors of a document's headings, as a Markdown viewer generates them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return frozenset(re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-") for heading in headings)


def test_every_citation_resolves() -> None:
    broken = []
    cited = 0
    for path in _texts():
        for document, anchor in CITATION.findall(path.read_text(encoding="utf-8")):
            cited += 1
            target = next((place / document for place in (ROOT, path.parent) if (place / document).exists()), None)
            if target is None or (anchor and anchor not in anchors(target)):
                broken.append(f"{path.relative_to(ROOT)}: {document}#{anchor}")
    assert cited > 20, "the pattern no longer matches citations"
    assert not broken


def test_nothing_outside_the_repository_is_cited() -> None:
    citations = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in _texts()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if ELSEWHERE.search(line)
    ]
    assert not citations
