# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The tutorial works, and changes nothing in the testbed: its files are created, and its commands typed."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from sfc_testbed.cli.output import EXIT_INVALID
from tests.changes.change import copy_of_tree
from tests.docs.commands import ROOT_WORD
from tests.docs.page import Page, type_in
from tests.testbed.running import needs_mininet
from tests.tree import ROOT, files_of_tree

FOLDER = ROOT / "docs" / "tutorial"
PAGE = Page.read(FOLDER / "README.md")
CLONE, OWN = "sfc-testbed", "ideas"
"""The folders of the testbed and of the reader on the page."""


@dataclass(frozen=True)
class Typed:
    """The reader's folder, the output of the commands of the page, and the results of their runs in order."""

    folder: Path
    output: str
    results: list[dict[str, Any]]
    changed: set[str]
    """Files of the testbed that are new, removed or different."""

    def of(self, scenario: str, scheme: str, *, flows: int) -> dict[str, Any]:
        """Return the first run of a scenario under a scheme with this number of flows."""
        return next(
            result
            for result in self.results
            if (result["scenario"], result["scheme"], result["flows"]["total"]) == (scenario, scheme, flows)
        )


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Typed:
    """Create every file of the page beside a copy of the tree, and type the commands that need no root, in order."""
    parent = tmp_path_factory.mktemp("tutorial")
    tree, folder = copy_of_tree(parent, CLONE), parent / OWN
    before = _contents(tree)
    PAGE.make(folder)
    output = type_in(tree, [words for words in PAGE.commands() if words[0] != ROOT_WORD])
    after = _contents(tree)
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    paths = sorted(parent.glob("*/runs/**/result.json"), key=lambda path: path.parent.stat().st_mtime)
    return Typed(folder, output, [json.loads(path.read_text()) for path in paths], changed)


def _contents(tree: Path) -> dict[str, bytes]:
    """Return the contents of files by name. Files that git ignores are left out."""
    ignored = {"runs", "__pycache__", "build"}
    paths = {path.relative_to(tree): path for path in tree.rglob("*") if path.is_file()}
    return {str(name): path.read_bytes() for name, path in paths.items() if not ignored & set(name.parts)}


def test_nothing_in_the_testbed_changes(typed: Typed) -> None:
    assert not typed.changed
    assert (typed.folder / ".git").is_dir() == (shutil.which("git") is not None)


def test_every_file_is_made_and_every_command_typed(typed: Typed) -> None:
    folder, output, results = typed.folder, typed.output, typed.results
    assert len(results) > 10
    for result in results:
        assert result["verdict"] == "faithful"
        assert result["flows"]["completed"] == result["flows"]["total"]
    assert {result["scheme"] for result in results} >= {"irn", "irn+steady", "sfc+steady"}
    for tag in ("shuffle", "allreduce"):
        assert re.search(rf"completion of {tag} +[\d.]+ µs, ideal", output)
    [trace] = folder.glob("runs/steady/*/cc.parquet")
    windows = pl.read_parquet(trace)["cwnd_bytes"]
    assert windows.n_unique() > 5
    assert "congestion control steady: " in output
    assert "all hold" in output
    assert (folder / "steady.png").stat().st_size > 1_000


def test_sfc_has_at_most_half_of_irn_s_buffer_in_the_first_example(typed: Typed) -> None:
    irn, sfc = typed.of("incast", "irn", flows=12), typed.of("incast", "sfc", flows=12)
    assert sfc["bts"]["sent"] > 100
    assert irn["bts"]["sent"] == 0
    assert sfc["max_buffer_bytes"] < 0.5 * irn["max_buffer_bytes"]


def test_the_first_example_s_table_has_the_figures_of_its_runs(typed: Typed) -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([\d.]+ [KM]B) \| ([\d.]+) \| (\d+) \|$", text, re.MULTILINE)
    assert [row[0] for row in rows] == ["irn", "sfc"]
    for scheme, buffer, p50, bts in rows:
        assert re.search(
            rf"^ {scheme} +faithful +12/12 +{re.escape(buffer)} .* {re.escape(p50)} .* {bts} *$", typed.output, re.M
        )


def test_own_congestion_control_reduces_the_buffer_and_sfc_reduces_it_further(typed: Typed) -> None:
    irn, steady, both = (typed.of("incast", scheme, flows=8) for scheme in ("irn", "irn+steady", "sfc+steady"))
    assert both["max_buffer_bytes"] < steady["max_buffer_bytes"] < irn["max_buffer_bytes"]


def test_sfc_reduces_the_buffer_of_the_scenario_questions(typed: Typed) -> None:
    irn, sfc = typed.of("questions", "irn", flows=96), typed.of("questions", "sfc", flows=96)
    assert sfc["bts"]["sent"] > 100
    assert sfc["max_buffer_bytes"] < 0.6 * irn["max_buffer_bytes"]
    took_us = [result["completion"]["questions"]["took_us"] for result in (irn, sfc)]
    assert took_us[1] == pytest.approx(took_us[0], rel=0.02)


def test_switches_send_bts_in_every_sfc_run_but_the_list_of_three_messages(typed: Typed) -> None:
    runs = [result for result in typed.results if result["scheme"].startswith("sfc")]
    assert len(runs) >= 8
    for result in runs:
        assert (result["bts"]["sent"] > 0) == (result["flows"]["total"] != 3), result["scenario"]


@needs_mininet
def test_what_is_typed_with_sudo_runs_on_mininet(tmp_path: Path) -> None:
    """All flows arrive. A run may be invalid because this machine was late."""
    tree = copy_of_tree(tmp_path, CLONE)
    PAGE.make(tmp_path / OWN)
    live = [words[1:] if words[0] == ROOT_WORD else words for words in PAGE.commands() if words[0] in (ROOT_WORD, "cd")]
    type_in(tree, live, statuses=(0, EXIT_INVALID))
    results = [json.loads(path.read_text()) for path in tmp_path.glob("*/runs/*/result.json")]
    assert {result["scheme"] for result in results} == {"sfc", "sfc+steady"}
    for result in results:
        assert (result["clock"], result["flows"]["completed"], result["unexplained_loss"]) == ("real", 12, 0)
        assert result["bts"]["sent"] > 0


def test_symptoms_are_words_of_the_testbed() -> None:
    """Code in the first column of the troubleshooting page occurs in a source file."""
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
