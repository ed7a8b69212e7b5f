# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for stored results: one run in each line, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.analysis.validation.record import read_validation
from sfc_testbed.documents.stored import CASES, PAIRS, PageError, replaced, write_runs
from sfc_testbed.simulators.comparison import read_peer_validation


@pytest.mark.parametrize(("path", "read"), [(PAIRS, read_validation), (CASES, read_peer_validation)])
def test_stored_runs_are_lines_and_read_back_the_same(path: Path, read: object, tmp_path: Path) -> None:
    assert callable(read)
    stored = read(path)
    write_runs(tmp_path / "again.json", stored)
    assert (tmp_path / "again.json").read_text() == path.read_text()
    assert len(path.read_text().splitlines()) == len(stored.runs) + 2


def test_a_page_needs_one_pair_of_markers() -> None:
    page = Path("page.md")
    assert (
        replaced(page, "a <!-- begin x -->b<!-- end x --> c", "x", "new") == "a <!-- begin x -->\nnew\n<!-- end x --> c"
    )
    for text in ("no marker", "<!-- begin x -->", "<!-- begin x --><!-- end x -->" * 2):
        with pytest.raises(PageError, match=r"page\.md: expected one pair"):
            replaced(page, text, "x", "new")
