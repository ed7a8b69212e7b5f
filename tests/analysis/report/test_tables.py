# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The table that ends a run on the terminal."""

from __future__ import annotations

from pathlib import Path

import polars as pl
from rich.console import Console

from analysis.formatting import format_number
from analysis.report.tables import comparison_table, key_figures
from analysis.results.comparison import compare
from analysis.results.result import read_result, write_result
from tests.analysis.conftest import FlowsMaker, FolderMaker

EXPECTED = Path(__file__).parents[1] / "results" / "expected-result.json"


def test_trimmed_packets_are_told_where_switches_trim(tmp_path: Path) -> None:
    """And nowhere else."""
    (tmp_path / "result.json").write_text(EXPECTED.read_text())
    result = read_result(tmp_path)
    assert "packets trimmed" not in dict(key_figures(result))
    write_result(tmp_path, result.model_copy(update={"switch_events": {"trimmed": 1_234}}))
    assert dict(key_figures(read_result(tmp_path)))["packets trimmed"] == "1,234"


def test_every_class_is_in_the_table_of_a_comparison(make_run_folder: FolderMaker, make_flows: FlowsMaker) -> None:
    """Beside the class that it is about and the incast, those that would be told nowhere, for each scheme."""
    third = (
        pl.when((pl.col("tag") == "hadoop") & (pl.col("flow_id") % 3 == 0)).then(pl.lit("rpc")).otherwise(pl.col("tag"))
    )
    flows = make_flows().with_columns(tag=third)
    results = [read_result(make_run_folder(scheme, flows=flows)) for scheme in ("irn", "sfc")]
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        console.print(comparison_table(compare(results)))
    rows = [line.split() for line in capture.get().splitlines() if line.split()[:1] == ["rpc"]]
    found = results[0].fct_slowdown["rpc"]
    figures = [format_number(each) for each in (found.p50, found.p95, found.p99)]
    cells = [f"{found.completed}/{found.flows}", *figures]
    assert rows == [["rpc", scheme, *cells] for scheme in ("irn", "sfc")]
    assert not compare([read_result(make_run_folder("irn"))]).other_classes
