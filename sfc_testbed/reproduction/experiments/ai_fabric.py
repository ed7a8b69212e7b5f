# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Section 3.3, footnote: what load balancing leaves for flow control to do, with collectives and Hadoop at 400 Gb/s."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from sfc_testbed.analysis.plots.panels import Curve, Panel, scheme_looks
from sfc_testbed.reproduction.experiments.ai_fabric_claims import (
    ALL_TO_ALL,
    ALONE,
    BALANCINGS,
    CLAIMS,
    FABRICS,
    FAILED,
    FAILED_LINK_TIME,
    HADOOP,
    HEALTHY,
    MEAN_SLOWDOWN,
    REFUSED,
    RING,
    SCHEMES,
    SFC_OF,
    SLOW,
    SLOW_LINK_SHARE,
)
from sfc_testbed.reproduction.model.experiment import (
    Axis,
    Column,
    Experiment,
    Grid,
    Grids,
    NotMeasured,
    Results,
    TableSpec,
)
from sfc_testbed.reproduction.model.panels import PanelMaker, paper_figure
from sfc_testbed.reproduction.model.quantities import (
    BTS_SENT,
    BUS_BANDWIDTH,
    CORE_QUEUE,
    DROPS,
    ITERATION_TIME,
    LINK_JAIN,
    LINK_LARGEST,
    LONGEST_ITERATION,
    PEAK_BUFFER,
    RESENT_LOSS,
    RESENT_REORDERING,
    RESENT_TIMEOUT,
    RESENT_TRIMMED,
    Quantity,
    slowdown,
)
from sfc_testbed.scenarios.ai_fabric import INCAST_BYTES, SCENARIO
from sfc_testbed.scenarios.model.scenario import ScaleName
from sfc_testbed.scenarios.paper.data_centre import PAPER_DEGREE, PAPER_WINDOW_US

_NAMES = {
    "irn": "IRN",
    "sfc": "SFC",
    "irn+hpcc": "HPCC",
    "sfc+hpcc": "SFC with HPCC",
    "irn+swift": "Swift",
    "ndp": "NDP",
    "bfc": "BFC",
}
"""The names of the figure's curves."""
_SMALL = slowdown(99, largest_bytes=10_000)


def _columns(place: Mapping[str, str], *first: Column) -> tuple[Column, ...]:
    """Return the columns of a workload's table: its own columns first, then the common columns."""
    figures = (
        ("peak buffer", PEAK_BUFFER),
        ("deepest queue between switches", CORE_QUEUE),
        ("BTS", BTS_SENT),
        ("resent: timeout", RESENT_TIMEOUT),
        ("trimmed", RESENT_TRIMMED),
        ("loss", RESENT_LOSS),
        ("reordering", RESENT_REORDERING),
        ("Jain's index", LINK_JAIN),
        ("largest/mean", LINK_LARGEST),
    )
    return (*first, *(Column(heading, figure, place) for heading, figure in figures))


def _iterations(place: Mapping[str, str]) -> tuple[Column, ...]:
    """Return the columns of a collective's table."""
    own = (("iteration", ITERATION_TIME), ("longest", LONGEST_ITERATION), ("bus bandwidth (GB/s)", BUS_BANDWIDTH))
    return _columns(place, *(Column(heading, figure, place) for heading, figure in own))


def _messages(place: Mapping[str, str]) -> tuple[Column, ...]:
    """Return the columns of Hadoop's table."""
    own = (("P99 up to 10 KB", _SMALL), ("P99", slowdown(99)), ("mean", MEAN_SLOWDOWN))
    return _columns(place, *(Column(heading, figure, place) for heading, figure in own))


def _table(caption: str, columns: tuple[Column, ...], schemes: tuple[str, ...] = SCHEMES) -> TableSpec:
    """Return a table with a row for each load balancing and scheme."""
    places = {name: {"load balancing": name} for name in BALANCINGS}
    return TableSpec(caption, columns, schemes, places, "load balancing")


def _matrix(caption: str, figure: Quantity, place: Mapping[str, str], schemes: Iterable[str] = SCHEMES) -> TableSpec:
    """Return a table of one figure with a row for each load balancing and a column for each scheme."""
    places = {name: {"load balancing": name} for name in BALANCINGS}
    columns = tuple(Column(scheme, figure, place, scheme) for scheme in schemes)
    return TableSpec(caption, columns, (), places, "load balancing")


def _left_to_do() -> Iterator[TableSpec]:
    """Yield the tables of what each load balancing does alone, and of what it leaves to flow control."""
    places = {name: {"load balancing": name} for name in BALANCINGS}
    alone = (
        ("largest/mean of uplinks", LINK_LARGEST, {**ALL_TO_ALL, **HEALTHY}),
        ("Jain's index", LINK_JAIN, {**ALL_TO_ALL, **HEALTHY}),
        ("deepest queue between switches", CORE_QUEUE, {**ALL_TO_ALL, **HEALTHY}),
        ("slow link: this queue", CORE_QUEUE, {**ALL_TO_ALL, **SLOW}),
        ("slow link: its bytes over the mean uplink", SLOW_LINK_SHARE, {**ALL_TO_ALL, **SLOW}),
        ("failed link: packets wait for it", FAILED_LINK_TIME, {**ALL_TO_ALL, **FAILED}),
        ("Hadoop: deepest queue between switches", CORE_QUEUE, {**HADOOP, **HEALTHY}),
        ("Hadoop: packets dropped", DROPS, {**HADOOP, **HEALTHY}),
    )
    with_sfc = (
        ("BTS, all-to-all", BTS_SENT, {**ALL_TO_ALL, **HEALTHY}),
        ("slow link", BTS_SENT, {**ALL_TO_ALL, **SLOW}),
        ("ring", BTS_SENT, {**RING, **HEALTHY}),
        ("Hadoop", BTS_SENT, {**HADOOP, **HEALTHY}),
        ("Hadoop: packets dropped", DROPS, {**HADOOP, **HEALTHY}),
    )
    for scheme, caption, columns in (
        ("irn", "Load balancing alone: IRN, and an all-to-all unless Hadoop is named", alone),
        ("sfc", "SFC: BTS for each 1,000 data packets, and drops", with_sfc),
    ):
        own = tuple(Column(heading, figure, place, scheme) for heading, figure, place in columns)
        yield TableSpec(caption, own, (), places, "load balancing")


def _over_balancings(title: str, of: Quantity, place: Mapping[str, str]) -> PanelMaker:
    """Make a panel of a quantity over the load balancings, with a curve for each scheme."""
    looks = scheme_looks([*_NAMES])

    def make(results: Results) -> Panel:
        drawn = []
        for (scheme, name), look in zip(_NAMES.items(), looks, strict=True):
            points = []
            for number, balancing in enumerate(BALANCINGS):
                try:
                    run = results.at(scheme, {**place, "load balancing": balancing})
                    points.append((float(number), of.measure(run) / of.per_unit))
                except NotMeasured:
                    continue
            x, y = np.array(points, dtype=np.float64).reshape(-1, 2).T
            drawn.append(Curve(name, look, x, y))
        return Panel(title, "Load balancing", of.axis_label, "marks", drawn, [*BALANCINGS], is_log=True)

    return make


def _grid(
    schemes: Iterable[str],
    workload: str,
    keys: Mapping[str, Any],
    fabrics: Iterable[str],
    balancings: Iterable[str] = BALANCINGS,
) -> Iterator[Grid]:
    """Yield the runs of a workload in some fabrics, without those that the program refuses."""
    for balancing in balancings:
        axes = (
            Axis("workload", {workload: keys}),
            Axis("load balancing", {balancing: {"load_balancing": balancing}}),
            Axis("fabric", {name: FABRICS[name] for name in fabrics}),
        )
        yield Grid(tuple(scheme for scheme in schemes if (scheme, balancing) not in REFUSED), axes)


def _grids(scale: ScaleName, ring_bytes: int, arrivals_us: float) -> Grids:
    """Return the runs of a scale."""
    own = SCENARIO.scales[scale]
    hosts = own.topology_parameters["tors"] * own.topology_parameters["hosts_per_tor"]
    hadoop = {
        "scenario": "datacentre",
        "topology": own.topology,
        **{f"topology.{name}": value for name, value in own.topology_parameters.items()},
        **{f"switch.{name}": value for name, value in own.switch.items()},
        **{f"transport.{name}": value for name, value in own.transport.items()},
        "duration_ms": own.duration_ms,
        "sizes": "hadoop",
        "load": 0.5,
        "incast_load": 0.08,
        "incast_degree": hosts - 1,
        "incast_bytes": INCAST_BYTES,
        "incast_window_us": PAPER_WINDOW_US * (hosts - 1) / PAPER_DEGREE,
        "incast_spacing": "even",
        "arrivals_us": arrivals_us,
        "warmup_us": 20.0,
        "cooldown_us": 20.0,
    }
    ring = {"collective": "all-reduce", "algorithm": "ring", "bytes": ring_bytes}
    on_slow_link = ("ecmp", "spray", "round-robin", "flowlet", "conga")
    return Grids(
        (
            *_grid(SCHEMES, "all-to-all", {}, ("healthy", "slow link")),
            *_grid((*ALONE, *SFC_OF), "all-to-all", {}, ("failed link",)),
            *_grid(SCHEMES, "ring", ring, ("healthy",)),
            *_grid((*SCHEMES, "ingress-bts"), "hadoop", hadoop, ("healthy",)),
            *_grid(ALONE, "hadoop", hadoop, ("slow link",), on_slow_link),
        )
    )


EXPERIMENT = Experiment(
    title="AI fabric: collectives under load balancing, flow control and failures",
    paper="Section 3.3, footnote",
    shows="The paper assumes that load balancing handles congestion between switches, and has no experiment about "
    "it. Its footnote names PLB and NDP's spraying. The other claims are from the abstracts of the REPS paper (arXiv "
    "2407.21625) and the LetFlow paper (NSDI'17).",
    is_in_validate_all=False,
    scenario=SCENARIO,
    grids={
        "ci": _grids("ci", 4_800_000, 500.0),
        "laptop": _grids("laptop", 10_800_000, 800.0),
        "paper": _grids("paper", 32_000_000, 1_500.0),
    },
    claims=CLAIMS,
    figure=paper_figure(
        "Time of an all-to-all (a) in a healthy fabric, (b) with a slow link and (c) with a failed link, and (d) "
        "peak buffer with Hadoop and incasts, by load balancing.",
        _over_balancings("healthy", ITERATION_TIME, {**ALL_TO_ALL, **HEALTHY}),
        _over_balancings("slow link", ITERATION_TIME, {**ALL_TO_ALL, **SLOW}),
        _over_balancings("failed link", ITERATION_TIME, {**ALL_TO_ALL, **FAILED}),
        _over_balancings("Hadoop and incasts", PEAK_BUFFER, {**HADOOP, **HEALTHY}),
        columns=2,
    ),
    tables=(
        _matrix("Time of an all-to-all", ITERATION_TIME, {**ALL_TO_ALL, **HEALTHY}),
        _matrix("Time of an all-to-all, slow link", ITERATION_TIME, {**ALL_TO_ALL, **SLOW}),
        _matrix("Time of an all-to-all, failed link", ITERATION_TIME, {**ALL_TO_ALL, **FAILED}, (*ALONE, *SFC_OF)),
        _matrix("Time of a ring all-reduce", ITERATION_TIME, {**RING, **HEALTHY}),
        _matrix("P99 FCT slowdown of Hadoop messages up to 10 KB", _SMALL, {**HADOOP, **HEALTHY}),
        _matrix(
            "Peak buffer, Hadoop with incasts",
            PEAK_BUFFER,
            {**HADOOP, **HEALTHY},
            (*SCHEMES, "ingress-bts"),
        ),
        *_left_to_do(),
        *(_table(f"All-to-all, {name}", _iterations({**ALL_TO_ALL, "fabric": name})) for name in FABRICS),
        _table("Ring all-reduce", _iterations({**RING, **HEALTHY})),
        _table("Hadoop at 50 % load with 8 % incasts", _messages({**HADOOP, **HEALTHY}), (*SCHEMES, "ingress-bts")),
        _table("Hadoop at 50 % load with 8 % incasts, slow link", _messages({**HADOOP, **SLOW}), ALONE),
    ),
    notes=(
        "The claims are the papers' sentences, restated before the first run, with our limits where a paper gives no "
        "number. After a first run, two things were changed. Buffers and incast messages were made four times as large "
        "as at the 100 Gb/s of the other experiments, because links are four times as fast. Claim 16 is about the time "
        "for which packets wait for the failed link; before, it was about the bytes over this link.",
        "Unless a claim names a congestion control, it is tested with a static window (named IRN), HPCC and Swift, "
        "or, if it is about SFC, with a static window and HPCC. The least favourable gives the measured value.",
        "Hosts and links have 400 Gb/s, and a ToR has as many uplinks as hosts. Two jobs share the fabric, each on "
        "half of every rack's hosts. A message has 1.5 MB (three BDP) in an all-to-all, and 1 MB in an incast.",
        "The slow link is tor1-spine1 at 25 % of its rate. The failed link is the same one; it fails after 20 us, "
        "and routes change 1 ms later.",
        "Hadoop with a slow link was run without flow control only, and the failed link without NDP and BFC.",
    ),
)
