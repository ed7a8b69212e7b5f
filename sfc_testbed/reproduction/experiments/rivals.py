# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Section 2: every congestion control alone and with SFC, and the other flow controls, on the paper's workloads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from sfc_testbed.analysis.formatting import format_ratio
from sfc_testbed.analysis.plots.panels import Curve, Panel, scheme_looks
from sfc_testbed.reproduction.model.claims import Judged, worst_of
from sfc_testbed.reproduction.model.experiment import (
    Axis,
    Column,
    Evidence,
    Experiment,
    Grid,
    Grids,
    Measured,
    NotMeasured,
    Results,
    TableSpec,
)
from sfc_testbed.reproduction.model.panels import PanelMaker, paper_figure
from sfc_testbed.reproduction.model.quantities import (
    BTS_SENT,
    CACHE_ENTRIES,
    CONTROL_OF_HOSTS,
    DROPS,
    GOODPUT_AFTER_AN_END,
    INCAST_COMPLETION,
    INCAST_FAIRNESS,
    PAUSE_FRAMES,
    PEAK_BUFFER,
    RECEIVER_THROUGHPUT,
    RING_SLOWDOWN,
    SHARED_QUEUES,
    SUPPRESSION_ENTRIES,
    Quantity,
    mean_slowdown,
    slowdown,
)
from sfc_testbed.scenarios.paper.data_centre import (
    CI_DEGREE,
    LAPTOP_DEGREE,
    PAPER_BUFFER_BYTES,
    PAPER_DEGREE,
    PAPER_WINDOW_US,
    RIVALS,
    SCALING_NOTE,
    SMALL_SCALE_PAYLOAD_BYTES,
)

CONTROLS: Mapping[str, str] = {
    "window": "a static window",
    "dcqcn": "DCQCN+W",
    "dctcp": "DCTCP",
    "qcn": "QCN",
    "hpcc": "HPCC",
    "timely": "TIMELY",
    "swift": "Swift",
    "powertcp": "PowerTCP",
    "theta-powertcp": "theta-PowerTCP",
    "bolt": "Bolt",
}
"""The congestion controls. Each runs without flow control and with SFC."""
WITH_PFC = ("dcqcn", "hpcc", "timely", "powertcp")
"""The congestion controls whose papers use networks with PFC."""
WITH_ONRAMP = ("dcqcn", "hpcc")
"""The congestion controls with which the SFC paper uses OnRamp."""
WITH_BFC = ("window", "hpcc")
"""The congestion controls with which BFC runs, besides none. BFC is meant to replace congestion control."""

ALONE = tuple(f"irn+{control}" for control in CONTROLS)
WITH_SFC = tuple(f"sfc+{control}" for control in CONTROLS)
SCHEMES = (
    *(scheme for pair in zip(ALONE, WITH_SFC, strict=True) for scheme in pair),
    *(f"pfc+{control}" for control in WITH_PFC),
    *(f"onramp+{control}" for control in WITH_ONRAMP),
    "ndp",
    "bfc",
    *(f"bfc+{control}" for control in WITH_BFC),
)

_HADOOP, _RPC, _RING = ({"workload": name} for name in ("hadoop", "rpc", "all-reduce"))
_QUEUES = (8, 128)
"""Numbers of BFC's queues besides the default, with Hadoop."""
_FEW, _MANY = ({"workload": f"hadoop, {queues} queues"} for queues in _QUEUES)

_BOLTS_RIVALS = ("irn+bolt", "irn+swift", "irn+hpcc")
"""Bolt and the congestion controls that its paper compares it with."""
_LARGE_INCAST, _END, _END_WITH_SUPPLY, _END_ALONE = (
    {"workload": name} for name in ("large incast", "flow end", "flow end, supply matching", "flow end, no grants")
)
"""Workloads of two figures of Bolt's paper. A grant lets a sender enlarge its window before its own round trip does."""


def _ring(network: Mapping[str, Any], degree: int, **workload: Any) -> dict[str, Any]:
    """Return the settings of a ring all-reduce beside an incast, in a network of the data-centre experiments."""
    payload = {} if degree == PAPER_DEGREE else {"transport.payload_bytes": SMALL_SCALE_PAYLOAD_BYTES}
    return {
        "scenario": "allreduce",
        **{f"topology.{name}": value for name, value in network.items()},
        "switch.buffer_bytes": PAPER_BUFFER_BYTES * degree // PAPER_DEGREE,
        **payload,
        "degree": degree,
        "placement": "spread",
        "window_us": PAPER_WINDOW_US * degree / PAPER_DEGREE,
        **workload,
    }


def _grid(ring: Mapping[str, Any], hadoop_us: float, rpc_us: float) -> Grids:
    """Return the points of a scale: messages arrive for a time that depends on the workload."""
    hadoop = {"sizes": "hadoop", "load": 0.5, "arrivals_us": hadoop_us}
    workloads = {
        "all-reduce": ring,
        "hadoop": hadoop,
        "rpc": {"sizes": "rpc", "load": 0.3, "arrivals_us": rpc_us},
    }
    by_queues = {f"hadoop, {queues} queues": {**hadoop, "switch.bfc_queues": queues} for queues in _QUEUES}
    large_incast = {
        "scenario": "incast",
        **{key: value for key, value in ring.items() if key.startswith(("topology", "degree", "placement"))},
        "switch.buffer_bytes": 320_000_000,
        "message_bytes": 500_000,
        "window_us": 0.0,
    }
    flow_end = {
        "scenario": "incast",
        "degree": 2,
        "message_bytes": 40_000_000,
        "window_us": 2_000.0,
        "transport.goodput_interval_ns": 1_000,
    }
    no_ramp_up = {**flow_end, "switch.bolt_ramp_up": False}
    of_bolt = {
        _END_WITH_SUPPLY["workload"]: no_ramp_up,
        _END_ALONE["workload"]: {**no_ramp_up, "switch.bolt_supply_bytes": None},
    }
    figures = {_LARGE_INCAST["workload"]: large_incast, _END["workload"]: flow_end}
    return Grids(
        (
            Grid(SCHEMES, (Axis("workload", workloads),)),
            Grid(("bfc+window",), (Axis("workload", by_queues),)),
            Grid(_BOLTS_RIVALS, (Axis("workload", figures),)),
            Grid(("irn+bolt",), (Axis("workload", of_bolt),)),
        )
    )


def _pairs(
    claim: str,
    paper: str,
    of: Quantity,
    pairs: Sequence[tuple[str, str]],
    *places: Mapping[str, str],
    at_least: float | None = None,
    at_most: float | None = None,
    is_ours: bool = False,
) -> Judged:
    """Return a claim about the ratio of a quantity under the two schemes of every pair, at each place. The worst ratio
    decides."""

    def check(results: Results) -> Measured:
        ratios = []
        for (scheme, base), place in product(pairs, places):
            value, divisor = (of.measure(results.at(name, place)) for name in (scheme, base))
            if not divisor:
                raise NotMeasured(f"{of.name} of {base} is zero")
            where = f" with {place['workload']}" if len(places) > 1 else ""
            ratios.append((value / divisor, f"{scheme}{where}", f"{of.write(value)} vs. {of.write(divisor)}"))
        ratio, point, values = min(ratios) if at_most is None else max(ratios)
        fails = sum((at_least or 0.0) > ratio or ratio > (at_most or np.inf) for ratio, *_ in ratios)
        evidence = Evidence(values, "", worst_of(len(ratios), fails), point)
        return Measured(ratio, not fails, format_ratio(ratio), format_ratio, evidence)

    return Judged(claim, paper, check, is_ours=is_ours)


def _flow_control_dominates(results: Results) -> Measured:
    """Compare the highest peak buffer with SFC with the lowest peak buffer of end-to-end congestion control alone."""
    with_sfc, alone = (
        {scheme: PEAK_BUFFER.measure(results.at(scheme, _HADOOP)) for scheme in schemes}
        for schemes in (WITH_SFC, ALONE)
    )
    high, low = max(with_sfc, key=with_sfc.__getitem__), min(alone, key=alone.__getitem__)
    ratio = with_sfc[high] / alone[low]
    values = f"{PEAK_BUFFER.write(with_sfc[high])} vs. {PEAK_BUFFER.write(alone[low])}"
    evidence = Evidence(values, point=f"{high} vs. {low}")
    return Measured(ratio, ratio < 1, format_ratio(ratio), format_ratio, evidence)


def _fewer_queues_are_worse(of: Quantity) -> Callable[[Results], Measured]:
    """Return a check that a quantity of BFC is higher with the fewest queues than with the most."""

    def check(results: Results) -> Measured:
        few, many = (of.measure(results.at("bfc+window", place)) for place in (_FEW, _MANY))
        values = f"{_QUEUES[0]} queues: {of.write(few)}, {_QUEUES[1]} queues: {of.write(many)}"
        return Measured(few - many, few > many, values, None)

    return check


def _grants_fill_the_link(results: Results) -> Measured:
    """Compare Bolt's goodput after the end of a flow with both grants, with supply matching only and with neither."""
    places = (_END, _END_WITH_SUPPLY, _END_ALONE)
    both, supply, neither = (GOODPUT_AFTER_AN_END.measure(results.at("irn+bolt", place)) for place in places)
    written = [GOODPUT_AFTER_AN_END.write(value) for value in (both, supply, neither)]
    values = f"both: {written[0]}, supply matching: {written[1]}, neither: {written[2]}"
    holds = neither < supply < both and neither <= 0.65 * both
    return Measured(neither / both, holds, format_ratio(neither / both), format_ratio, Evidence(values))


def _over_controls(title: str, of: Quantity, place: Mapping[str, str]) -> PanelMaker:
    """Make a panel of a quantity over the congestion controls, with a curve for each flow control."""
    curves = {
        "no flow control": {control: f"irn+{control}" for control in CONTROLS},
        "PFC": {control: f"pfc+{control}" for control in WITH_PFC},
        "OnRamp": {control: f"onramp+{control}" for control in WITH_ONRAMP},
        "SFC": {control: f"sfc+{control}" for control in CONTROLS},
        "BFC": {control: f"bfc+{control}" for control in WITH_BFC},
    }
    looks = scheme_looks(["irn", "pfc", "onramp", "sfc", "bfc"])

    def make(results: Results) -> Panel:
        drawn = []
        for (name, schemes), look in zip(curves.items(), looks, strict=True):
            points = []
            for number, control in enumerate(CONTROLS):
                try:
                    value = of.measure(results.at(schemes[control], place)) / of.per_unit
                except (KeyError, NotMeasured):
                    continue
                points.append((float(number), value))
            x, y = np.array(points, dtype=np.float64).reshape(-1, 2).T
            drawn.append(Curve(name, look, x, y))
        return Panel(title, "Congestion control", of.axis_label, "marks", drawn, [*CONTROLS], is_log=True)

    return make


_SAME = [(f"sfc+{control}", f"irn+{control}") for control in CONTROLS]
_END_TO_END = [pair for pair in _SAME if pair[1] not in ("irn+bolt", "irn+qcn")]
_BFC_ALONE = [("bfc", f"irn+{control}") for control in ("dcqcn", "dctcp", "hpcc")]
"""BFC, and end-to-end controls alone: the two that the abstract of BFC's paper names, and HPCC."""
_BOLT_BEFORE_RIVALS = [("irn+bolt", "irn+swift"), ("irn+bolt", "irn+hpcc")]

_BDP_BYTES = 125_000
_SMALL = slowdown(99, largest_bytes=10_000)
_MEDIUM = slowdown(99, largest_bytes=_BDP_BYTES, above_bytes=10_000)
_LARGE = slowdown(99, above_bytes=_BDP_BYTES)
_LARGE_MEAN = mean_slowdown(above_bytes=_BDP_BYTES)

_OVERVIEW = (
    Column("P99, Hadoop", slowdown(99), _HADOOP),
    Column("P99, RPC", slowdown(99), _RPC),
    Column("all-reduce", RING_SLOWDOWN, _RING),
    Column("peak buffer", PEAK_BUFFER, _HADOOP),
    Column("incast", INCAST_COMPLETION, _HADOOP),
    Column("throughput", RECEIVER_THROUGHPUT, _HADOOP),
    Column("fairness", INCAST_FAIRNESS, _HADOOP),
    Column("BTS", BTS_SENT, _HADOOP),
    Column("pause frames", PAUSE_FRAMES, _HADOOP),
    Column("ACKs and other control", CONTROL_OF_HOSTS, _HADOOP),
)
"""The columns of the first table: a figure of each kind, most of them of the Hadoop runs."""


def _columns(place: Mapping[str, str], *first: Column) -> tuple[Column, ...]:
    """Return the columns of a workload's table: its own columns first, then the common columns."""
    figures = (
        ("peak buffer", PEAK_BUFFER),
        ("incast", INCAST_COMPLETION),
        ("throughput", RECEIVER_THROUGHPUT),
        ("fairness", INCAST_FAIRNESS),
        ("drops", DROPS),
        ("BTS", BTS_SENT),
        ("pause frames", PAUSE_FRAMES),
        ("ACKs and other control", CONTROL_OF_HOSTS),
        ("suppression entries", SUPPRESSION_ENTRIES),
        ("cache entries", CACHE_ENTRIES),
    )
    return (*first, *(Column(heading, figure, place) for heading, figure in figures))


def _sizes(place: Mapping[str, str]) -> tuple[Column, ...]:
    """Return the columns with the P99 of small, medium and large messages."""
    sizes = (
        ("P99 up to 10 KB", _SMALL),
        ("P99 up to 125 KB", _MEDIUM),
        ("P99 above 125 KB", _LARGE),
        ("mean above 125 KB", _LARGE_MEAN),
    )
    return tuple(Column(heading, figure, place) for heading, figure in sizes)


EXPERIMENT = Experiment(
    title="Rivals: every congestion control alone and with SFC, and other flow controls",
    paper="Section 2",
    shows="The paper says that SFC complements congestion control, that congestion control alone reacts to an incast "
    "too late, and that hop-by-hop flow control slows traffic that is not congested.",
    is_in_validate_all=False,
    scenario=RIVALS,
    grids={
        "ci": _grid(
            _ring({"hosts_per_tor": 16, "spines": 4}, CI_DEGREE, ranks=16, vector_bytes=1_600_000), 1_000.0, 400.0
        ),
        "laptop": _grid(
            _ring(
                {"tors": 4, "hosts_per_tor": 16, "spines": 4},
                LAPTOP_DEGREE,
                ranks=32,
                vector_bytes=6_400_000,
                rounds=2,
            ),
            1_500.0,
            500.0,
        ),
        "paper": _grid(
            _ring({}, PAPER_DEGREE, ranks=128, vector_bytes=64_000_000, rounds=3, topology="paper-simulation"),
            3_000.0,
            3_000.0,
        ),
    },
    claims=(
        *(
            _pairs(
                f"Hadoop and RPC: with {name}, SFC lowers the P99 FCT slowdown of the non-incast traffic",
                "complementing existing congestion control algorithms",
                slowdown(99),
                [(f"sfc+{control}", f"irn+{control}")],
                _HADOOP,
                _RPC,
                at_most=1.0,
            )
            for control, name in CONTROLS.items()
        ),
        Judged(
            "Hadoop: the highest peak buffer with SFC is below the lowest peak buffer without flow control",
            "the dominant impact of FC on switch buffer usage",
            _flow_control_dominates,
        ),
        _pairs(
            "Hadoop: SFC at least halves the peak buffer with a static window and every end-to-end congestion control",
            "the peak switch buffer usage by 2-3x",
            PEAK_BUFFER,
            _END_TO_END,
            _HADOOP,
            at_most=0.5,
        ),
        _pairs(
            "Hadoop: SFC at least halves QCN's peak buffer",
            "not fast enough to control switch buffer consumption",
            PEAK_BUFFER,
            [("sfc+qcn", "irn+qcn")],
            _HADOOP,
            at_most=0.5,
        ),
        *(
            _pairs(
                f"{name}: SFC's P99 FCT slowdown is at least 1.2 times better than OnRamp's, with DCQCN+W and HPCC",
                "the 99th-percentile flow completion times by 1.2-6x compared to the recent incast solutions",
                slowdown(99),
                [(f"sfc+{control}", f"onramp+{control}") for control in WITH_ONRAMP],
                place,
                at_most=1 / 1.2,
            )
            for name, place in (("Hadoop", _HADOOP), ("RPC", _RPC))
        ),
        *(
            _pairs(
                f"{name}: with every congestion control that ran with PFC, SFC's P99 FCT slowdown is below PFC's",
                "spreads congestion throughout the network core",
                slowdown(99),
                [(f"sfc+{control}", f"pfc+{control}") for control in WITH_PFC],
                place,
                at_most=1.0,
            )
            for name, place in (("Hadoop", _HADOOP), ("RPC", _RPC), ("All-reduce", _RING))
        ),
        _pairs(
            "Hadoop: NDP's peak buffer is below SFC's with HPCC",
            "ensures constant low queueing upon incast",
            PEAK_BUFFER,
            [("ndp", "sfc+hpcc")],
            _HADOOP,
            at_most=1.0,
        ),
        _pairs(
            "Hadoop: BFC's P99 FCT slowdown of messages up to 10 KB is at least 2.3 times lower than that of DCQCN+W, "
            "DCTCP and HPCC without flow control",
            "2.3-60x lower tail latency for short flows (abstract of the BFC paper)",
            _SMALL,
            _BFC_ALONE,
            _HADOOP,
            at_most=1 / 2.3,
        ),
        _pairs(
            "Hadoop: BFC's mean FCT slowdown of messages above 125 KB is at least 1.6 times lower than that of "
            "DCQCN+W, DCTCP and HPCC without flow control",
            "1.6-5x better average completion time for long flows (abstract of the BFC paper)",
            _LARGE_MEAN,
            _BFC_ALONE,
            _HADOOP,
            at_most=1 / 1.6,
        ),
        Judged(
            "Hadoop: with 8 queues, more of BFC's assignments share a queue than with 128",
            "flow collisions that degrade performance",
            _fewer_queues_are_worse(SHARED_QUEUES),
        ),
        Judged(
            "Hadoop: with 8 queues, BFC's P99 FCT slowdown is higher than with 128",
            "flow collisions that degrade performance",
            _fewer_queues_are_worse(slowdown(99)),
        ),
        _pairs(
            "Hadoop and RPC: Bolt's P99 FCT slowdown is below that of Swift and HPCC without flow control",
            "improves 99th-p flow completion time by up to 3x compared to Swift and HPCC (abstract of the Bolt paper)",
            slowdown(99),
            _BOLT_BEFORE_RIVALS,
            _HADOOP,
            _RPC,
            at_most=1.0,
        ),
        _pairs(
            "Incast of 500 KB messages at once: Bolt's peak buffer is at most 0.65 times that of Swift and HPCC",
            "99th percentile of queuing: Bolt 13.7 ms, Swift 23.5 ms, HPCC 23.1 ms (5,000 messages, Bolt's simulator)",
            PEAK_BUFFER,
            _BOLT_BEFORE_RIVALS,
            _LARGE_INCAST,
            at_most=0.65,
        ),
        _pairs(
            "Incast of 500 KB messages at once: Bolt does not complete it later than Swift and HPCC",
            "throughput: Bolt 99.2 Gb/s, Swift 57.4 Gb/s, HPCC 98.4 Gb/s (5,000 messages, Bolt's simulator)",
            INCAST_COMPLETION,
            _BOLT_BEFORE_RIVALS,
            _LARGE_INCAST,
            at_most=1.0,
        ),
        _pairs(
            "Two flows, and one ends: in the next five RTTs, the other's goodput with Bolt is at least 1.1 times "
            "that with HPCC",
            "foresees flow completions in the future to promptly occupy released bandwidth (abstract, Bolt paper)",
            GOODPUT_AFTER_AN_END,
            [("irn+bolt", "irn+hpcc")],
            _END,
            at_least=1.1,
        ),
        Judged(
            "Two flows, and one ends: in the next five RTTs, the other's goodput without Bolt's ramp-up and supply "
            "matching is at most 0.65 times that with both, and that with supply matching alone is in between",
            "matches bandwidth demand with supply to maximize utilization (abstract of the Bolt paper)",
            _grants_fill_the_link,
        ),
        *(
            _pairs(
                f"{name}: with every congestion control, the mean receiver throughput with SFC is at least 0.97 times "
                "that without flow control",
                "avoiding throughput degradation",
                RECEIVER_THROUGHPUT,
                _SAME,
                place,
                at_least=0.97,
            )
            for name, place in (("Hadoop", _HADOOP), ("RPC", _RPC))
        ),
        _pairs(
            "Hadoop: with every congestion control, Jain's index of an incast with SFC is at least 0.97 times that "
            "without flow control",
            "zero impact",
            INCAST_FAIRNESS,
            _SAME,
            _HADOOP,
            at_least=0.97,
        ),
        _pairs(
            "With every congestion control, SFC shortens an all-reduce beside an incast",
            "not stated",
            RING_SLOWDOWN,
            _SAME,
            _RING,
            at_most=1.0,
            is_ours=True,
        ),
        _pairs(
            "Hadoop: with every congestion control, SFC does not make incasts take more than 5 % longer",
            "not stated",
            INCAST_COMPLETION,
            _SAME,
            _HADOOP,
            at_most=1.05,
            is_ours=True,
        ),
    ),
    figure=paper_figure(
        "P99 FCT slowdown of the non-incast traffic, duration of an all-reduce beside an incast, and peak buffer, by "
        "congestion control. PFC and BFC run with go-back-N.",
        _over_controls("Hadoop 50 %", slowdown(99), _HADOOP),
        _over_controls("RPC 30 %", slowdown(99), _RPC),
        _over_controls("all-reduce", RING_SLOWDOWN, _RING),
        _over_controls("Hadoop 50 %", PEAK_BUFFER, _HADOOP),
        columns=2,
    ),
    tables=(
        TableSpec("All workloads", _OVERVIEW, SCHEMES),
        TableSpec("Hadoop at 50 % load with 8 % incast", _columns(_HADOOP, *_sizes(_HADOOP)), SCHEMES),
        TableSpec("RPC at 30 % load with 8 % incast", _columns(_RPC, *_sizes(_RPC)), SCHEMES),
        TableSpec(
            "BFC by its number of queues (32 by default), Hadoop",
            tuple(
                Column(f"{heading}, {queues} queues", of, place)
                for heading, of in (("shared", SHARED_QUEUES), ("P99", slowdown(99)), ("peak buffer", PEAK_BUFFER))
                for queues, place in ((8, _FEW), (32, _HADOOP), (128, _MANY))
            ),
            ("bfc+window",),
        ),
        TableSpec(
            "Figures of Bolt's paper: an incast of 500 KB messages at once, and two flows when one of them ends",
            (
                Column("peak buffer, incast", PEAK_BUFFER, _LARGE_INCAST),
                Column("incast", INCAST_COMPLETION, _LARGE_INCAST),
                Column("goodput after the end", GOODPUT_AFTER_AN_END, _END),
                Column("with supply matching only", GOODPUT_AFTER_AN_END, _END_WITH_SUPPLY),
                Column("without grants", GOODPUT_AFTER_AN_END, _END_ALONE),
            ),
            _BOLTS_RIVALS,
        ),
        TableSpec(
            "Ring all-reduce beside an incast",
            _columns(_RING, Column("all-reduce", RING_SLOWDOWN, _RING), Column("P99", slowdown(99), _RING)),
            SCHEMES,
        ),
    ),
    notes=(
        SCALING_NOTE,
        "The claims are the paper's statements about other work in sections 1 and 2, except that those about BFC and "
        "Bolt are from the abstracts of their papers and from the simulator of Bolt's authors.",
        "The time of an incast is from the first start to the last finish of its messages. Its Jain's index is "
        "computed from the mean rates of its messages, and averaged over incasts.",
    ),
)
