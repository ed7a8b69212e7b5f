# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The folder of a small run for tests of the command."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from sfc_testbed.cli.app import main


@pytest.fixture(scope="package")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a run and return its folder."""
    out = tmp_path_factory.mktemp("runs")
    words = ["--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=20000", "--out", str(out)]
    assert main(["run", "incast", *words]) == 0
    [folder] = out.iterdir()
    return folder


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """Return a copy of the run folder that tests may change."""
    return Path(shutil.copytree(whole, tmp_path / "run"))
