# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The page about extensions: its files pass the contract tests, its commands succeed, and its names exist."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import sfc_testbed as sfc
from sfc_testbed.request.installed import GROUP
from tests.docs.page import Page, type_in
from tests.tree import ROOT

PATH = ROOT / "docs" / "extensions.md"
PAGE = Page.read(PATH)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("extensions") / "own"
    PAGE.make(folder)
    shutil.copy(ROOT / "examples" / "p4" / "own_table.json", folder)
    return folder


def test_the_files_pass_the_contract_tests(folder: Path) -> None:
    output = type_in(ROOT, [["cd", str(folder)], ["runner.py", "check", "*.py"]])
    for what in (
        "congestion control halving",
        "flow control long-pause",
        "loss recovery one-packet",
        "scheme cache-only",
        "topology line",
        "switch program shifted",
        "plot sizes",
        "plot finished",
        "section slowest",
        "quantity median-fct",
        "export format csv",
        "scenario pairs",
    ):
        assert re.search(rf"^{what}: [1-9]\d* checks$", output, re.MULTILINE)
    assert "all hold" in output


def test_the_commands_succeed_and_the_runs_record_their_files(folder: Path) -> None:
    type_in(ROOT, [["cd", str(folder)], *PAGE.commands()])
    results = [json.loads(path.read_text()) for path in folder.glob("runs/**/result.json")]
    expected = {"irn+halving", "sfc+halving", "long-pause", "one-packet", "cache-only"}
    assert expected <= {result["scheme"] for result in results}
    assert {result["scenario"] for result in results} == {"incast", "pairs"}
    for result in results:
        assert (result["verdict"], result["flows"]["completed"]) == ("faithful", result["flows"]["total"])
    uses = [json.loads(path.read_text())["uses"] for path in folder.glob("runs/**/config.json")]
    words = {tuple(use["word"] for use in record) for record in uses}
    assert words == {
        ("halving.py", "long_pause.py"),
        ("pairs.py", "line.py"),
        ("one_packet.py", "schemes.py"),
        ("shifted.py",),
        ("rtts.py",),
    }


def test_names_of_the_package_exist() -> None:
    names = set(re.findall(r"\bsfc\.([A-Za-z_]+)", PATH.read_text(encoding="utf-8")))
    assert len(names) > 12
    for name in names:
        assert getattr(sfc, name)


def test_the_entry_point_is_in_the_group_that_is_loaded(folder: Path) -> None:
    assert f'[project.entry-points."{GROUP}"]' in (folder / "pyproject.toml").read_text().splitlines()
