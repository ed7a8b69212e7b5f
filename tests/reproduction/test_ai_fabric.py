# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The experiment `ai-fabric`: its runs, its quantities of links, its tables by load balancing and its claims."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from sfc_testbed.reproduction.catalogue import EXPERIMENTS
from sfc_testbed.reproduction.experiments.ai_fabric_claims import (
    ALONE,
    BALANCINGS,
    FABRICS,
    FAILED_LINK_TIME,
    REFUSED,
    SLOW_LINK_SHARE,
)
from sfc_testbed.reproduction.jobs import ExperimentJob, jobs_of
from sfc_testbed.reproduction.judge import Case, judge_case
from sfc_testbed.reproduction.model.experiment import Column, Measurement, NotMeasured, Point, Results, TableSpec, judge
from sfc_testbed.reproduction.model.quantities import CORE_QUEUE, PEAK_BUFFER, RESENT_LOSS, RESENT_REORDERING
from sfc_testbed.reproduction.record import read_reproduction
from sfc_testbed.reproduction.tables import measured_table
from sfc_testbed.request.errors import UsageError
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.jobs.job import JobFailed
from sfc_testbed.testbed.plan.plan import plan_run

AI_FABRIC = EXPERIMENTS["ai-fabric"]


def _place(workload: str, balancing: str, fabric: str = "healthy") -> Mapping[str, str]:
    return {"workload": workload, "load balancing": balancing, "fabric": fabric}


def _job(scheme: str, place: Mapping[str, str]) -> ExperimentJob:
    [job] = [job for job in jobs_of(AI_FABRIC, "ci") if (job.point.scheme, job.point.place) == (scheme, place)]
    return job


def test_a_point_has_its_load_balancing_and_faults() -> None:
    request = _job("irn", _place("all-to-all", "reps", "failed link")).request
    assert (request.scenario, request.load_balancing) == ("ai-fabric", "reps")
    assert request.faults == FABRICS["failed link"]["faults"]
    assert not request.settings
    hadoop = _job("ingress-bts", _place("hadoop", "spray")).request
    assert (hadoop.scenario, hadoop.load_balancing, hadoop.faults) == ("datacentre", "spray", ())


def test_all_workloads_have_the_same_network() -> None:
    [hadoop, other] = [
        plan_run(_job("irn", _place(workload, "ecmp")).request).config for workload in ("hadoop", "all-to-all")
    ]
    assert hadoop.topology_parameters == other.topology_parameters
    assert hadoop.switch_settings == other.switch_settings
    assert {**hadoop.transport_settings, "goodput_interval_ns": 0} == {
        **other.transport_settings,
        "goodput_interval_ns": 0,
    }


@pytest.mark.parametrize("balancing", BALANCINGS)
def test_exactly_the_refused_pairs_are_left_out(balancing: str) -> None:
    points = {(job.point.scheme, job.point.place["load balancing"]) for job in jobs_of(AI_FABRIC, "ci")}
    own = _job("irn", _place("ring", balancing)).request
    for scheme in ("ndp", "bfc", "sfc+hpcc"):
        request = RunSpec(own.scenario, scheme, clock="virtual", settings=own.settings, load_balancing=balancing)
        assert ((scheme, balancing) in points) is ((scheme, balancing) not in REFUSED)
        if (scheme, balancing) in REFUSED:
            with pytest.raises(UsageError, match="exclude each other"):
                plan_run(request)
        else:
            plan_run(request)


def _run(links: list[tuple[float, int, int]] = [], queues: list[tuple[str, int, int]] = [], **result: Any) -> Any:  # noqa: B006
    """Return a run of a Clos whose tor1 has the uplinks 3 and 4, with rows of tor1's links and of queues."""
    return SimpleNamespace(
        config=SimpleNamespace(equal_cost_ports={"tor1": ((3, 4),)}),
        links=pl.LazyFrame(
            [("tor1", *row) for row in links], ["switch", "time_us", "port", "sent_bytes"], orient="row"
        ),
        queues=pl.LazyFrame(
            queues, {"switch": pl.String, "port": pl.Int16, "high_water_bytes": pl.UInt32}, orient="row"
        ),
        flows=pl.DataFrame({"packets_sent": [1500, 500]}),
        result=SimpleNamespace(**result),
    )


def test_the_share_of_the_slow_link_is_that_of_the_first_uplink() -> None:
    assert SLOW_LINK_SHARE.measure(_run([(20.0, 3, 100), (20.0, 4, 900), (40.0, 1, 5_000)])) == pytest.approx(0.2)
    with pytest.raises(NotMeasured, match="sent nothing"):
        SLOW_LINK_SHARE.measure(_run([(20.0, 1, 900)]))


def test_packets_wait_for_the_failed_link_until_its_queue_stays_empty() -> None:
    run = _run()
    rows = [("tor1", 3, 10.0), ("tor1", 3, 150.0), ("tor1", 4, 900.0), ("spine1", 3, 900.0), ("tor1", -1, 900.0)]
    run.queues = pl.LazyFrame(rows, ["switch", "port", "time_us"], orient="row")
    assert FAILED_LINK_TIME.measure(run) == 130
    run.queues = run.queues.head(1)
    assert FAILED_LINK_TIME.measure(run) == 0


def test_the_deepest_queue_between_switches_leaves_out_hosts_and_whole_buffers() -> None:
    of_hosts = [("tor1", 1, 9_000), ("tor1", -1, 9_999), ("spine1", -1, 9_999)]
    assert CORE_QUEUE.measure(_run(queues=[*of_hosts, ("tor1", 4, 700)])) == 700
    assert CORE_QUEUE.measure(_run(queues=[*of_hosts, ("tor1", 4, 700), ("spine1", 1, 800)])) == 800
    assert CORE_QUEUE.measure(_run(queues=of_hosts)) == 0


def test_packets_are_sent_again_for_several_reasons() -> None:
    run = _run(resent=SimpleNamespace(loss=4, reordering=0))
    assert (RESENT_LOSS.measure(run), RESENT_REORDERING.measure(run)) == (2, 0)


def _results(peaks: Mapping[tuple[str, str], int]) -> Results:
    return Results(
        "ci",
        tuple(
            Measurement(Point(scheme, _place("hadoop", balancing)), _run(max_buffer_bytes=peak))
            for (scheme, balancing), peak in peaks.items()
        ),
    )


@pytest.mark.parametrize(("peak", "holds"), [(2_000_000, True), (2_000_001, False)])
def test_the_worst_load_balancing_decides_a_claim_and_is_named(peak: int, holds: bool) -> None:
    peaks = {(scheme, name): 4_000_000 for scheme in ALONE for name in BALANCINGS}
    peaks |= {(scheme, name): 1_000_000 for scheme in ("sfc", "sfc+hpcc") for name in BALANCINGS}
    peaks["sfc+hpcc", "drill"] = peak
    [claim] = [claim for claim in AI_FABRIC.claims if "halves the peak buffer" in claim.claim]
    measured = judge(claim, _results(peaks))
    assert measured.holds is holds
    assert "sfc+hpcc, drill, healthy" in measured.evidence.point
    del peaks["sfc", "plb"]
    assert not judge(claim, _results(peaks)).holds


def test_a_table_has_a_row_for_each_place_and_its_columns_may_have_schemes() -> None:
    by_seed = [_results({("irn", "ecmp"): peak, ("sfc", "ecmp"): 1_000_000}) for peak in (3_000_000, 2_000_000, 9)]
    places = {name: {"load balancing": name} for name in ("ecmp", "reps")}
    columns = tuple(Column(scheme, PEAK_BUFFER, {"workload": "hadoop"}, scheme) for scheme in ("irn", "sfc"))
    table = measured_table(TableSpec("Peaks", columns, (), places, "load balancing"), by_seed)
    assert table.headings == ("load balancing", "irn", "sfc")
    assert table.rows == (("ecmp", "2 MB", "1 MB"),)
    [column] = [Column("peak", PEAK_BUFFER, {"workload": "hadoop"})]
    both = measured_table(TableSpec("Peaks", (column,), ("irn", "sfc"), places, "load balancing"), by_seed)
    assert both.headings == ("load balancing", "scheme", "peak")
    assert both.rows == (("ecmp", "irn", "2 MB"), ("ecmp", "sfc", "1 MB"))


def test_a_page_is_written_without_the_tables_of_failed_runs(tmp_path: Path) -> None:
    jobs = jobs_of(AI_FABRIC, "ci")
    runs = tuple((job.point.label, JobFailed(reason="no memory left")) for job in jobs)
    judge_case(Case(experiment="ai-fabric", scale="ci", folder=tmp_path, runs=runs))
    reproduction = read_reproduction(tmp_path).reproduction
    assert (len(reproduction.failures), reproduction.tables) == (len(jobs), ())
    assert "no memory left" in (tmp_path / "report.html").read_text()
