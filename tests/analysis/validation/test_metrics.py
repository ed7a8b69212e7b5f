# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for the metrics of a validation, with values computed by hand, and for their tolerances."""

from __future__ import annotations

import pytest

from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.analysis.validation.metrics import METRIC, METRICS, Tolerance, mean_queued_bytes
from tests.analysis.conftest import FolderMaker
from tests.analysis.validation.small import SMALL_FLOWS, SMALL_QUEUES, small_run


def test_mean_buffer_covers_all_switches_while_flows_are_active() -> None:
    """A depth lasts until the next sample. Samples before the first start and after the last finish do not count."""
    run = small_run()
    # tor1: 100 B for 10 us, 300 B for 10 us; tor2: 0 B, then 40 B for 10 us. The flows last from 10 to 30 us.
    assert mean_queued_bytes(run) == (100 + 300) / 2 + (0 + 40) / 2


def test_mean_buffer_weights_depth_by_time() -> None:
    run = small_run(queues=[*SMALL_QUEUES[:2], *SMALL_QUEUES[3:]])  # tor1 without its sample at 20 us
    assert mean_queued_bytes(run) == 100 + (0 + 40) / 2


@pytest.mark.parametrize("flows", [[], [{**SMALL_FLOWS[0], "finish_us": None}]], ids=["no flow", "none finished"])
def test_mean_buffer_without_finished_flows_is_none(flows: list[dict[str, object]]) -> None:
    assert mean_queued_bytes(small_run(flows=flows)) is None


def test_every_metric_can_be_read_from_a_run(make_run_folder: FolderMaker) -> None:
    run = load_run(make_run_folder())
    measured = {metric.name: metric.take(run) for metric in METRICS}
    by_class = {name for name, figures in measured.items() if set(figures) == {"all", "hadoop", "incast"}}
    assert by_class == {"fct_slowdown_p50", "fct_slowdown_p95", "fct_slowdown_p99"}
    assert all(set(figures) == {""} for name, figures in measured.items() if name not in by_class)
    whole = {name: figures[""] for name, figures in measured.items() if name not in by_class}
    assert whole["peak_buffer_bytes"] == run.queues.collect()["high_water_bytes"].to_numpy().max()
    assert (whole["bts_sent"], whole["bts_suppressed"]) == (510, 2210)
    assert (whole["cache_hits"], whole["drops"]) == (153, 40)
    assert whole["flows_completed"] == run.flows["finish_us"].drop_nulls().len()
    assert whole["pause_asked_us"] == pytest.approx(run.signals.collect()["pause_us"].to_numpy().sum())
    assert whole["pause_obeyed_us"] == 0
    assert measured["fct_slowdown_p95"]["hadoop"] == run.result.fct_slowdown["hadoop"].p95


def test_pause_obeyed_is_the_paused_time_of_flows() -> None:
    assert METRIC["pause_obeyed_us"].take(small_run()) == {"": 3.5}


def test_a_tolerance_is_a_share_with_a_minimum() -> None:
    tolerance = Tolerance(0.1, "why", least=10)
    assert [tolerance.around(value) for value in (50, 100, 1000, -1000)] == [10, 10, 100, 100]
    assert [tolerance.around(value) for value in (0, 1, 8, 20)] == [0, 0.5, 4, 10]


def test_every_tolerance_has_a_reason_and_is_below_the_figure() -> None:
    assert len({metric.name for metric in METRICS}) == len(METRICS)
    for metric in METRICS:
        assert len(metric.tolerance.reason) > 20, metric.name
        assert 0 <= metric.tolerance.share < 0.5, metric.name
        assert metric.tolerance_text
        assert all(metric.tolerance.around(figure) < figure for figure in (1, 3, 10, 1000, 1e6)), metric.name
    for name in ("peak_buffer_bytes", "fct_slowdown_p95"):
        assert METRIC[name].tolerance.share == 0.05


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("peak_buffer_bytes", 1_250_000.0, "1.25 MB"),
        ("pause_asked_us", 1500.0, "1.5 ms"),
        ("bts_sent", 1234.0, "1,234"),
        ("fct_slowdown_p95", 3.14159, "3.14"),
    ],
)
def test_figures_are_written_with_their_unit(name: str, value: float, text: str) -> None:
    assert METRIC[name].write(value) == text
