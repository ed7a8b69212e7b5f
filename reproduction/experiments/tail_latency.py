# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Figs. 7, 8 and 14: SFC's effect on tail FCT, buffers and throughput of data-centre traffic with heavy incasts."""

from __future__ import annotations

from analysis.plots.distributions import buffer_samples
from reproduction.model.claims import Bound, Ratio, SameDistribution
from reproduction.model.experiment import Claim, Experiment, Grid
from reproduction.model.panels import by_size, distribution, flow_controls, paper_figure
from reproduction.model.quantities import DROPS, PEAK_BUFFER, receiver_quantile, receivers_gbps, slowdown
from scenarios.model.scenario import Scenario
from scenarios.paper.data_centre import SCALING_NOTE

NONE, ONRAMP, SFC = SCHEMES = ("irn+hpcc", "onramp+hpcc", "sfc+hpcc")

CURVES = flow_controls("hpcc")

_QUANTILES = (10, 25, 50, 75, 90)

CLAIMS: tuple[Claim, ...] = (
    Ratio(
        "SFC's peak buffer is at most 1/2.5 of that without flow control",
        "2.5x to 3x lower",
        PEAK_BUFFER,
        SFC,
        NONE,
        at_most=1 / 2.5,
    ),
    Ratio(
        "SFC's peak buffer is at most 1/2.5 of OnRamp's",
        "2.5x to 3x lower",
        PEAK_BUFFER,
        SFC,
        ONRAMP,
        at_most=1 / 2.5,
    ),
    Ratio(
        "SFC's P99 FCT slowdown of the non-incast traffic is at most 1/2 of that without flow control",
        "2x to 6x better",
        slowdown(99),
        SFC,
        NONE,
        at_most=1 / 2,
    ),
    Ratio(
        "SFC's P95 FCT slowdown of the non-incast traffic is at most 1/1.2 of that without flow control",
        "1.2x to 2x better",
        slowdown(95),
        SFC,
        NONE,
        at_most=1 / 1.2,
    ),
    *(
        SameDistribution(
            f"{name} changes the P10, P25, P50, P75 and P90 of receivers' throughput by at most 3 %",
            "unchanged",
            tuple(receiver_quantile(percent) for percent in _QUANTILES),
            scheme,
            NONE,
            within=0.03,
        )
        for name, scheme in (("SFC", SFC), ("OnRamp", ONRAMP))
    ),
    Bound("SFC drops no packets", "peak well below the depth at which drops begin", DROPS, SFC, at_most=0.0),
)


def tail_latency(scenario: Scenario, traffic: str, paper: str) -> Experiment:
    """Return one of the three experiments, which differ in their traffic only."""
    return Experiment(
        title=f"Tail latency: {traffic} with 8 % incast, HPCC",
        paper=paper,
        shows="(a) P95 and P99 FCT slowdown of the all-to-all traffic by message size, and the distributions (b) of "
        "the shared buffer of every switch and (c) of all receivers' throughput, for IRN (no flow control), OnRamp and "
        "SFC. With SFC the peak buffer is 2.5 to 3 times lower, P99 is 2 to 6 times better, and P95 is 1.2 to 2 times "
        "better. No scheme changes the throughput.",
        scenario=scenario,
        grids={"ci": Grid(SCHEMES), "laptop": Grid(SCHEMES), "paper": Grid(SCHEMES)},
        claims=CLAIMS,
        figure=paper_figure(
            "P95 and P99 FCT slowdown of the non-incast traffic; shared buffer of every switch, maximum of every "
            "10 us; throughput of each receiver from the start of its first flow to the end of its last. A "
            "percentile is missing where too few flows finished.",
            by_size("P99; hollow: P95", CURVES, 95, 99),
            distribution(
                "switch buffers", CURVES, "Buffer used per switch (MB)", lambda run: buffer_samples(run.queues) / 1e6
            ),
            distribution("receivers", CURVES, "Throughput (Gb/s)", receivers_gbps),
        ),
        notes=(
            SCALING_NOTE,
            "A gain above the paper's range counts as reproduced. The ratio in the table gives its size.",
            "A receiver's throughput is measured from the start of its first flow to the end of its last. Over a "
            "common window that is long enough for backlogs to drain, every scheme delivers the same bytes.",
        ),
    )
