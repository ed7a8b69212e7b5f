# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the comparison of a live run with a virtual run, and for validation.json."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sfc_testbed.analysis.metrics.flows import CompletionFigures
from sfc_testbed.analysis.results.counters import Lateness
from sfc_testbed.analysis.results.limits import DEGRADED_ABOVE
from sfc_testbed.analysis.results.result import BtsCounts, ResultError
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.analysis.validation.comparison import compare_clocks
from sfc_testbed.analysis.validation.record import MetricFinding, Validation, read_validation, write_validation
from sfc_testbed.telemetry.schema import QUEUES
from tests.analysis.conftest import CONFIG, COUNTERS
from tests.analysis.validation.small import SMALL_FLOWS, SMALL_QUEUES, small_run

BTS = BtsCounts(sent=100, suppressed=0, cache_hits=0, max_suppression_entries=0, max_cache_entries=0)


def _bts(sent: int) -> Run:
    return small_run(counters=replace(COUNTERS, bts=BTS.model_copy(update={"sent": sent}), drops={}))


def _finding(virtual: Run, live: Run, name: str) -> MetricFinding:
    [finding] = [finding for finding in compare_clocks(virtual, live).metrics if finding.metric == name]
    return finding


@pytest.mark.parametrize(("live", "within"), [(100, True), (110, True), (90, True), (111, False), (89, False)])
def test_a_figure_is_within_if_the_difference_does_not_exceed_the_tolerance(live: int, within: bool) -> None:
    finding = _finding(_bts(100), _bts(live), "bts_sent")
    assert (finding.virtual, finding.live, finding.difference, finding.tolerance) == (100, live, live - 100, 10)
    assert finding.share == (live - 100) / 100
    assert finding.within is within


def test_a_virtual_figure_of_zero_has_a_difference_but_no_share() -> None:
    finding = _finding(_bts(0), _bts(5), "bts_sent")
    assert (finding.difference, finding.share, finding.within) == (5, None, False)
    assert not _finding(_bts(5), _bts(0), "bts_sent").within
    assert _finding(_bts(0), _bts(0), "bts_sent").is_nothing


def test_drops_on_one_clock_alone_are_never_within() -> None:
    """A run that loses a single packet differs from a lossless one."""
    lossless = small_run(counters=replace(COUNTERS, drops={}))
    lossy = small_run(counters=replace(COUNTERS, drops={"tail_drop": 1}))
    assert _finding(lossless, lossless, "drops").within
    assert not _finding(lossless, lossy, "drops").within
    assert not _finding(lossy, lossless, "drops").within


def test_a_figure_of_only_one_run_is_reported_and_not_within() -> None:
    virtual, live = small_run(), small_run(flows=[{**SMALL_FLOWS[0], "finish_us": None, "slowdown": None}])
    finding = _finding(virtual, live, "mean_buffer_bytes")
    assert (finding.virtual, finding.live, finding.difference, finding.within) == (220, None, None, False)
    names = [finding.metric for finding in compare_clocks(virtual, live).metrics]
    assert not [name for name in names if name.startswith("fct_slowdown")]


def test_figures_of_a_traffic_class_have_its_name() -> None:
    tags = [{**SMALL_FLOWS[0], "flow_id": number, "tag": "rpc" if number > 2 else "incast"} for number in range(1, 5)]
    late = [{**flow, "slowdown": 2.2 if flow["tag"] == "rpc" else 2.0} for flow in tags]
    run = compare_clocks(small_run(tags), small_run(late))
    within = {finding.metric: finding.within for finding in run.metrics if finding.name == "fct_slowdown_p50"}
    assert within == {"fct_slowdown_p50.all": True, "fct_slowdown_p50.incast": True, "fct_slowdown_p50.rpc": False}
    assert [finding.metric for finding in run.outside] == ["fct_slowdown_p50.rpc"]


@pytest.mark.parametrize("change", [{"size_bytes": 1001}, {"start_us": 11.0}, {"dst": "h3"}, {"tag": "rpc"}])
def test_runs_with_different_flows_are_not_compared(change: dict[str, object]) -> None:
    with pytest.raises(ResultError, match="have different flow lists"):
        compare_clocks(small_run(), small_run(flows=[{**SMALL_FLOWS[0], **change}]))


def test_dependent_messages_may_start_at_different_times() -> None:
    runs = [small_run(flows=[{**SMALL_FLOWS[0], "start_us": start_us}]) for start_us in (10.0, 11.0)]
    completion = {"incast": CompletionFigures(took_us=20.0, ideal_us=10.0, slowdown=2.0)}
    first, second = (replace(run, result=run.result.model_copy(update={"completion": completion})) for run in runs)
    assert compare_clocks(first, second).metrics


def test_a_run_with_damaged_traces_is_not_compared() -> None:
    damaged = replace(small_run(), queues=QUEUES.empty().lazy(), problems=("queues.parquet cannot be read.",))
    with pytest.raises(ResultError, match="parquet cannot be read"):
        compare_clocks(small_run(), damaged)


def test_the_verdict_is_the_worse_one_with_its_reasons() -> None:
    late = small_run(
        counters=replace(
            COUNTERS,
            host_lateness=Lateness(0, 1.5 * DEGRADED_ABOVE * CONFIG.base_rtt_us * 1000 * CONFIG.dilation, 90_000_000),
        )
    )
    assert late.result.verdict == "degraded"
    faithful = small_run()
    assert compare_clocks(faithful, faithful).verdict == "faithful"
    run = compare_clocks(faithful, late)
    assert run.verdict == "degraded"
    assert run.verdict_reasons
    assert all(reason.startswith("live: ") for reason in run.verdict_reasons)
    assert compare_clocks(late, faithful).verdict == "degraded"


def test_validation_json_is_read_unchanged(tmp_path: Path) -> None:
    queues = [*SMALL_QUEUES[:2], {**SMALL_QUEUES[2], "high_water_bytes": 90_000}, *SMALL_QUEUES[3:]]
    run = compare_clocks(small_run(), small_run(queues=queues), place="degree 8")
    validation = Validation(runs=(run,), failures=("incast irn: why",), left_out=("incast pfc: why",))
    path = tmp_path / "validation.json"
    write_validation(path, validation)
    assert read_validation(path) == validation
    assert not validation.is_trusted
    assert not validation.is_within
    [stored] = json.loads(path.read_text())["runs"]
    assert {"scenario", "scheme", "switch", "verdict", "metrics"} <= stored.keys()
    [peak] = [finding for finding in stored["metrics"] if finding["metric"] == "peak_buffer_bytes"]
    assert {"metric", "virtual", "live", "difference", "tolerance", "within"} <= peak.keys()
    assert (peak["virtual"], peak["live"], peak["difference"], peak["within"]) == (9000, 90_000, 81_000, False)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"runs": [{}]}', '{"schema": "other", "runs": []}', "[" * 100_000], ids=range(6)
)
def test_a_damaged_file_is_reported(content: str, tmp_path: Path) -> None:
    path = tmp_path / "validation.json"
    path.write_text(content)
    with pytest.raises(ResultError, match="not a validation that this release can read"):
        read_validation(path)
    with pytest.raises(ResultError, match="no such file"):
        read_validation(tmp_path / "other.json")


def test_a_later_version_is_named(tmp_path: Path) -> None:
    path = tmp_path / "validation.json"
    path.write_text('{"schema": "sfc-testbed/validation/2", "runs": []}')
    with pytest.raises(ResultError, match="validation version 2, this release reads 1; upgrade SFC Testbed to read it"):
        read_validation(path)
