# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The stored figures of the Tofino 2 program belong to its source, and its page shows them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sfc_testbed.place import ROOT
from tools.tofino2 import (
    DOCUMENT,
    EXPLAINED,
    STORED,
    VARIANTS,
    compiled,
    document_text,
    missing_compiler,
    needs,
    tofino2_hash,
)

KEPT = json.loads((ROOT / STORED).read_text())
MISSING = missing_compiler()


def test_figures_were_measured_with_this_source() -> None:
    """If this fails, run `make tofino2`."""
    assert KEPT["sources"] == tofino2_hash()


def test_the_page_shows_the_stored_figures() -> None:
    page = (ROOT / DOCUMENT).read_text()
    assert document_text(page, KEPT) == page
    assert list(KEPT["variants"]) == list(VARIANTS)


def test_the_page_explains_each_kind_of_warning() -> None:
    page = (ROOT / DOCUMENT).read_text()
    assert set(KEPT["warnings"]) <= set(EXPLAINED)
    assert all(f"**{kind}**" in page for kind in KEPT["warnings"])


@pytest.mark.parametrize("variant", VARIANTS)
def test_each_variant_fits_into_the_chip(variant: str) -> None:
    for name, most in KEPT["chip"].items():
        assert 0 <= KEPT["variants"][variant][name] <= most


@pytest.mark.skipif(MISSING is not None, reason=str(MISSING))
def test_compiling_again_gives_the_stored_figures(tmp_path: Path) -> None:
    compiled((), tmp_path)
    assert needs(tmp_path) == next(iter(KEPT["variants"].values()))
