# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The tutorial does what it says: its files are made and its commands typed in a copy of the tree."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

from command.output import EXIT_INVALID
from tests.changes.change import copy_of_tree
from tests.changes.places import LISTED, is_at
from tests.docs.page import ROOT_WORD, Page, type_in
from tests.testbed.running import needs_mininet
from tests.tree import ROOT, files_of_tree

FOLDER = ROOT / "docs" / "tutorial"
PAGE = Page.read(FOLDER / "README.md")
KINDS = {
    "Your congestion control": "congestion control",
    "Your network": "topology",
    "Your workload": "scenario",
}
"""Sections, and the rows of CONTRIBUTING's table that they are examples of."""


@pytest.mark.parametrize("section", KINDS)
def test_contributing_has_the_places_that_the_tutorial_touches(section: str) -> None:
    """All of them, and no others."""
    patterns, places = LISTED[KINDS[section]], PAGE.places(section)
    assert all(any(is_at(place, pattern) for pattern in patterns) for place in places)
    assert all(any(is_at(place, pattern) for place in places) for pattern in patterns)


def test_every_file_is_made_and_every_command_typed(tmp_path: Path) -> None:
    """Those that need no root, in the order of the page; what they leave is of runs that went as the page says."""
    tree = copy_of_tree(tmp_path)
    PAGE.make(tree)
    said = type_in(tree, [words for words in PAGE.commands() if words[0] != ROOT_WORD])
    results = [json.loads(path.read_text()) for path in sorted(tree.glob("runs/**/result.json"))]
    assert len(results) > 10
    for result in results:
        assert result["verdict"] == "faithful"
        assert result["flows"]["completed"] == result["flows"]["total"]
    assert {result["scheme"] for result in results} >= {"irn", "irn+steady", "sfc+steady"}
    for tag in ("shuffle", "allreduce"):
        assert re.search(rf"{tag}, all of it +[\d.]+ µs, ideal", said)
    [trace] = tree.glob("runs/steady/*/cc.parquet")
    windows = pl.read_parquet(trace)["cwnd_bytes"]
    assert windows.n_unique() > 5
    assert (tree / "steady.png").stat().st_size > 1_000


@needs_mininet
def test_what_is_typed_with_sudo_runs_on_mininet(tmp_path: Path) -> None:
    """All flows arrive; how late this machine was is not asked."""
    tree = copy_of_tree(tmp_path)
    live = [words[1:] for words in PAGE.commands() if words[0] == ROOT_WORD]
    type_in(tree, live, statuses=(0, EXIT_INVALID))
    results = [json.loads(path.read_text()) for path in tree.glob("runs/*/result.json")]
    assert results
    for result in results:
        assert (result["clock"], result["flows"]["completed"], result["unexplained_loss"]) == ("real", 4, 0)


def test_symptoms_are_words_of_the_testbed() -> None:
    """What stands in code in the first column of the troubleshooting page is said by some source."""
    page = (FOLDER / "troubleshooting.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.*?) \| ", page, re.MULTILINE)
    symptoms = [words for row in rows for words in re.findall(r"`([^`]+)`", row)]
    sources = "\n".join(
        (ROOT / name).read_text(encoding="utf-8")
        for name in files_of_tree()
        if name.endswith(".py") and not name.startswith("tests/")
    )
    assert len(symptoms) > 15
    assert not [words for words in symptoms if words not in sources]
