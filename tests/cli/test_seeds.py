# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for `compare --seeds`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sfc_testbed.analysis.results.comparison import Comparison
from sfc_testbed.analysis.results.result import read_result
from sfc_testbed.cli.app import main
from sfc_testbed.cli.planning import chosen_seeds
from sfc_testbed.testbed.errors import UsageError
from tests.conftest import Refused

SMALL = ("compare", "bystanders", "--clock", "virtual", "--set", "message_bytes=20000", "--set", "degree=4")


@pytest.mark.parametrize(("text", "expected"), [("1..5", [1, 2, 3, 4, 5]), ("7", [7]), ("0, 3,8..9", [0, 3, 8, 9])])
def test_ranges_and_lists(text: str, expected: list[int]) -> None:
    assert chosen_seeds(None, text) == expected
    assert chosen_seeds(None, None) == [1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "not whole numbers"),
        ("1..", "not whole numbers"),
        ("-1", "not whole numbers"),
        ("1.5", "not whole numbers"),
        ("9" * 5000, "not whole numbers"),
        ("5..1", "5..1 goes down"),
        ("1,3,2..4", "a seed is repeated"),
        ("0..999999999999", "more than 1000 seeds"),
        (str(2**63), "must be between 0 and"),
    ],
)
def test_a_wrong_list_of_seeds_is_refused_in_one_line(text: str, expected: str, refused: Refused) -> None:
    refused([*SMALL, "--seeds", text], expected)


def test_seed_and_seeds_cannot_be_combined() -> None:
    with pytest.raises(UsageError, match="cannot be combined"):
        chosen_seeds(1, "1..2")


def test_a_scheme_runs_with_every_seed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fault = ("--fault", "loss:all,rate=1%", "--duration", "5")
    assert main([*SMALL, *fault, "--seeds", "3,5", "--schemes", "sfc", "--json", "--out", str(tmp_path)]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert all((Path(folder) / "result.json").exists() for folder in printed.pop("folders"))
    assert (Path(printed.pop("folder")) / "report.html").exists()
    comparison = Comparison.model_validate(printed)
    assert [(row.scheme, row.seeds) for row in comparison.over_seeds] == [("sfc", (3, 5))]
    drops = comparison.over_seeds[0].figures["drops"]
    assert drops and drops.runs == 2 and drops.interval and drops.mean > 0
    results = [read_result(path.parent) for path in tmp_path.glob("*/result.json")]
    totals = {(result.seed, result.flows.total) for result in results}
    assert len(results) == len(totals) == 2
