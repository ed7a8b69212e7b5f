# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The comparison of live and virtual runs: tables for the terminal, and a page with a buffer plot for each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sfc_testbed.analysis.formatting import NOTHING, format_number, format_share
from sfc_testbed.analysis.plots.plotted_run import PlottedRun
from sfc_testbed.analysis.plots.run import plot_buffers_compared
from sfc_testbed.analysis.report import first_sentence
from sfc_testbed.analysis.report.data_table import DataTable
from sfc_testbed.analysis.report.html_pages import REPORT_FILE, relative_link, render
from sfc_testbed.analysis.report.placing import Placed, on_page
from sfc_testbed.analysis.report.plot_data import write_page
from sfc_testbed.analysis.report.terminal_tables import VERDICT_STYLES
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.analysis.terminal import Fitted
from sfc_testbed.analysis.validation.metrics import METRIC, METRICS
from sfc_testbed.analysis.validation.record import FILE_NAME, MetricFinding, ValidatedRun, Validation

HEADINGS = ("figure", "virtual", "live", "difference", "tolerance", "within")
SPREAD_HEADING = "with jitter"
SUMMARY_HEADINGS = ("run", "switch", "D", "verdict", "peak buffer", "worst P95", "within")
_SLOWDOWN = "fct_slowdown_"


def finding_cells(finding: MetricFinding) -> tuple[str, ...]:
    """Return the table cells of one compared metric, in the order of `HEADINGS`."""
    return (
        finding_name(finding),
        _formatted(finding, finding.virtual),
        _formatted(finding, finding.live),
        _difference(finding),
        _tolerance(finding),
        "yes" if finding.within else "no",
    )


def headings(run: ValidatedRun) -> tuple[str, ...]:
    """Return the headings of a run's table, with an additional column if there are virtual runs with jitter."""
    return (*HEADINGS, SPREAD_HEADING) if run.jitter_runs else HEADINGS


def row_cells(run: ValidatedRun, finding: MetricFinding) -> tuple[str, ...]:
    """Return the cells of a run's figure, in the order of its `headings`."""
    return (*finding_cells(finding), spread_cell(finding)) if run.jitter_runs else finding_cells(finding)


def spread_cell(finding: MetricFinding) -> str:
    """Return the difference of virtual runs with jitter from the plain one, such as `-4.6 % to +0.2 %`."""
    virtual = finding.virtual
    if finding.spread is None or virtual is None:
        return NOTHING
    return " to ".join(
        _signed(finding, value - virtual, (value - virtual) / virtual if virtual else None) for value in finding.spread
    )


def spread_sentence(run: ValidatedRun) -> str:
    """Return the explanation of the column `with jitter`, and the number of figures that jitter can explain."""
    reached = sum(finding.is_reached for finding in run.outside)
    return (
        f"With jitter: {run.jitter_runs} more virtual runs, in which every link adds a random delay of up to "
        f"{run.jitter_ns} ns, the P99 lateness of the live run. Their range includes {reached} of the "
        f"{len(run.outside)} live figures that are outside their tolerance."
    )


def summary_cells(run: ValidatedRun) -> tuple[str, ...]:
    """Return the cells of a run, in the order of `SUMMARY_HEADINGS`."""
    peak = [finding for finding in run.metrics if finding.name == "peak_buffer_bytes"]
    worst = run.worst_p95
    return (
        run.label,
        run.switch,
        f"{run.dilation:,}",
        run.verdict,
        _difference(peak[0]) if peak else NOTHING,
        NOTHING if worst is None else f"{_difference(worst)} ({worst.metric.partition('.')[2]})",
        f"{len(run.metrics) - len(run.outside)} of {len(run.metrics)}",
    )


def finding_name(finding: MetricFinding) -> str:
    """Return the name of a figure in texts, such as `P95 slowdown, hadoop`."""
    traffic_class = finding.metric.partition(".")[2]
    metric = METRIC.get(finding.name)
    name = metric.shown if metric else ""
    name = name or finding.name.removesuffix("_bytes").removesuffix("_us").replace("_", " ")
    if finding.name.startswith(_SLOWDOWN):
        name = f"{finding.name.removeprefix(_SLOWDOWN).upper()} slowdown"
    return f"{name}, {traffic_class}" if traffic_class else name


def _formatted(finding: MetricFinding, value: float | None) -> str:
    if value is None:
        return NOTHING
    metric = METRIC.get(finding.name)
    return format_number(value) if metric is None else metric.write(value)


def _difference(finding: MetricFinding) -> str:
    """Return the difference as a share of the virtual figure; in the figure's unit if that is zero."""
    return NOTHING if finding.difference is None else _signed(finding, finding.difference, finding.share)


def _signed(finding: MetricFinding, difference: float, share: float | None) -> str:
    value = _formatted(finding, abs(difference)) if share is None else format_share(abs(share))
    return value if difference == 0 else f"{'+' if difference > 0 else '-'}{value}"


def _tolerance(finding: MetricFinding) -> str:
    """Return the tolerance in the same unit as the difference."""
    if finding.tolerance is None:
        return NOTHING
    if finding.virtual:
        return f"±{format_share(finding.tolerance / abs(finding.virtual))}"
    return f"±{_formatted(finding, finding.tolerance)}"


def tolerance_rows() -> list[tuple[str, str, str, str]]:
    """Return name, meaning, tolerance and reason of every metric."""
    return [(metric.name, metric.meaning, metric.tolerance_text, metric.tolerance.reason) for metric in METRICS]


def validation_summary(validation: Validation) -> RenderableType:
    """Return a table with one row per run."""
    switches = ", ".join(dict.fromkeys(run.switch for run in validation.runs))
    table = Table(title=Text(f"Live on {switches} compared with virtual"), title_style="bold", box=SIMPLE_HEAD)
    for heading in ("run", "D", "verdict", "peak", "worst P95", "within"):
        table.add_column(heading)
    for run in validation.runs:
        label, _, dilation, _, peak, p95, within = summary_cells(run)
        verdict = Text(run.verdict, style=VERDICT_STYLES[run.verdict])
        style = "yellow" if run.outside else "green"
        table.add_row(Text(label), dilation, verdict, peak, p95.partition(" (")[0], Text(within, style=style))
    return Fitted(table)


def validated_run_table(run: ValidatedRun) -> RenderableType:
    """Return a table with one row per figure of a run. Figures that are zero on both clocks are listed below."""
    title = f"{run.label} on {run.switch}, dilation {run.dilation:,}, scale {run.scale}"
    table = Table(box=SIMPLE_HEAD)
    for heading in headings(run):
        table.add_column(heading, justify="left" if heading == HEADINGS[0] else "right")
    for finding in run.metrics:
        if not finding.is_nothing:
            *cells, within = finding_cells(finding)
            style = "green" if finding.within else "bold yellow"
            table.add_row(*cells, Text(within, style=style), *row_cells(run, finding)[len(HEADINGS) :])
    verdict = Text(run.verdict, style=VERDICT_STYLES[run.verdict])
    reasons = [Text(f"  {reason}") for reason in run.verdict_reasons]
    zeros = ", ".join(finding_name(finding) for finding in run.metrics if finding.is_nothing)
    below = [Text(f"zero on both clocks: {zeros}", style="dim")] if zeros else []
    spread = [Text(spread_sentence(run), style="dim")] if run.jitter_runs else []
    return Group(Text(title, style="bold"), verdict, *reasons, Fitted(table), *spread, *below)


def write_validation_page(folder: Path, validation: Validation, *, pictures: bool = False) -> Path:
    """Write report.html beside validation.json, from the validation and its run folders, and return the page's path.

    `pictures`: whether to write each plot as PNG and SVG, too.
    """
    sections = [_section(folder, number, run, pictures) for number, run in enumerate(validation.runs, 1)]
    html = render(
        "validation.html.j2",
        validation=validation,
        first=first_sentence.of_validation(validation, _outside(validation)),
        within=sum(not run.outside for run in validation.runs),
        summary=DataTable("All runs", SUMMARY_HEADINGS, [summary_cells(run) for run in validation.runs]),
        tolerances=DataTable("Tolerances", ("figure", "meaning", "tolerance", "reason"), tolerance_rows()),
        sections=sections,
        file_name=FILE_NAME,
    )
    write_page(folder / REPORT_FILE, html)
    return folder / REPORT_FILE


def _outside(validation: Validation) -> list[str]:
    """Return a text for every figure outside its tolerance, such as `incast sfc: peak buffer +7.1 %`."""
    return [
        f"{run.label}: {finding_name(finding)} "
        + ("only on one clock" if finding.difference is None else _difference(finding))
        for run in validation.runs
        for finding in run.outside
    ]


def _section(folder: Path, number: int, run: ValidatedRun, pictures: bool) -> dict[str, object]:
    plot = plot_buffers_compared(list(_plotted(folder, run)))
    caption = f"{run.label}: buffer of the most congested switch on both clocks: maximum of each sampling interval."
    return {
        "run": run,
        "spread": spread_sentence(run) if run.jitter_runs else "",
        "table": DataTable(run.label, headings(run), [row_cells(run, finding) for finding in run.metrics]),
        "plots": on_page(folder, [Placed(f"buffer-{number}", caption, plot)], pictures=pictures),
        "links": [(clock, relative_link(folder, path), command) for clock, path, command in _runs(folder, run)],
    }


def _runs(folder: Path, run: ValidatedRun) -> Sequence[tuple[str, Path, str]]:
    return (
        ("virtual", folder / run.virtual_folder, run.virtual_command),
        ("live", folder / run.live_folder, run.live_command),
    )


def _plotted(folder: Path, run: ValidatedRun) -> Iterator[PlottedRun]:
    for clock, path, _ in _runs(folder, run):
        stored = load_run(path)
        yield PlottedRun(clock, run.scheme, stored.flows, stored.queues)
