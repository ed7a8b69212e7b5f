# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The quantities in claims, each with its unit, computed from a run's result and traces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl

from sfc_testbed.analysis.formatting import format_bytes, format_number, format_us
from sfc_testbed.analysis.metrics.buffers import hottest_switch, whole_buffer
from sfc_testbed.analysis.metrics.flows import of_class, slowdowns, started_between
from sfc_testbed.analysis.metrics.goodput import jain_index, receiver_throughput_gbps
from sfc_testbed.analysis.metrics.incasts import completion_us, incasts, mean_rates
from sfc_testbed.analysis.metrics.iterations import JobFigures
from sfc_testbed.analysis.metrics.links import SPREAD_US, LinkBalance
from sfc_testbed.analysis.metrics.percentiles import Values, minimum_count, percentile
from sfc_testbed.analysis.results.quantities import QUANTITIES, NotMeasured
from sfc_testbed.analysis.results.quantities import Quantity as Quantity
from sfc_testbed.analysis.results.quantities import quantity_of as quantity_of
from sfc_testbed.analysis.results.result import INCAST_TAG, counted, headline_class
from sfc_testbed.analysis.results.stored import Run
from sfc_testbed.reproduction.model.experiment import config_of
from sfc_testbed.scenarios.traffic.allreduce import TAG as ALLREDUCE_TAG
from sfc_testbed.telemetry.reader import answer
from sfc_testbed.wire.counters import DropReason, TrimEvent


def measured_flows(run: Run) -> pl.DataFrame:
    """Return the flows that start inside the measured window."""
    window = run.result.measured_window_us
    return run.flows if window is None else started_between(run.flows, *window)


def slowdown(
    percent: float, tag: str | None = None, largest_bytes: int | None = None, above_bytes: int = 0
) -> Quantity:
    """Return a percentile of the FCT slowdown of a class, by default of the non-incast traffic.

    Messages of at most `above_bytes` and of more than `largest_bytes` are left out.
    """
    size = f" above {format_bytes(above_bytes)}" if above_bytes else ""
    size += "" if largest_bytes is None else f" up to {format_bytes(largest_bytes)}"

    def measure(run: Run) -> float:
        chosen = of_class(measured_flows(run), tag or headline_class(run.result))
        chosen = chosen.filter(pl.col("size_bytes") > above_bytes)
        if largest_bytes is not None:
            chosen = chosen.filter(pl.col("size_bytes") <= largest_bytes)
        values = slowdowns(chosen)
        unfinished = chosen.height - values.size
        figure = percentile(values, percent, unfinished)
        if figure is None and chosen.height >= minimum_count(percent):
            raise NotMeasured(f"{unfinished} of {chosen.height} flows did not finish")
        if figure is None:
            raise NotMeasured(f"P{percent:g} needs {minimum_count(percent)} flows, there are {chosen.height}")
        return figure

    return Quantity(f"P{percent:g} FCT slowdown{f' ({tag})' if tag else ''}{size}", measure)


def mean_slowdown(above_bytes: int) -> Quantity:
    """Return the mean FCT slowdown of the non-incast messages of more than `above_bytes`."""

    def measure(run: Run) -> float:
        chosen = of_class(measured_flows(run), headline_class(run.result))
        chosen = chosen.filter(pl.col("size_bytes") > above_bytes)
        values = slowdowns(chosen)
        if values.size < chosen.height:
            raise NotMeasured(f"{chosen.height - values.size} of {chosen.height} flows did not finish")
        if not values.size:
            raise NotMeasured(f"no message above {format_bytes(above_bytes)}")
        return float(values.mean())

    return Quantity(f"mean FCT slowdown above {format_bytes(above_bytes)}", measure)


def _mean_p99_over_sizes(run: Run) -> float:
    bins = run.result.fct_slowdown_by_size.get(headline_class(run.result), ())
    enough = [size_bin for size_bin in bins if size_bin.flows >= minimum_count(99)]
    percentiles = [size_bin.p99 for size_bin in enough if size_bin.p99 is not None]
    if len(percentiles) < len(enough):
        raise NotMeasured(f"{sum(size_bin.flows - size_bin.completed for size_bin in enough)} flows did not finish")
    if not percentiles:
        raise NotMeasured("no size bin has the 100 flows that a P99 needs")
    return float(np.mean(percentiles))


def _middle_depths(run: Run) -> Values:
    """Return the buffer samples of the fullest switch in the middle half of the time in which flows were active."""
    switch = hottest_switch(run.queues)
    ends = run.flows["finish_us"].drop_nulls()
    if switch is None or ends.is_empty():
        raise NotMeasured("no buffer samples or no finished flows")
    begin, end = float(run.flows["start_us"].drop_nulls().to_numpy().min()), float(ends.to_numpy().max())
    quarter = (end - begin) / 4
    inside = pl.col("time_us").is_between(begin + quarter, end - quarter)
    depths = whole_buffer(run.queues, switch).filter(inside)["depth_bytes"]
    if depths.is_empty():
        raise NotMeasured("the run is shorter than the sampling interval")
    return depths.to_numpy().astype(np.float64)


def _steady_swing(run: Run) -> float:
    """Return the standard deviation of the steady buffer, divided by its mean."""
    depths = _middle_depths(run)
    return float(depths.std() / depths.mean()) if depths.any() else 0.0


def receivers_gbps(run: Run) -> Values:
    """Return each receiver's throughput from the start of its first flow to the end of its last, ascending (Gb/s).

    This counts bytes that a scheme holds back until after a common window, and it shows links that were idle while
    bytes waited for them. Over a common window in which every backlog drains, all schemes would be alike.
    """
    if run.flows["finish_us"].null_count():
        raise NotMeasured(f"{run.flows['finish_us'].null_count()} flows did not finish")
    span_us = pl.col("finish_us").max() - pl.col("start_us").min()
    throughput = run.flows.group_by("dst").agg(gbps=8 * pl.col("size_bytes").sum() / (1000 * span_us))
    values: Values = throughput["gbps"].sort().to_numpy()
    return values


def receiver_quantile(percent: float) -> Quantity:
    """Return a percentile of the receivers' throughput."""

    def measure(run: Run) -> float:
        return float(np.percentile(receivers_gbps(run), percent))

    return Quantity(f"P{percent:g} of receivers' throughput", measure, RECEIVER_THROUGHPUT.write, "Gb/s")


def _receivers(run: Run) -> float:
    values = receiver_throughput_gbps(run.goodput, run.flows, run.result.measured_window_us)
    if not values.size:
        raise NotMeasured("no receiver received a byte")
    return float(values.mean())


def _incasts(run: Run) -> list[pl.DataFrame]:
    """Return the flows of each incast. NotMeasured if there is none, or if a flow of one did not finish."""
    workload = config_of(run).workload
    window_us = float(workload.get("incast_window_us", workload.get("window_us", 0.0)))
    found = incasts(of_class(measured_flows(run), INCAST_TAG), window_us)
    if not found:
        raise NotMeasured("there was no incast")
    if any(incast["finish_us"].null_count() for incast in found):
        raise NotMeasured("a flow of an incast did not finish")
    return found


def _incast_completion_us(run: Run) -> float:
    return float(np.mean([completion_us(incast) for incast in _incasts(run)]))


def _incast_fairness(run: Run) -> float:
    return float(np.mean([jain_index(mean_rates(incast)) for incast in _incasts(run)]))


def _ring_slowdown(run: Run) -> float:
    figures = run.result.completion.get(ALLREDUCE_TAG)
    if figures is None or figures.slowdown is None:
        raise NotMeasured("no all-reduce, or not all of its messages finished")
    return figures.slowdown


def _over_jobs(take: Callable[[JobFigures], float | None]) -> Callable[[Run], float]:
    """Return the measurement of a figure's mean over the jobs of a run."""

    def measure(run: Run) -> float:
        values = [take(job) for job in run.result.jobs]
        known = [value for value in values if value is not None]
        if not known or len(known) < len(values):
            raise NotMeasured("no job with such a figure, or not all of its iterations finished")
        return float(np.mean(known))

    return measure


_RTTS_AFTER_AN_END = 5


def _gbps_after_an_end(run: Run) -> float:
    """Return the goodput of the last flow in the first base RTTs after the first flow has ended."""
    ends = run.flows.sort("finish_us")
    if ends.height < 2 or ends["finish_us"].null_count():
        raise NotMeasured("fewer than two flows, or one did not finish")
    begin_us = float(ends["finish_us"][0])
    end_us = begin_us + _RTTS_AFTER_AN_END * run.result.base_rtt_us
    if float(ends["finish_us"][-1]) < end_us:
        raise NotMeasured(f"the last flow ends less than {_RTTS_AFTER_AN_END} RTTs after the first")
    values = receiver_throughput_gbps(run.goodput, ends.tail(1), (begin_us, end_us))
    return float(values.sum())


def _data_packets(run: Run) -> int:
    """Return the number of data packets that the hosts sent. NotMeasured if there are none, or if one is unknown."""
    sent = run.flows["packets_sent"]
    if sent.null_count() or not sent.sum():
        raise NotMeasured("the data packets were not counted, or there were none")
    return int(sent.sum())


def per_thousand_packets(name: str, count: Callable[[Run], int]) -> Quantity:
    """Return a count of packets for each 1,000 data packets."""
    return Quantity(f"{name} per 1,000 data packets", lambda run: 1000 * count(run) / _data_packets(run))


def _control_of_hosts(run: Run) -> int:
    return counted(run.result.packets).sent - _data_packets(run)


def _pause_frames(run: Run) -> int:
    """Return the number of pause and resume frames of switches: PFC's for classes and BFC's for single queues."""
    return counted(run.result.pfc).sent + (0 if run.result.bfc is None else run.result.bfc.sent)


def _shared_queues(run: Run) -> float:
    bfc = counted(run.result.bfc)
    if not bfc.assigned:
        raise NotMeasured("BFC assigned no queue")
    return 100 * bfc.collisions / bfc.assigned


def _bts_cut(run: Run) -> float:
    bts = counted(run.result.bts)
    triggered = bts.sent + bts.suppressed
    if not triggered:
        raise NotMeasured("no BTS was triggered")
    return 100 * bts.suppressed / triggered


def _link_balance(run: Run) -> LinkBalance:
    balance = run.result.link_balance
    if balance is None:
        raise NotMeasured("no equal-cost links, or they were not measured")
    return balance


def _link_spread(run: Run) -> float:
    spread = _link_balance(run).spread_100us
    if spread is None:
        raise NotMeasured(f"the measured window is shorter than {SPREAD_US} us")
    return spread


def _core_queue(run: Run) -> float:
    """Return the deepest queue of a link between switches, in a network of two tiers.

    A switch without equal-cost ports is then a spine, and all of its links lead to ToRs.
    """
    groups = config_of(run).equal_cost_ports
    if not groups:
        raise NotMeasured("no equal-cost links")
    uplinks = {(switch, port) for switch, of_switch in groups.items() for ports in of_switch for port in ports}
    known = pl.DataFrame(sorted(uplinks), schema={"switch": pl.String, "port": pl.Int16}, orient="row")
    queues = run.queues.lazy().filter(pl.col("port") >= 0)
    of_uplinks = queues.join(known.lazy(), on=("switch", "port"))
    of_spines = queues.filter(~pl.col("switch").is_in(list(groups)))
    deepest = pl.concat([rows.select(pl.col("high_water_bytes").max()) for rows in (of_uplinks, of_spines)])
    return float(answer(deepest)["high_water_bytes"].max() or 0)  # type: ignore[arg-type]


def resent(reason: str) -> Quantity:
    """Return the packets that were sent again for a reason, for each 1,000 data packets."""
    return per_thousand_packets(
        f"packets sent again after {reason}", lambda run: int(getattr(counted(run.result.resent), reason))
    )


_COUNT = "{:,.0f}".format

PEAK_BUFFER = Quantity("peak buffer", lambda run: float(counted(run.result.max_buffer_bytes)), format_bytes, "MB", 1e6)
STEADY_BUFFER = Quantity("steady buffer", lambda run: float(_middle_depths(run).mean()), format_bytes, "MB", 1e6)
STEADY_SWING = Quantity("swing of the steady buffer", _steady_swing, lambda value: f"{100 * value:.0f} % of the mean")
MEAN_P99_OVER_SIZES = Quantity("P99 FCT slowdown, mean over sizes", _mean_p99_over_sizes)
RECEIVER_THROUGHPUT = Quantity(
    "mean receiver throughput", _receivers, lambda value: f"{format_number(value)} Gb/s", "Gb/s"
)
BTS_TRIGGERED = Quantity(
    "BTS triggered", lambda run: float(counted(run.result.bts).sent + counted(run.result.bts).suppressed), _COUNT
)
BTS_CUT = Quantity("BTS suppressed", _bts_cut, lambda value: f"{value:.3g} %", "%")
DROPS = Quantity("packets dropped", lambda run: float(counted(run.result.dropped)), _COUNT)
HEADER_QUEUE_DROPS = Quantity(
    "control packets dropped by a full header queue",
    lambda run: float(counted(run.result.drops).get(DropReason.HEADER_QUEUE_FULL.label, 0)),
    _COUNT,
)
RETURNED_HEADERS = Quantity(
    "headers returned to their senders",
    lambda run: float(counted(run.result.switch_events).get(TrimEvent.RETURNED.label, 0)),
    _COUNT,
)
SUPPRESSION_ENTRIES = Quantity(
    "suppression entries", lambda run: float(counted(run.result.bts).max_suppression_entries), _COUNT
)
INCAST_COMPLETION = Quantity("completion time of an incast", _incast_completion_us, format_us, "ms", 1000.0)
INCAST_FAIRNESS = Quantity("Jain's index of an incast", _incast_fairness, "{:.3f}".format)
GOODPUT_AFTER_AN_END = Quantity(
    f"goodput in {_RTTS_AFTER_AN_END} RTTs after another flow's end",
    _gbps_after_an_end,
    lambda value: f"{format_number(value)} Gb/s",
    "Gb/s",
)
RING_SLOWDOWN = Quantity("all-reduce time over ideal", _ring_slowdown)
ITERATION_TIME = Quantity("mean time of an iteration", _over_jobs(lambda job: job.mean_us), format_us, "ms", 1000.0)
LONGEST_ITERATION = Quantity(
    "time of the longest iteration", _over_jobs(lambda job: job.max_us), format_us, "ms", 1000.0
)
ITERATION_SLOWDOWN = Quantity("iteration time over ideal", _over_jobs(lambda job: job.slowdown))
BUS_BANDWIDTH = Quantity("bus bandwidth", _over_jobs(lambda job: job.busbw_gbytes_per_s), unit="GB/s")
CORE_QUEUE = Quantity("deepest queue between switches", _core_queue, format_bytes, "KB", 1e3)
RESENT_TIMEOUT, RESENT_TRIMMED, RESENT_LOSS, RESENT_REORDERING = map(
    resent, ("timeout", "trimmed", "loss", "reordering")
)
BTS_SENT = per_thousand_packets("BTS", lambda run: counted(run.result.bts).sent)
PAUSE_FRAMES = per_thousand_packets("pause frames", _pause_frames)
SHARED_QUEUES = Quantity("assignments that share a queue", _shared_queues, lambda value: f"{value:.3g} %", "%")
CONTROL_OF_HOSTS = per_thousand_packets("control packets of hosts", _control_of_hosts)
CACHE_ENTRIES = Quantity("cache entries", lambda run: float(counted(run.result.bts).max_cache_entries), _COUNT)
LINK_JAIN = Quantity("Jain's index of equal-cost links", lambda run: _link_balance(run).jain_index, "{:.3f}".format)
LINK_LARGEST = Quantity(
    "largest of equal-cost links over their mean", lambda run: _link_balance(run).largest_over_mean, "{:.3f}".format
)
LINK_SPREAD = Quantity(f"spread of equal-cost links in {SPREAD_US} us over their mean", _link_spread, "{:.3f}".format)
REORDERING = Quantity(
    "largest reordering distance",
    lambda run: float(run.result.reordering.largest if run.result.reordering else 0),
    _COUNT,
    "packets",
)
REORDERED_PACKETS = per_thousand_packets(
    "reordered packets", lambda run: run.result.reordering.packets if run.result.reordering else 0
)
P50_SLOWDOWN, P95_SLOWDOWN, P99_SLOWDOWN = map(slowdown, (50, 95, 99))
QUANTITIES.fill({value.name: value for value in tuple(globals().values()) if isinstance(value, Quantity)})
