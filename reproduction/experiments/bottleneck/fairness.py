# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Fig. 15: groups of senders join and leave one link; SFC leaves their shares as congestion control makes them."""

from __future__ import annotations

import numpy as np
import polars as pl

from analysis.metrics.goodput import jain_index, sharing
from analysis.results.stored import Run
from reproduction.model.claims import Bound, Judged, Ratio
from reproduction.model.experiment import Experiment, Grid, Measured, NotMeasured, Results
from reproduction.model.figures import buffer_over_time, paper_figure
from reproduction.model.panels import goodput_by_class
from reproduction.model.quantities import BTS_TRIGGERED, RECEIVER_THROUGHPUT, Quantity
from scenarios.paper.bottleneck.fairness import SCENARIO
from telemetry.reader import answer

_WITH, _WITHOUT, _HPCC = _SCHEMES = ("sfc+dcqcn", "irn+dcqcn", "sfc+hpcc")
_AT_ONCE_RTTS = 2
"""A group's first packets take half a round trip to the queue, and what comes in the next ones fills it."""


def _least_index(run: Run) -> float:
    """Jain's index of the mean rates inside each group, the lowest of all groups."""
    done = run.flows.filter(pl.col("fct_us").is_not_null())
    if done.height < run.flows.height:
        raise NotMeasured(f"{run.flows.height - done.height} flows did not finish")
    rates = done.with_columns(rate=pl.col("size_bytes") / pl.col("fct_us"))
    return min(jain_index(rows["rate"].to_numpy()) for rows in rates.partition_by("tag"))


def _sharing(run: Run) -> float:
    """Mean over time of Jain's index of all senders under way."""
    values = sharing(run.goodput, run.flows)
    if not values.size:
        raise NotMeasured("no two flows were under way together")
    return float(values.mean())


def _group_times(run: Run) -> np.typing.NDArray[np.float64]:
    means = run.flows.group_by("tag").agg(pl.col("fct_us").mean()).sort("tag")
    return means["fct_us"].to_numpy().astype(np.float64)


def _same_times(results: Results) -> Measured:
    """How long each group takes with SFC over how long without."""
    ratios = _group_times(results.at(_WITH, {})) / _group_times(results.at(_WITHOUT, {}))
    worst = float(ratios[np.argmax(np.abs(ratios - 1))])
    return Measured(worst, 0.9 <= worst <= 1.1, f"{', '.join(f'{ratio:.3f}' for ratio in ratios)} by group")


def _groups_that_trigger(run: Run) -> float:
    """How many groups have a BTS made in the first round trips after they joined."""
    physics = run.config.get("physics")
    if not isinstance(physics, dict):
        raise NotMeasured("the run's configuration cannot be read")
    within_us = _AT_ONCE_RTTS * float(physics["base_rtt_ns"]) / 1000
    made_us = answer(run.signals.select("sent_us"))["sent_us"].to_numpy()
    starts_us = run.flows.group_by("tag").agg(pl.col("start_us").min())["start_us"].to_list()
    return float(sum(bool(((made_us >= start) & (made_us <= start + within_us)).any()) for start in starts_us))


JOINS = Quantity("groups that trigger SFC when they join", _groups_that_trigger, lambda value: f"{value:.0f}")
FAIRNESS = Quantity("Jain's index inside the least fair group", _least_index, lambda value: f"{value:.3f}")
SHARING = Quantity("Jain's index of all senders, mean over time", _sharing, lambda value: f"{value:.3f}")

EXPERIMENT = Experiment(
    title="Fairness: groups join and leave",
    paper="Fig. 15",
    shows="Throughput over time of four groups of four senders that join and leave one 100G link, DCQCN+W, (a) with "
    "SFC, (b) without. SFC has no effect on shares and convergence. With HPCC it is never triggered.",
    scenario=SCENARIO,
    grids={"ci": Grid(_SCHEMES), "laptop": Grid(_SCHEMES), "paper": Grid(_SCHEMES)},
    claims=(
        Ratio(
            "senders of a group share as fairly with SFC as without",
            "zero impact",
            FAIRNESS,
            _WITH,
            _WITHOUT,
            at_least=0.97,
        ),
        Bound("they share fairly", "equal shares", FAIRNESS, _WITH, at_least=0.9),
        Ratio(
            "at any time all senders under way share as fairly with SFC as without",
            "zero impact",
            SHARING,
            _WITH,
            _WITHOUT,
            at_least=0.97,
        ),
        Judged("every group takes as long with SFC as without", "zero impact", _same_times),
        Ratio(
            "the link carries as much", "zero impact", RECEIVER_THROUGHPUT, _WITH, _WITHOUT, at_least=0.97, at_most=1.03
        ),
        Bound(
            "with DCQCN+W each group triggers SFC when it joins",
            "gets triggered when a new group joins",
            JOINS,
            _WITH,
            at_least=lambda run: float(run.flows["tag"].n_unique()),
        ),
        Bound("with HPCC nothing triggers SFC", "never triggered", BTS_TRIGGERED, _HPCC, at_most=0.0),
    ),
    figures=(
        paper_figure(
            "What the four senders of each group got together.",
            goodput_by_class("with SFC", _WITH),
            goodput_by_class("without SFC", _WITHOUT),
        ),
        buffer_over_time(),
    ),
    notes=(
        "Inside a group, shares are mean rates over a flow's life (its size over its FCT); over time they are goodput "
        "in the intervals of the run's trace (`goodput_interval_ns`).",
    ),
)
