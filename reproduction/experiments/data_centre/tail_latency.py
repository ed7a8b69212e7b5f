# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Figs. 7, 8 and 14: what SFC does to tail FCT, buffers and throughput under data-centre traffic with heavy incasts."""

from __future__ import annotations

from reproduction.model.claims import Bound, Ratio, SameDistribution
from reproduction.model.experiment import Claim, Experiment, Grid
from reproduction.model.figures import paper_figure
from reproduction.model.panels import buffer_distribution, by_size, flow_controls, receiver_distribution
from reproduction.model.quantities import DROPS, PEAK_BUFFER, receiver_quantile, slowdown
from scenarios.model.scenario import Scenario
from scenarios.paper.data_centre.common import SCALING_NOTE

NONE, ONRAMP, SFC = SCHEMES = ("irn+hpcc", "onramp+hpcc", "sfc+hpcc")

CURVES = flow_controls("hpcc")

_QUANTILES = (10, 25, 50, 75, 90)

CLAIMS: tuple[Claim, ...] = (
    Ratio(
        "SFC's peak buffer is at least 2.5 times below that without flow control",
        "2.5x to 3x lower",
        PEAK_BUFFER,
        SFC,
        NONE,
        at_most=1 / 2.5,
    ),
    Ratio(
        "SFC's peak buffer is at least 2.5 times below OnRamp's",
        "2.5x to 3x lower",
        PEAK_BUFFER,
        SFC,
        ONRAMP,
        at_most=1 / 2.5,
    ),
    Ratio(
        "P99 FCT slowdown of the other traffic is at least 2 times better with SFC",
        "2x to 6x better",
        slowdown(99),
        SFC,
        NONE,
        at_most=1 / 2,
    ),
    Ratio(
        "P95 FCT slowdown of the other traffic is at least 1.2 times better with SFC",
        "1.2x to 2x better",
        slowdown(95),
        SFC,
        NONE,
        at_most=1 / 1.2,
    ),
    *(
        SameDistribution(
            f"{name} leaves the distribution of receivers' throughput as it is",
            "unchanged",
            tuple(receiver_quantile(percent) for percent in _QUANTILES),
            scheme,
            NONE,
            within=0.03,
        )
        for name, scheme in (("SFC", SFC), ("OnRamp", ONRAMP))
    ),
    Bound("SFC drops nothing", "peak well below the depth at which drops begin", DROPS, SFC, at_most=0.0),
)


def tail_latency(scenario: Scenario, traffic: str, paper: str) -> Experiment:
    """One of the three experiments, which differ in their messages only."""
    return Experiment(
        title=f"Tail latency: {traffic} with 8 % incast, HPCC",
        paper=paper,
        shows="(a) FCT slowdown of the all-to-all traffic by message size, P95 and P99; distributions (b) of the "
        "shared buffer of every switch and (c) of all receivers' throughput, for IRN (no flow control), OnRamp and "
        "SFC. With SFC the peak buffer is 2.5 to 3 times lower, P99 2 to 6 and P95 1.2 to 2 times better; nobody "
        "changes the throughput.",
        scenario=scenario,
        grids={"ci": Grid(SCHEMES), "laptop": Grid(SCHEMES), "paper": Grid(SCHEMES)},
        claims=CLAIMS,
        figures=(
            paper_figure(
                "FCT slowdown of the traffic that is not incast, P95 and P99; shared buffer of every switch, the most "
                "in every 10 us; what each receiver got from the start of its first flow to the end of its last. A "
                "percentile is missing where too few flows finished.",
                by_size("P99; hollow: P95", CURVES, 95, 99),
                buffer_distribution("switch buffers", CURVES),
                receiver_distribution("receivers", CURVES),
            ),
        ),
        notes=(
            SCALING_NOTE,
            "A gain above the paper's range counts as held; the ratio says how large it is.",
            "A receiver's throughput is taken from the start of its first flow to the end of its last: over a common "
            "window, long enough for backlogs to leave, every scheme delivers the same bytes.",
        ),
    )
