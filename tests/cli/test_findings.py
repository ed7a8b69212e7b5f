# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""`reproduce --show` prints the stored results and starts no run."""

from __future__ import annotations

import json

import pytest

from sfc_testbed.analysis.formatting import three_digits
from sfc_testbed.cli.app import main
from sfc_testbed.cli.output import console
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.remarks import read_remarks
from sfc_testbed.reproduction.summaries import by_experiment, largest, read_summaries


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "width", 400)


def test_claims_have_the_values_of_every_seed_and_the_number_of_sets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--show", "hadoop-50", "--seeds", "all"]) == 0
    lines = capsys.readouterr().out.splitlines()
    sets = by_experiment(read_summaries())["hadoop-50"]
    shown = largest(sets)
    for finding in shown.claims:
        [line] = [line for line in lines if f" {finding.claim} " in line]
        assert finding.measured in line
        assert line.split(f"/{len(sets)} ")[1].split() == [three_digits(value or 0.0) for value in finding.values]
    assert sum(f" {summary.heading} " in line for summary in sets[-1:] for line in lines) == 1
    assert lines[-2] == f"repeat: {shown.command}"


def test_other_sets_are_chosen_by_preset_and_time(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = ["--preset", "mix/config.txt", "--arrivals", "1ms"]
    assert main(["reproduce", "hadoop-50", "--show", "--scale", "paper", *chosen]) == 0
    assert capsys.readouterr().out.startswith("hadoop-50 (Fig. 7), scale paper, 1 ms, mix/config.txt, 3 seeds\n")


def test_all_experiments_have_a_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "all", "--show", "--scale", "ci"]) == 0
    out = capsys.readouterr().out
    assert all(f" {name} " in out for name in EXPERIMENTS)


def test_in_full_there_are_tables_and_the_commands_of_all_tests(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "rivals", "--show", "--full"]) == 0
    out = capsys.readouterr().out
    assert all(table.caption in out for table in EXPERIMENTS["rivals"].tables)
    assert all(f"  ./runner.py {run}\n" in out for reason in read_remarks()["rivals"].reasons for run in reason.runs)


def test_json_has_the_stored_sets(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "all", "--show", "--json"]) == 0
    stored = [summary.model_dump(mode="json") for summary in read_summaries()]
    assert json.loads(capsys.readouterr().out) == stored
