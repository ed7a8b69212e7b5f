# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The plots of pages, one row per plot. Pages, captions, PNG files and the list of a run's files follow from the rows.

A new plot is a function and a row here. Extensions add rows to the same tables. This module loads nothing slow, because
processes that draw nothing load extensions too; therefore functions import the modules that draw.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from sfc_testbed.request.table import Table

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from sfc_testbed.analysis.plots.description import Plot
    from sfc_testbed.analysis.plots.plotted_run import PlottedRun
    from sfc_testbed.analysis.results.comparison import Comparison
    from sfc_testbed.analysis.results.result import RunResult
    from sfc_testbed.analysis.results.stored import Run
    from sfc_testbed.analysis.results.swept import Sweep

Page = Literal["run", "comparison", "sweep"]
Content = TypeVar("Content")
"""What a page shows: a Run, ComparedRuns or a Sweep."""
TRACES = {name: name for name in ("flows", "queues", "links", "signals", "goodput", "lateness")} | {"cc": "congestion"}
"""The attribute of a run for each trace."""


@dataclass(frozen=True)
class Drawn:
    """One of the figures of a row that draws several."""

    name: str
    caption: str
    figure: Plot | Figure


@dataclass(frozen=True)
class PagePlot(Generic[Content]):
    """A plot of a page."""

    caption: str
    """The sentence below the plot, which screen readers read in its place."""
    draw: Callable[[Content], Plot | Figure | Iterable[Drawn] | None]
    """Draws the page's content: one plot, several with their names and captions, or None if there is nothing.

    Plots of extensions may be figures of matplotlib.
    """
    needs: Sequence[str] = ()
    """Names of traces. The plot is left out if one has no rows; on a comparison, if one has no rows in any run."""
    data: Mapping[str, Callable[[Run], pl.DataFrame]] = field(default_factory=dict)
    """The CSV files beside the page of a run that have the plot's data."""


@dataclass(frozen=True)
class ComparedRuns:
    """The content of a comparison's page."""

    comparison: Comparison
    results: Sequence[RunResult]
    runs: Sequence[Run]
    """The runs in the order of the comparison's rows. Those that no plot shows have no traces."""
    shown: Sequence[tuple[str, Run]]
    """The runs in the plots, with their labels."""

    @property
    def labels(self) -> list[str]:
        """The labels of all runs."""
        return [row.label for row in self.comparison.rows]

    @cached_property
    def plotted(self) -> list[PlottedRun]:
        """The runs in the plots."""
        return [plotted_run(label, run) for label, run in self.shown]


def plotted_run(label: str, run: Run) -> PlottedRun:
    """Return the data of a run for a plot."""
    from sfc_testbed.analysis.plots.plotted_run import PlottedRun

    return PlottedRun(
        label,
        run.result.scheme,
        run.flows,
        run.queues,
        run.signals,
        run.goodput,
        run.congestion,
        run.result.measured_window_us,
        run.fault_spans,
        run.links,
        run.equal_cost_ports,
    )


def has_needs(row: PagePlot[Any], runs: Iterable[Run]) -> bool:
    """Return whether any of some runs has rows in each trace that a plot needs."""
    return not row.needs or any(all(_has_rows(run, name) for name in row.needs) for run in runs)


def _has_rows(run: Run, trace: str) -> bool:
    from sfc_testbed.telemetry.reader import answer

    return answer(getattr(run, TRACES[trace]).lazy().head(1)).height > 0


def _buffer(run: Run) -> Plot:
    from sfc_testbed.analysis.plots.run import plot_buffer

    return plot_buffer(
        run.queues, scheme=run.result.scheme, thresholds_bytes=run.thresholds_bytes, faults=run.fault_spans
    )


def _buffer_rows(run: Run) -> pl.DataFrame:
    from sfc_testbed.analysis.metrics.buffers import whole_buffers

    return whole_buffers(run.queues).drop("port", "class")


def _fct(run: Run) -> Plot:
    from sfc_testbed.analysis.plots.run import plot_fct
    from sfc_testbed.analysis.results.result import headline_class

    return plot_fct(run.flows, scheme=run.result.scheme, traffic_class=headline_class(run.result))


def _slowdown_rows(run: Run) -> pl.DataFrame:
    from sfc_testbed.analysis.report.page_tables import slowdown_rows

    return slowdown_rows(run.result)


def _distributions(run: Run) -> Plot:
    from sfc_testbed.analysis.plots.distributions import plot_distributions

    return plot_distributions([plotted_run(run.result.scheme, run)])


def _iterations(run: Run) -> Plot | None:
    from sfc_testbed.analysis.plots.iterations import plot_iterations

    return plot_iterations(run.result.jobs) if run.result.jobs else None


def _iterations_compared(compared: ComparedRuns) -> Plot | None:
    from sfc_testbed.analysis.plots.iterations import plot_iterations_compared

    runs = [(label, run.result.scheme, run.result.jobs) for label, run in compared.shown if run.result.jobs]
    return plot_iterations_compared(runs) if runs else None


def _goodput(run: Run) -> Plot:
    from sfc_testbed.analysis.plots.goodput import plot_goodput

    return plot_goodput([plotted_run(run.result.scheme, run)])


def _uplinks(run: Run) -> Plot | None:
    from sfc_testbed.analysis.plots.links import plot_uplinks

    return plot_uplinks([plotted_run(run.result.scheme, run)])


def _uplinks_compared(compared: ComparedRuns) -> Plot | None:
    from sfc_testbed.analysis.plots.links import plot_uplinks

    return plot_uplinks(compared.plotted)


def _network(run: Run) -> Plot | None:
    from sfc_testbed.analysis.plots.load import plot_load

    return None if run.topology is None else plot_load(run.topology, run.links, run.queues)


def _lateness(run: Run) -> Plot:
    from sfc_testbed.analysis.plots.lateness import plot_lateness

    return plot_lateness(run.lateness, base_rtt_us=run.result.base_rtt_us, faults=run.fault_spans)


def _congestion(run: Run) -> Plot:
    from sfc_testbed.analysis.plots.congestion import plot_congestion

    return plot_congestion(run.congestion, run.flows)


def _beside_incast(compared: ComparedRuns) -> Iterator[Drawn]:
    from sfc_testbed.analysis.plots.run import plot_beside_incast

    if not compared.comparison.has_incast:
        return
    traffic_class = compared.comparison.traffic_class
    caption = (
        f"Effect of the incast on {traffic_class} flows: the fraction of flows with a higher slowdown than the value "
        "on the axis, and the buffer of each run's most congested switch."
    )
    faults = compared.runs[0].fault_spans  # compared runs have the same faults
    yield Drawn("beside_incast", caption, plot_beside_incast(compared.plotted, traffic_class, faults=faults))


def _buffers_compared(compared: ComparedRuns) -> Plot | None:
    from sfc_testbed.analysis.plots.run import plot_buffers_compared

    if compared.comparison.has_incast:
        return None  # the plot beside_incast shows the same buffers
    return plot_buffers_compared(compared.plotted, faults=compared.runs[0].fault_spans)


def _fct_by_size_compared(compared: ComparedRuns) -> Plot | None:
    from sfc_testbed.analysis.plots.run import plot_fct_by_size_compared

    plot = plot_fct_by_size_compared(compared.plotted, compared.comparison.traffic_class)
    has_lines = any(line.x.size > 1 for panel in plot.panels for line in panel.lines)
    return plot if has_lines else None  # flows too few for the tail of any size, or all of one size


def _fct_compared(compared: ComparedRuns) -> Plot:
    from sfc_testbed.analysis.metrics.flows import ALL_CLASSES
    from sfc_testbed.analysis.plots.run import plot_fct_compared

    return plot_fct_compared(compared.plotted, compared.comparison.traffic_classes or (ALL_CLASSES,))


def _distributions_compared(compared: ComparedRuns) -> Plot:
    from sfc_testbed.analysis.plots.distributions import plot_distributions

    return plot_distributions(compared.plotted)


def _congestion_compared(compared: ComparedRuns) -> Iterator[Drawn]:
    from sfc_testbed.analysis.plots.congestion import plot_congestion_compared

    captions = {
        "window": "Congestion window of the largest flows over time: the limit on their bytes in flight.",
        "rate": "Sending rate of the largest flows over time, as set by congestion control.",
        "round_trip": "RTT of the largest flows over time, one sample per acknowledgement.",
    }
    for name, plot in plot_congestion_compared(compared.plotted).items():
        yield Drawn(f"cc_{name}", captions[name], plot)


def _over_axes(sweep: Sweep) -> Iterator[Drawn]:
    from sfc_testbed.analysis.report.over_axes import over_axes

    for name, (plot, caption) in over_axes(sweep).items():
        yield Drawn(name, caption, plot)


_UPLINKS = (
    "Use of equal-cost links over time: bytes sent per interval by each link of the group that sent the most, in most "
    "networks the uplinks of the busiest ToR."
)
_DISTRIBUTIONS = (
    "CDFs of the high-water marks of all shared buffers, of the mean throughput per receiver (with several receivers), "
    "and of the feedback delay of BTS packets, from the congested switch and from the pause cache near the source."
)
_ITERATIONS = (
    "Time of each iteration of the jobs, from the first ready message to the last receipt, and the ideal time."
)
RUN_PLOTS: Table[PagePlot[Run]] = Table(
    "plot of a run",
    {
        "buffer": PagePlot(
            "Buffer occupancy over time: maximum of each sampling interval.", _buffer, data={"buffer.csv": _buffer_rows}
        ),
        "fct": PagePlot(
            "FCT slowdown by message size, and its CDF. Flows that did not complete keep a curve below 1.",
            _fct,
            data={"fct_slowdown.csv": _slowdown_rows},
        ),
        "iterations": PagePlot(_ITERATIONS, _iterations),
        "distributions": PagePlot(_DISTRIBUTIONS, _distributions),
        "goodput": PagePlot(
            "Goodput over time: message bytes received per interval by all receivers of a traffic class.", _goodput
        ),
        "uplinks": PagePlot(_UPLINKS, _uplinks, needs=("links",)),
        "network": PagePlot(
            "The network with its load: the mean use of each link in its busier direction, and the longest queues. The "
            "mouse shows both directions, and the time of a peak.",
            _network,
            needs=("links",),
        ),
        "lateness": PagePlot(
            "Lateness of the latest frame in each interval. The limits apply to the P99 of all frames.",
            _lateness,
            needs=("lateness",),
        ),
        "congestion": PagePlot(
            "Congestion control of the largest flows: window, rate and round trip after acknowledgements.",
            _congestion,
            needs=("cc",),
        ),
    },
)
COMPARISON_PLOTS: Table[PagePlot[ComparedRuns]] = Table(
    "plot of a comparison",
    {
        "beside_incast": PagePlot("", _beside_incast),
        "buffer": PagePlot(
            "Buffer of each run's most congested switch: maximum of each sampling interval.", _buffers_compared
        ),
        "fct_by_size": PagePlot(
            "Tail FCT slowdown by message size; a point is missing where too few flows completed.",
            _fct_by_size_compared,
        ),
        "fct": PagePlot("CDF of FCT slowdown. Flows that did not complete keep a curve below 1.", _fct_compared),
        "iterations": PagePlot(_ITERATIONS, _iterations_compared),
        "distributions": PagePlot(_DISTRIBUTIONS, _distributions_compared),
        "uplinks": PagePlot(_UPLINKS, _uplinks_compared, needs=("links",)),
        "cc": PagePlot("", _congestion_compared, needs=("cc",)),
    },
)
SWEEP_PLOTS: Table[PagePlot[Sweep]] = Table("plot of a sweep", {"over": PagePlot("", _over_axes)})
PLOTS: Mapping[Page, Table[Any]] = {"run": RUN_PLOTS, "comparison": COMPARISON_PLOTS, "sweep": SWEEP_PLOTS}
