# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table that ends a run on the terminal."""

from __future__ import annotations

from pathlib import Path

from analysis.report.tables import key_figures
from analysis.results.result import read_result, write_result

EXPECTED = Path(__file__).parents[1] / "results" / "expected-result.json"


def test_trimmed_packets_are_told_where_switches_trim(tmp_path: Path) -> None:
    """And nowhere else."""
    (tmp_path / "result.json").write_text(EXPECTED.read_text())
    result = read_result(tmp_path)
    assert "packets trimmed" not in dict(key_figures(result))
    write_result(tmp_path, result.model_copy(update={"switch_events": {"trimmed": 1_234}}))
    assert dict(key_figures(read_result(tmp_path)))["packets trimmed"] == "1,234"
