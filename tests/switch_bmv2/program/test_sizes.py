# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests that indexes of tables and registers follow their sizes: a changed size works or is refused by p4c."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sfc_testbed.place import ROOT
from sfc_testbed.testbed.program.sources import SOURCES
from tests.switch_bmv2.bench_switch import STAR, bench_switch
from tests.switch_bmv2.bts.test_bts import _settings
from tests.switch_bmv2.program.recompile import Refused, needs_p4c, recompiled

P4_FILES = sorted((ROOT / SOURCES).rglob("*.p4"))
BIT_SLICE = re.compile(r"\[\s*\d+\s*:\s*\d+\s*\]")


@pytest.mark.parametrize("path", P4_FILES, ids=lambda path: path.stem)
def test_no_bit_slice_repeats_a_size(path: Path) -> None:
    """A slice with literal numbers would still compile after a change of the size that it was written for."""
    assert not BIT_SLICE.findall(path.read_text())


@needs_p4c
def test_a_smaller_suppression_filter_uses_exactly_its_cells(tmp_path: Path) -> None:
    """50 flows fill rows of 16 cells, so that later flows are suppressed by mistake."""
    library = recompiled(tmp_path, "include/sizes.p4", (r"SUPPRESSION_BITS \d+", "SUPPRESSION_BITS 4"))
    with bench_switch(STAR, "s1", _settings(), library=library) as switch:
        switch.burst("h1", "h4", 5, first_qpn=100)
        switch.burst("h2", "h4", 50)
        rows = [[switch.register(f"suppression_row_{row}", cell) for cell in range(16)] for row in range(3)]
        assert all(sum(map(bool, row)) > 8 for row in rows)
        assert switch.counts().total("bts.suppressed") > 20


@needs_p4c
@pytest.mark.parametrize(
    ("size", "words"),
    [("INT_HOPS 6", "NoTelemetry names each hop"), ("CLASS_BITS 4", "eight quanta"), ("PORT_BITS 10", "bit<10>")],
)
def test_a_size_that_the_program_cannot_follow_is_refused(tmp_path: Path, size: str, words: str) -> None:
    """The error message of p4c shows the affected part of the program."""
    name = size.split()[0]
    with pytest.raises(Refused, match=words):
        recompiled(tmp_path, "include/sizes.p4", (rf"#define {name} \d+", f"#define {size}"))
