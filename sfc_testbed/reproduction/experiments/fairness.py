# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 15: groups of senders join and leave one link; SFC must not change the shares that congestion control gives."""

from __future__ import annotations

import numpy as np
import polars as pl

from sfc_testbed.analysis.metrics.goodput import jain_index, sharing
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.reproduction.model.claims import Bound, Judged, Ratio
from sfc_testbed.reproduction.model.experiment import Experiment, Grid, Measured, NotMeasured, Results, config_of
from sfc_testbed.reproduction.model.panels import goodput_by_class, paper_figure
from sfc_testbed.reproduction.model.quantities import BTS_TRIGGERED, RECEIVER_THROUGHPUT, Quantity
from sfc_testbed.scenarios.paper.fairness import SCENARIO
from sfc_testbed.telemetry.reader import answer

_WITH, _WITHOUT, _HPCC = _SCHEMES = ("sfc+dcqcn", "irn+dcqcn", "sfc+hpcc")
_AT_ONCE_RTTS = 2
"""The number of base RTTs after a group joins within which its first BTS counts.

The group's first packets need half an RTT to reach the queue, and the packets of the next RTT fill it.
"""


def _least_index(run: Run) -> float:
    """Return Jain's index of the mean rates inside each group, the lowest of all groups."""
    done = run.flows.filter(pl.col("fct_us").is_not_null())
    if done.height < run.flows.height:
        raise NotMeasured(f"{run.flows.height - done.height} flows did not finish")
    rates = done.with_columns(rate=pl.col("size_bytes") / pl.col("fct_us"))
    return min(jain_index(rows["rate"].to_numpy()) for rows in rates.partition_by("tag"))


def _sharing(run: Run) -> float:
    """Return the mean over time of Jain's index of all active senders."""
    values = sharing(run.goodput, run.flows)
    if not values.size:
        raise NotMeasured("no two flows were active at the same time")
    return float(values.mean())


def _group_times(run: Run) -> np.typing.NDArray[np.float64]:
    means = run.flows.group_by("tag").agg(pl.col("fct_us").mean()).sort("tag")
    return means["fct_us"].to_numpy().astype(np.float64)


def _same_times(results: Results) -> Measured:
    """Compare the mean FCT of each group with SFC with that without SFC."""
    ratios = _group_times(results.at(_WITH, {})) / _group_times(results.at(_WITHOUT, {}))
    worst = float(ratios[np.argmax(np.abs(ratios - 1))])
    text = f"FCT ratio by group: {', '.join(f'{ratio:.3f}' for ratio in ratios)}"
    return Measured(worst, 0.9 <= worst <= 1.1, text, None)


def _groups_that_trigger(run: Run) -> float:
    """Return the number of groups for which a switch sends a BTS while they join or in the first RTTs after it."""
    within_us = _AT_ONCE_RTTS * config_of(run).base_rtt_us
    sent_us = answer(run.signals.select("sent_us"))["sent_us"].to_numpy()
    starts = run.flows.group_by("tag").agg(first=pl.col("start_us").min(), last=pl.col("start_us").max())
    joins_us = starts.select("first", "last").rows()
    return float(sum(bool(((sent_us >= first) & (sent_us <= last + within_us)).any()) for first, last in joins_us))


JOINS = Quantity("groups that trigger SFC when they join", _groups_that_trigger, lambda value: f"{value:.0f}")
FAIRNESS = Quantity("Jain's index inside the least fair group", _least_index, lambda value: f"{value:.3f}")
SHARING = Quantity("Jain's index of all senders, mean over time", _sharing, lambda value: f"{value:.3f}")

EXPERIMENT = Experiment(
    title="Fairness: groups join and leave",
    paper="Fig. 15",
    shows="Four groups of four senders join and leave one link, with DCQCN+W. SFC has no effect on fairness and "
    "convergence.",
    scenario=SCENARIO,
    grids={"ci": Grid(_SCHEMES), "laptop": Grid(_SCHEMES), "paper": Grid(_SCHEMES)},
    claims=(
        Ratio(
            "Jain's index inside the least fair group is at least 0.97 times that without SFC",
            "zero impact",
            FAIRNESS,
            _WITH,
            _WITHOUT,
            at_least=0.97,
        ),
        Bound(
            "With SFC, Jain's index inside the least fair group is at least 0.9",
            "equal shares",
            FAIRNESS,
            _WITH,
            at_least=0.9,
        ),
        Ratio(
            "Jain's index of all active senders, averaged over time, is at least 0.97 times that without SFC",
            "zero impact",
            SHARING,
            _WITH,
            _WITHOUT,
            at_least=0.97,
        ),
        Judged("Every group's mean FCT is within 10 % of that without SFC", "zero impact", _same_times),
        Ratio(
            "The mean receiver throughput is within 3 % of that without SFC",
            "zero impact",
            RECEIVER_THROUGHPUT,
            _WITH,
            _WITHOUT,
            at_least=0.97,
            at_most=1.03,
        ),
        Bound(
            "With DCQCN+W, every group triggers SFC when it joins",
            "gets triggered when a new group joins",
            JOINS,
            _WITH,
            at_least=lambda run: float(run.flows["tag"].n_unique()),
        ),
        Bound("With HPCC, SFC is never triggered", "never triggered", BTS_TRIGGERED, _HPCC, at_most=0.0),
    ),
    figure=paper_figure(
        "Throughput of each group of four senders over time, with DCQCN+W.",
        goodput_by_class("with SFC", _WITH),
        goodput_by_class("without SFC", _WITHOUT),
    ),
    notes=(
        "Jain's index (1: all rates are equal) inside a group is computed from each flow's mean rate (size divided by "
        "FCT), and the index over time from the goodput in each interval of the trace.",
    ),
)
