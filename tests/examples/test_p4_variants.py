# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The compiled variants of the P4 program decide what docs/data-plane.md says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sfc_testbed.analysis.results.comparison import Comparison
from sfc_testbed.cli.app import main
from sfc_testbed.place import ROOT
from tools.p4_variants import FOLDER, VARIANTS

INCAST = ("incast", "--clock", "virtual", "--schemes", "sfc")


def test_variants_decide_otherwise_than_the_program(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    programs = ["built-in", *(str(ROOT / FOLDER / f"{variant.name}.json") for variant in VARIANTS)]
    words = [word for program in programs for word in ("--p4", program)]
    assert main(["compare", *INCAST, *words, "--json", "--out", str(tmp_path)]) == 0
    printed = json.loads(capsys.readouterr().out)
    del printed["folder"], printed["folders"]
    comparison = Comparison.model_validate(printed)
    assert all(row.verdict == "faithful" for row in comparison.rows)
    measured = {row.label: (row.max_buffer_bytes or 0, row.bts_sent or 0) for row in comparison.rows}
    buffer_bytes, bts_sent = measured["sfc"]
    assert measured["sfc (early)"][0] < buffer_bytes
    assert measured["sfc (long_pause)"][1] < bts_sent
    assert measured["sfc (half_of_the_flows)"] != (buffer_bytes, bts_sent)
