# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The experiment `rivals`: its runs of two scenarios, its tables over several seeds, and its claims about pairs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from sfc_testbed.analysis.metrics.links import LinkBalance
from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.jobs import jobs_of
from sfc_testbed.reproduction.model.experiment import Column, Measurement, NotMeasured, Point, Results, TableSpec, judge
from sfc_testbed.reproduction.model.quantities import (
    GOODPUT_AFTER_AN_END,
    INCAST_COMPLETION,
    INCAST_FAIRNESS,
    LINK_JAIN,
    LINK_LARGEST,
    LINK_SPREAD,
    PEAK_BUFFER,
    RING_SLOWDOWN,
    slowdown,
)
from sfc_testbed.reproduction.tables import measured_table

RIVALS = EXPERIMENTS["rivals"]


def _run(**figures: Any) -> Any:
    return SimpleNamespace(result=SimpleNamespace(**figures))


def _results(peaks: dict[str, int], seed: int = 1) -> Results:
    place = {"workload": "hadoop"}
    return Results(
        "ci",
        tuple(
            Measurement(Point(name, place, seed=seed), _run(max_buffer_bytes=peak, completion={}))
            for name, peak in peaks.items()
        ),
    )


def test_a_point_may_have_another_scenario_and_gets_only_the_changed_settings_that_it_has() -> None:
    jobs = jobs_of(RIVALS, "ci", changed={"arrivals_us": 500.0, "transport.cc_trace_rtt": 0.1})
    by_scenario = {job.request.scenario: job.request.settings for job in jobs}
    assert by_scenario.keys() == {"rivals", "allreduce", "incast"}
    assert by_scenario["rivals"]["arrivals_us"] == 500.0
    assert by_scenario["allreduce"].keys() >= {"degree", "transport.cc_trace_rtt"}
    assert not by_scenario["allreduce"].keys() & {"arrivals_us", "scenario"}


@pytest.mark.parametrize("scale", ["ci", "laptop", "paper"])
def test_the_network_and_the_incast_are_the_same_in_all_workloads(scale: Any) -> None:
    scenario = RIVALS.scenario.scales[scale]
    [ring] = {
        id(job.point.settings): job.request for job in jobs_of(RIVALS, scale) if job.request.scenario == "allreduce"
    }.values()
    topology = {key.partition(".")[2]: value for key, value in ring.settings.items() if key.startswith("topology.")}
    assert (ring.topology or "clos", topology) == (scenario.topology, scenario.topology_parameters)
    assert ring.settings["degree"] == scenario.workload["incast_degree"]
    assert ring.settings["window_us"] == scenario.workload["incast_window_us"]
    assert ring.settings["switch.buffer_bytes"] == scenario.switch["buffer_bytes"]
    assert ring.settings.get("transport.payload_bytes") == scenario.transport.get("payload_bytes")


def test_a_cell_is_the_median_over_the_seeds_and_empty_if_a_seed_has_no_value() -> None:
    place = {"workload": "hadoop"}
    columns = (Column("peak", PEAK_BUFFER, place), Column("all-reduce", RING_SLOWDOWN, place))
    table = TableSpec("Peaks", columns, ("irn+hpcc", "sfc+hpcc"))
    by_seed = [_results({"irn+hpcc": peak}, seed) for seed, peak in enumerate((5_000_000, 9_000_000, 4_000_000), 1)]
    measured = measured_table(table, by_seed)
    assert measured.headings == ("scheme", "peak", "all-reduce")
    assert measured.rows == (("irn+hpcc", "5 MB", "-"), ("sfc+hpcc", "-", "-"))


@pytest.mark.parametrize(("sfc_bolt", "holds"), [(3_000_000, True), (4_000_000, False)])
def test_flow_control_must_decide_the_peak_buffer(sfc_bolt: int, holds: bool) -> None:
    """The highest peak with SFC counts, and the lowest of the other schemes, whatever their congestion controls."""
    schemes = [point.scheme for point in RIVALS.grids["ci"].points() if point.place["workload"] == "hadoop"]
    peaks = {name: 1_000_000 if name.startswith("sfc") else 8_000_000 for name in schemes}
    results = _results({**peaks, "irn+hpcc": 3_500_000, "sfc+bolt": sfc_bolt})
    [claim] = [claim for claim in RIVALS.claims if "highest peak buffer" in claim.claim]
    assert judge(claim, results).holds is holds


@pytest.mark.parametrize(("peaks", "holds"), [((4_000_000, 2_000_000), True), ((4_000_000, 2_100_000), False)])
def test_the_worst_pair_decides_a_claim_and_is_named(peaks: tuple[int, int], holds: bool) -> None:
    [claim] = [claim for claim in RIVALS.claims if "QCN's peak" in claim.claim]
    alone, with_sfc = peaks
    measured = judge(claim, _results({"irn+qcn": alone, "sfc+qcn": with_sfc}))
    assert measured.holds is holds
    assert "sfc+qcn" in measured.evidence.point
    assert not judge(claim, _results({"irn+qcn": alone})).holds


def _incast_run(*finish_us: float | None, window: str = "incast_window_us") -> Any:
    rows = [
        {"dst": "h1", "tag": "incast", "size_bytes": 1000, "start_us": 0.0, "finish_us": end, "fct_us": end}
        for end in finish_us
    ]
    flows = pl.DataFrame(rows, schema_overrides={"finish_us": pl.Float64, "fct_us": pl.Float64})
    result = SimpleNamespace(measured_window_us=None, fct_slowdown={"incast": None})
    return SimpleNamespace(flows=flows, result=result, config=SimpleNamespace(workload={window: 10.0}))


def test_an_incast_that_did_not_finish_has_no_completion_time() -> None:
    assert INCAST_COMPLETION.measure(_incast_run(10.0, 30.0)) == pytest.approx(30)
    assert INCAST_FAIRNESS.measure(_incast_run(10.0, 10.0, window="window_us")) == pytest.approx(1)
    with pytest.raises(NotMeasured, match="did not finish"):
        INCAST_COMPLETION.measure(_incast_run(10.0, None))
    run = _incast_run(10.0)
    with pytest.raises(NotMeasured, match="no incast"):
        INCAST_COMPLETION.measure(SimpleNamespace(**{**vars(run), "flows": run.flows.clear()}))  # type: ignore[arg-type]


def _run_with_an_end(bytes_per_us: int) -> Any:
    """Return a run of two flows. Flow 1 ends at 20 us, and flow 2 gets the bytes from then on, until 90 us."""
    flows = pl.DataFrame({"flow_id": [1, 2], "dst": ["h1", "h1"], "start_us": [0.0, 5.0], "finish_us": [20.0, 90.0]})
    rows = [(float(t), t + 1.0, 2, 500 if t < 20 else bytes_per_us) for t in range(90)]
    goodput = pl.DataFrame(rows, schema=["from_us", "until_us", "flow_id", "delivered_bytes"], orient="row")
    return SimpleNamespace(flows=flows, goodput=goodput, result=SimpleNamespace(base_rtt_us=10.0))


def test_the_goodput_after_an_end_is_that_of_the_last_flow_in_the_next_five_round_trips() -> None:
    run = _run_with_an_end(1000)
    assert GOODPUT_AFTER_AN_END.measure(run) == pytest.approx(8)
    run.result.base_rtt_us = 20.0
    with pytest.raises(NotMeasured, match="less than 5 RTTs"):
        GOODPUT_AFTER_AN_END.measure(run)
    run.flows = run.flows.with_columns(finish_us=pl.lit(None, pl.Float64))
    with pytest.raises(NotMeasured, match="did not finish"):
        GOODPUT_AFTER_AN_END.measure(run)


@pytest.mark.parametrize(("kilobytes", "holds"), [((90, 80, 50), True), ((90, 80, 60), False), ((80, 90, 50), False)])
def test_grants_must_fill_the_link_one_after_another(kilobytes: tuple[int, int, int], holds: bool) -> None:
    places = ("flow end", "flow end, supply matching", "flow end, no grants")
    measurements = [
        Measurement(Point("irn+bolt", {"workload": place}), _run_with_an_end(round(1000 * count / 90)))
        for place, count in zip(places, kilobytes, strict=True)
    ]
    [claim] = [claim for claim in RIVALS.claims if "ramp-up" in claim.claim]
    assert judge(claim, Results("ci", tuple(measurements))).holds is holds


def test_a_slowdown_may_leave_out_small_messages() -> None:
    flows = pl.DataFrame({"tag": ["hadoop"] * 40, "size_bytes": [100, 5000] * 20, "slowdown": [9.0, 2.0] * 20})
    result = SimpleNamespace(measured_window_us=None, fct_slowdown={"hadoop": SimpleNamespace(flows=40)})
    run: Any = SimpleNamespace(flows=flows, result=result)
    assert slowdown(95, above_bytes=100).measure(run) == 2.0
    assert slowdown(95, largest_bytes=100).measure(run) == 9.0
    assert slowdown(95, above_bytes=1000).name == "P95 FCT slowdown above 1 KB"


def test_the_use_of_links_is_measured_where_there_are_equal_cost_links() -> None:
    balance = LinkBalance(groups=1, sent_bytes=9, jain_index=0.9, largest_over_mean=1.5, spread_100us=None)
    run: Any = SimpleNamespace(result=SimpleNamespace(link_balance=balance))
    assert (LINK_JAIN.measure(run), LINK_LARGEST.measure(run)) == (0.9, 1.5)
    with pytest.raises(NotMeasured, match="shorter than 100 us"):
        LINK_SPREAD.measure(run)
    run.result.link_balance = None
    with pytest.raises(NotMeasured, match="no equal-cost links"):
        LINK_JAIN.measure(run)
