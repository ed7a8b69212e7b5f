# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the names of compared runs, and for what a comparison says about their differences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sfc_testbed.analysis.report.html_pages import write_comparison_report
from sfc_testbed.analysis.report.terminal_tables import comparison_table
from sfc_testbed.analysis.results.comparison import compare
from sfc_testbed.analysis.results.names import differences_of, names_of
from sfc_testbed.analysis.results.result import RunResult, read_result
from sfc_testbed.request.spec import RunConfig
from tests.analysis.conftest import CONFIG, FolderMaker
from tests.analysis.narrow import printed


@pytest.fixture
def result(make_run_folder: FolderMaker) -> RunResult:
    return read_result(make_run_folder("irn"))


Changes = tuple[dict[str, Any], dict[str, Any]]
"""The fields of a result and of a configuration that differ from the standard run."""


def _of(result: RunResult, *runs: Changes) -> tuple[list[RunResult], list[RunConfig]]:
    """Return results and configurations that differ from the standard run in these fields."""
    results = [result.model_copy(update=fields) for fields, _ in runs]
    return results, [replace(CONFIG, **{"settings": {}, **changes}) for _, changes in runs]


def _labels(result: RunResult, *runs: Changes) -> list[str]:
    return list(names_of(*_of(result, *runs)).labels)


def test_names_are_the_scheme_and_the_seed_where_needed(results: list[RunResult]) -> None:
    irn, sfc = results
    assert names_of([irn, sfc]).labels == ("irn", "sfc")
    names = names_of([irn, sfc, sfc.model_copy(update={"seed": 8})])
    assert names.labels == ("irn", "sfc, seed 7", "sfc, seed 8")
    assert names.variants == ("irn", "sfc", "sfc")
    assert names_of([sfc, sfc]).labels == ("sfc #1", "sfc #2")


def test_runs_of_one_scheme_are_named_by_the_setting_that_differs(result: RunResult) -> None:
    small = {"workload": {"degree": 8, "ranks": 4}}
    large = {"workload": {"degree": 16, "ranks": 4}, "settings": {"degree": 16, "ranks": 4}}
    assert _labels(result, ({}, small), ({}, large)) == ["degree=8", "degree=16"]
    results, configs = _of(result, ({}, small), ({}, large))
    assert differences_of(results, configs) == ["The runs differ in degree: 8, 16."]


@pytest.mark.parametrize(
    ("fields", "changes", "expected"),
    [
        ({}, {"topology": "dumbbell"}, ["topology clos", "topology dumbbell"]),
        ({}, {"flow_file": Path("some/ring.csv")}, ["flows of the scenario", "flows ring.csv"]),
        ({}, {"faults": ("loss:all,rate=1%",)}, ["faults none", "faults loss:all,rate=1%"]),
        ({}, {"settings": {"switch.queue_bit": True}}, ["queue_bit=default", "queue_bit=true"]),
        ({"load_balancing": "spray"}, {}, ["irn", "irn, spray"]),
        ({"clock": "virtual"}, {}, ["clock real", "clock virtual"]),
        ({"program": "mine"}, {}, ["irn", "irn (mine)"]),
        ({}, {"versions": {"sfc-testbed": "2.0.0"}}, ["irn, version 1.0.0", "irn, version 2.0.0"]),
        ({"dilation": 500}, {}, ["irn, dilation 10000", "irn, dilation 500"]),
    ],
)
def test_each_option_can_name_a_run(
    fields: dict[str, Any], changes: dict[str, Any], expected: list[str], result: RunResult
) -> None:
    assert _labels(result, ({}, {}), (fields, changes)) == expected


def test_names_are_as_short_as_possible(result: RunResult) -> None:
    """One difference names two runs although there are two; settings with the same last word keep their prefix."""
    two = {"settings": {"degree": 4, "ranks": 2}}
    assert _labels(result, ({"scheme": "sfc"}, {}), ({}, two)) == ["sfc", "irn"]
    same = [{"settings": {"degree": degree, "ranks": ranks}} for degree, ranks in ((1, 1), (1, 2), (2, 1))]
    assert _labels(result, *(({}, changes) for changes in same)) == [
        "degree=1, ranks=1",
        "degree=1, ranks=2",
        "degree=2, ranks=1",
    ]
    rates = [{"settings": {"topology.rate": rate, "switch.rate": other}} for rate, other in ((1, 1), (1, 2), (2, 1))]
    assert _labels(result, *(({}, changes) for changes in rates))[0] == "topology.rate=1, switch.rate=1"


def test_a_typed_default_is_no_difference(result: RunResult) -> None:
    untyped: dict[str, Any] = {"workload": {"load": 0.5}}
    runs: list[Changes] = [({}, untyped), ({}, {**untyped, "settings": {"load": "50%"}})]
    assert _labels(result, *runs) == ["irn #1", "irn #2"]
    assert differences_of(*_of(result, *runs)) == [
        "The runs do not differ in scheme, settings, network, clock, switch, program or seed."
    ]


def test_without_a_configuration_settings_are_not_compared(result: RunResult) -> None:
    configs = [None, replace(CONFIG, settings={"degree": 1})]
    assert names_of([result, result], configs).labels == ("irn #1", "irn #2")


def test_means_over_seeds_are_taken_for_each_setting(result: RunResult) -> None:
    runs = [({"seed": seed}, {"settings": {"degree": degree}}) for seed in (1, 2) for degree in (8, 16)]
    results, configs = _of(result, *runs)
    comparison = compare(results, configs=configs)
    assert [(row.scheme, row.seeds) for row in comparison.over_seeds] == [("degree=8", (1, 2)), ("degree=16", (1, 2))]
    assert comparison.differences == ("The runs differ in degree: 8, 16.",)


def test_terminal_and_page_begin_with_what_differs(make_run_folder: FolderMaker, tmp_path: Path) -> None:
    folders = [
        make_run_folder("irn", peak_bytes=peak_bytes, config={"settings": {"switch.queue_bit": value}})
        for value, peak_bytes in ((False, 3e6), (True, 1e6))
    ]
    results = [read_result(folder) for folder in folders]
    configs = [replace(CONFIG, settings={"switch.queue_bit": value}) for value in (False, True)]
    lines = printed(comparison_table(compare(results, configs=configs)), 120).splitlines()
    assert lines[0] == "The runs differ in switch.queue_bit: false, true."
    assert lines[1] == "hadoop-50, irn: slowdown of hadoop flows, beside an incast"
    page = write_comparison_report(folders, tmp_path / "out").read_text()
    assert page.index("The runs differ in switch.queue_bit: false, true.") < page.index("queue_bit=true compared with")
    assert "hadoop-50, irn</h1>" in page
    assert "irn #1" not in page


def test_a_setting_that_contradicts_the_scheme_is_a_warning_unless_the_name_has_it(result: RunResult) -> None:
    changed = result.model_copy(update={"overridden": ("transport.congestion=swift",)})
    sentence = "run with transport.congestion=swift instead of what the scheme's name says."
    other = changed.model_copy(update={"scheme": "gbn"})
    assert any(line == f"irn; gbn: {sentence}" for line in compare([changed, other]).warnings)
    configs = [replace(CONFIG, settings={"transport.congestion": value}) for value in ("window", "swift")]
    named = compare([result, changed], configs=configs)
    assert [row.label for row in named.rows] == ["congestion=window", "congestion=swift"]
    assert not any(sentence in line for line in named.warnings)
