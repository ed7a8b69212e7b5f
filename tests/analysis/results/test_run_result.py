# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tests for result.json: how it is built, written and read, and that equal runs give identical files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sfc_testbed.analysis.results.build import build_result
from sfc_testbed.analysis.results.counters import Lateness
from sfc_testbed.analysis.results.result import PacketCounts, ResultError, read_result, write_result
from sfc_testbed.request.spec import ClockName
from sfc_testbed.telemetry.schema import FLOWS, QUEUES, SIGNALS
from tests.analysis.conftest import CONFIG, COUNTERS, make_flows, make_queues, make_signals

EMPTY = {"flows": FLOWS.empty(), "queues": QUEUES.empty(), "signals": SIGNALS.empty()}
EXPECTED = Path(__file__).with_name("expected-result.json")


@pytest.fixture
def traces() -> dict[str, pl.DataFrame]:
    return {"flows": make_flows(), "queues": make_queues(), "signals": make_signals()}


def test_a_written_result_is_read_unchanged(tmp_path: Path, traces: dict[str, pl.DataFrame]) -> None:
    result = build_result(CONFIG, COUNTERS, **traces)
    path = write_result(tmp_path, result)
    assert read_result(tmp_path) == result
    assert read_result(tmp_path).to_json() == path.read_text(encoding="utf-8")


def test_identical_runs_differ_in_speed_only(traces: dict[str, pl.DataFrame]) -> None:
    """Another order of rows and another wall time change two lines of result.json."""
    shuffled = {name: frame.sample(fraction=1.0, shuffle=True, seed=3) for name, frame in traces.items()}
    backwards = dict(reversed(list(COUNTERS.drops.items())))
    one = build_result(CONFIG, COUNTERS, **traces).to_json().splitlines()
    other = build_result(CONFIG, replace(COUNTERS, wall_s=3.0, drops=backwards), **shuffled).to_json().splitlines()
    changed = [line.split(":")[0].strip() for line, twin in zip(one, other, strict=True) if line != twin]
    assert changed == ['"wall_s"', '"packets_per_s"']


def test_the_file_of_a_result_does_not_change_between_releases() -> None:
    """Users compare stored results with later ones, so equal traces and counters must give identical files."""
    result = build_result(
        CONFIG, COUNTERS, flows=make_flows(60, 30), queues=make_queues(duration_us=1200), signals=make_signals(40)
    )
    assert result.to_json() == EXPECTED.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("clock", "slowdown", "level"),
    [
        ("virtual", 1.0, "faithful"),
        ("virtual", 0.999, "invalid"),
        ("real", 0.999, "faithful"),
        ("real", 0.9, "degraded"),
    ],
)
def test_a_flow_or_completion_below_the_ideal_lowers_the_verdict(clock: ClockName, slowdown: float, level: str) -> None:
    """With the real clock, times that are short by less than the lateness of a faithful run are accepted."""
    flows = make_flows(2, 0).with_columns(
        start_us=0.0, fct_us=20.0 * slowdown, finish_us=20.0 * slowdown, ideal_fct_us=20.0, slowdown=slowdown
    )
    [tag] = set(flows["tag"])
    lowered = build_result(replace(CONFIG, clock=clock), COUNTERS, **{**EMPTY, "flows": flows})
    assert lowered.verdict == level
    at_ideal = flows.with_columns(slowdown=1.0, ideal_fct_us=20.0 * slowdown)
    config = replace(CONFIG, clock=clock, ideal_completion_us={tag: 20.0})
    result = build_result(config, COUNTERS, **{**EMPTY, "flows": at_ideal})
    assert result.verdict == level
    assert any("faster than" in reason for reason in result.verdict_reasons) == (level != "faithful")


def test_floats_have_nine_significant_digits() -> None:
    """Floats are rounded, and there is no negative zero."""
    content = json.loads(build_result(CONFIG, replace(COUNTERS, wall_s=1 / 3), **EMPTY).to_json())
    assert content["wall_s"] == 0.333333333
    late = replace(COUNTERS, host_lateness=Lateness(-0.0, 0.0, 0.0))
    assert '"p50_us": 0.0' in build_result(CONFIG, late, **EMPTY).to_json()


def test_empty_traces_make_a_result() -> None:
    """A run that was stopped before it sent a packet has no figures and is invalid."""
    nothing = PacketCounts(sent=0, received=0, switch_generated=0, switch_absorbed=0, in_flight=0)
    stopped = replace(COUNTERS, packets=nothing, drops={}, interrupted=True, wall_s=0.0)
    result = build_result(CONFIG, stopped, **EMPTY)
    assert (result.verdict, result.interrupted) == ("invalid", True)
    assert result.verdict_reasons[0] == "No packet was sent, so nothing was measured."
    assert (result.fct_slowdown, result.buffer_bytes, result.max_buffer_bytes) == ({}, {}, None)
    assert (result.throughput_gbps, result.packets_per_s) == (0.0, 0.0)


def test_warm_up_counts_in_totals_only() -> None:
    flows = make_flows()
    windowed = replace(CONFIG, measured_window_us=(1000.0, 2000.0))
    result = build_result(windowed, COUNTERS, flows=flows, queues=QUEUES.empty(), signals=SIGNALS.empty())
    inside = flows.filter((pl.col("start_us") >= 1000) & (pl.col("start_us") < 2000))
    assert result.measured_window_us == (1000.0, 2000.0)
    assert result.flows.total == 2256
    assert result.fct_slowdown["all"].flows == inside.height


@given(
    sent=st.integers(0, 10**9),
    generated=st.integers(0, 10**6),
    absorbed=st.integers(0, 10**6),
    flying=st.integers(0, 10**6),
    drops=st.dictionaries(st.text(min_size=1, max_size=5), st.integers(0, 10**6), max_size=4),
    lost=st.integers(-100, 100),
)
def test_unexplained_loss_is_the_difference_of_the_packet_counts(
    sent: int, generated: int, absorbed: int, flying: int, drops: dict[str, int], lost: int
) -> None:
    received = sent + generated - absorbed - flying - sum(drops.values()) - lost
    packets = PacketCounts(
        sent=sent, received=received, switch_generated=generated, switch_absorbed=absorbed, in_flight=flying
    )
    counters = replace(COUNTERS, packets=packets, drops=drops)
    assert counters.unexplained_loss == lost


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
        ("{", "not readable as JSON"),
        ("[]", "not a result of this testbed"),
        ('{"schema": "other"}', "not a result of this testbed"),
        (
            '{"schema": "sfc-testbed.result", "schema_version": 9}',
            "result version 9, this release reads 1; upgrade SFC",
        ),
        ('{"schema": "sfc-testbed.result", "schema_version": 1}', "scenario: is missing"),
    ],
)
def test_unreadable_results_are_reported_in_one_line(tmp_path: Path, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / "result.json").write_text(content)
    with pytest.raises(ResultError, match=message) as caught:
        read_result(tmp_path)
    assert str(tmp_path / "result.json") in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_captures_of_a_prompt_are_no_run(tmp_path: Path) -> None:
    (tmp_path / "pcaps").mkdir()
    with pytest.raises(
        ResultError, match="a prompt's folder has captures only, for Wireshark; name the folder of a run"
    ):
        read_result(tmp_path)
