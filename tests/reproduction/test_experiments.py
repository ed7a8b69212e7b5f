# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Claims with checks of their own, on made-up runs."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.model.claims import NoneLower
from sfc_testbed.reproduction.model.experiment import Claim, Measurement, Point, Results, judge
from sfc_testbed.reproduction.model.quantities import receiver_quantile


def _claim(experiment: str, words: str) -> Claim:
    """Return the only claim of an experiment whose text contains some words."""
    [match] = [claim for claim in EXPERIMENTS[experiment].claims if words in claim.claim]
    return match


def _run(**figures: Any) -> Run:
    return SimpleNamespace(result=SimpleNamespace(**figures))  # type: ignore[return-value]


def _results(runs: Mapping[tuple[str, tuple[tuple[str, Any], ...]], Run]) -> Results:
    return Results("ci", tuple(Measurement(Point(scheme, dict(place)), run) for (scheme, place), run in runs.items()))


@pytest.mark.parametrize(("tors", "everywhere", "holds"), [(40, 20, False), (30, 20, True), (20, 20, True)])
def test_tors_only_must_have_at_least_80_percent_of_the_gain(tors: int, everywhere: int, holds: bool) -> None:
    """The peak without flow control is 100. A gain of 60 of 80 is too small, a gain of 70 of 80 is enough."""
    points = EXPERIMENTS["parameters"].grids["ci"].points()
    peaks = {("irn+hpcc", "ToRs"): 100, ("sfc+hpcc", "ToRs"): tors, ("sfc+hpcc", "all switches"): everywhere}
    runs = {
        (point.scheme, tuple(point.place.items())): _run(max_buffer_bytes=peaks[point.scheme, point.place["SFC at"]])
        for point in points
    }
    assert judge(_claim("parameters", "Peak buffer: SFC at ToRs"), _results(runs)).holds is holds


@pytest.mark.parametrize(("peak_bytes", "holds"), [(1_999_999, True), (2_000_000, False)])
def test_the_cache_alone_is_judged_at_half_the_largest_degree(peak_bytes: int, holds: bool) -> None:
    """Drops begin at 2 MB at scale ci (16 MB x 32 / 256). Runs at other degrees do not count."""
    place = {"synchronization (µs)": 0}
    runs = {
        ("sfc+hpcc", (*place.items(), ("incast degree", degree))): _run(max_buffer_bytes=peak)
        for degree, peak in ((8, 9_000_000), (16, peak_bytes), (32, 9_000_000))
    }
    assert judge(_claim("synchronization", "cache alone"), _results(runs)).holds is holds


def _slowed(slowdown: float) -> Run:
    """Return a run with twenty flows of one slowdown, the fewest that a P95 needs."""
    flows = [{"tag": "hadoop", "size_bytes": 1000, "slowdown": slowdown}] * 20
    return SimpleNamespace(
        flows=pl.DataFrame(flows),
        result=SimpleNamespace(fct_slowdown={"hadoop": SimpleNamespace(flows=20)}, measured_window_us=None),
    )  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("sfc", "other", "holds"),
    [(1.0, 1.25, True), (1.3, 1.25, False), (1.0, 1.15, False), (0.9, 0.97, False)],
    ids=["grows", "grows less than SFC's", "hardly grows", "shrinks"],
)
def test_slowdowns_must_grow_with_the_rtt_and_more_than_with_sfc(sfc: float, other: float, holds: bool) -> None:
    """The paper states that the other schemes' slowdowns increase significantly: 20 %, as in `hadoop-50-light`."""
    growth = {"sfc+hpcc": sfc, "onramp+hpcc": other}
    runs: dict[tuple[str, tuple[tuple[str, Any], ...]], Run] = {
        (scheme, (("base RTT (µs)", rtt),)): _slowed(4.0 * (factor if rtt == 16 else 1.0))
        for scheme, factor in growth.items()
        for rtt in (10, 16)
    }
    assert judge(_claim("long-rtt", "With OnRamp"), _results(runs)).holds is holds


def _receiving(*gbps: float) -> Run:
    """Return a run with one receiver per rate, which gets two flows of 1 MB, one after the other."""
    flows = [
        {"dst": f"h{number}", "start_us": start, "finish_us": start + 8e3 / rate, "size_bytes": 1_000_000}
        for number, rate in enumerate(gbps)
        for start in (0.0, 8e3 / rate)
    ]
    return SimpleNamespace(flows=pl.DataFrame(flows))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("run", "holds"),
    [
        (_receiving(10, 20, 30), True),
        (_receiving(10.1, 19.9, 30), True),
        (_receiving(15, 25, 35), True),
        (_receiving(10, 25, 25), False),
        (_receiving(9, 20, 31), False),
    ],
    ids=["same", "within the margin", "all faster", "same mean", "the slowest slower"],
)
def test_distributions_are_compared_by_percentiles_not_by_the_mean(run: Run, holds: bool) -> None:
    claim = NoneLower("c", "p", tuple(map(receiver_quantile, (10, 50, 90))), "sfc", "irn", at_least=0.97)
    assert receiver_quantile(50).measure(_receiving(10, 20, 30)) == pytest.approx(20)
    assert judge(claim, _results({("sfc", ()): run, ("irn", ()): _receiving(10, 20, 30)})).holds is holds


def test_receiver_throughput_is_not_measured_if_a_flow_did_not_finish() -> None:
    run = _receiving(10)
    run.flows = run.flows.with_columns(finish_us=pl.lit(None, dtype=pl.Float64))  # type: ignore[misc]
    claim = NoneLower("c", "p", (receiver_quantile(50),), "sfc", "irn", at_least=0.97)
    assert "2 flows did not finish" in judge(claim, _results({("sfc", ()): run, ("irn", ()): run})).text
