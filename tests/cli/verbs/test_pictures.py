# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for `--png`: the plots of a page as PNG and SVG files beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from sfc_testbed.cli.app import main
from tests.conftest import Refused

SMALL = ("incast", "--clock", "virtual", "--set", "degree=2", "--set", "message_bytes=20000")


def _pictures(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix in (".png", ".svg")}


@pytest.mark.parametrize(
    ("words", "folder"), [(("run", *SMALL), "incast-sfc-*"), (("compare", *SMALL, "--schemes", "irn,sfc"), "*compare*")]
)
def test_a_page_has_pictures_only_on_request(words: tuple[str, ...], folder: str, tmp_path: Path) -> None:
    assert main([*words, "--out", str(tmp_path / "without")]) == 0
    assert main([*words, "--out", str(tmp_path / "with"), "--png"]) == 0
    [without], [with_pictures] = ([*(tmp_path / name).glob(folder)] for name in ("without", "with"))
    assert _pictures(without) == set()
    pictures = _pictures(with_pictures)
    assert {"buffer.png", "buffer.svg", "fct.png", "fct.svg"} <= pictures
    page = (with_pictures / "report.html").read_text(encoding="utf-8")
    assert all(f'href="{name}"' in page for name in pictures)


def test_a_comparison_with_a_simulator_has_no_pictures(refused: Refused) -> None:
    refused(["validate", "incast", "--peer", "hpcc", "--png"], "--png")
