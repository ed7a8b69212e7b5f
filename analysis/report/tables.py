# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Results as tables for the terminal (rich). Decides what a reader sees first; computes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from analysis.formatting import (
    BYTE_SCALES,
    NOTHING,
    format_bytes,
    format_count,
    format_number,
    format_ratio,
    format_us,
    format_wall,
    three_digits,
)
from analysis.metrics.completion import CompletionFigures
from analysis.report.physics import physics_rows
from analysis.report.programs import given_program_rows
from analysis.results.comparison import ClassRow, Comparison, ComparisonRow
from analysis.results.over_seeds import Estimate
from analysis.results.result import Level, RunResult, count_of
from analysis.terminal.fitted import PROSE, Fitted

VERDICT_STYLES: dict[Level, str] = {"faithful": "bold green", "degraded": "bold yellow", "invalid": "bold red"}


def run_table(result: RunResult, config: Mapping[str, object]) -> RenderableType:
    """Show a run: verdict, reasons, warnings, network and limits from config.json, key figures, slowdown by class."""
    title = f"{result.scenario} · {result.variant}"
    verdict = Text.assemble((result.verdict, VERDICT_STYLES[result.verdict]))
    for reason in result.verdict_reasons:
        verdict.append(f"\n  {reason}")
    figures = [*given_program_rows(config), *physics_rows(config), *key_figures(result)]
    return Group(Text(title, style="bold"), verdict, *_warnings(result.warnings), _figures(figures), _slowdowns(result))


def comparison_table(comparison: Comparison) -> RenderableType:
    """Schemes as rows, over their seeds where there are several. Meaning and warnings stand below.

    Where an incast runs beside others, these come first, then the buffer, then the incast; else the buffer's ratio to
    the first row stands beside it. Classes that these rows say nothing of have a table of their own
    below, and so have messages that wait for one another.
    """
    fill = _fill_averages if comparison.over_seeds else _fill_beside_incast if comparison.has_incast else _fill_alone
    table = Fitted(fill(comparison))
    meaning = (Text(f"{said}\n", style="bold") for said in comparison.meaning)
    others = [_class_table(comparison.other_classes)] if comparison.other_classes else []
    together = [_completion_table(comparison)] if comparison.completion else []
    return Group(table, *others, *together, *meaning, *_claims(comparison), *_warnings(comparison.warnings))


def _warnings(sentences: Sequence[str]) -> list[Text]:
    return [Text(f"! {sentence}", style="yellow") for sentence in sentences]


def _claims(comparison: Comparison) -> list[RenderableType]:
    return [claims_table("Claims", comparison.claim_rows, "expected")] if comparison.claims else []


def _comparison_head(comparison: Comparison, title: str, headings: Sequence[str]) -> Table:
    table = Table(
        title=Text(f"{comparison.scenario}: {title}"),
        title_style="bold",
        box=SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
        collapse_padding=True,
    )
    table.add_column("scheme")
    table.add_column("verdict")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def _fill_alone(comparison: Comparison) -> Table:
    title = f"slowdown of {comparison.traffic_class} flows"
    table = _comparison_head(comparison, title, ("flows", "max buffer", "P50", "P95", "P99", "drops", "BTS"))
    for row in comparison.rows:
        slowdowns = map(format_number, (row.p50_slowdown, row.p95_slowdown, row.p99_slowdown))
        buffer = f"{format_bytes(row.max_buffer_bytes)} ({format_ratio(row.ratios['max_buffer_bytes'])})"
        table.add_row(*_names(row.label, row.verdict), _completed(row), buffer, *slowdowns, *_counts(row))
    return table


def _fill_beside_incast(comparison: Comparison) -> Table:
    title = f"slowdown of {comparison.traffic_class} flows, beside an incast"
    headings = ("P50", "P99", "max\nbuffer", "incast\nP50", "incast\nlast", "flows", "drops", "BTS")
    table = _comparison_head(comparison, title, headings)
    for row in comparison.rows:
        others = map(format_number, (row.p50_slowdown, row.p99_slowdown))
        incast = map(format_number, (row.incast_p50_slowdown, row.incast_last_slowdown))
        buffer = format_bytes(row.max_buffer_bytes)
        table.add_row(*_names(row.label, row.verdict), *others, buffer, *incast, _completed(row), *_counts(row))
    return table


def _table_below(title: str, column: str) -> Table:
    """A row for each run and whatever the column says."""
    table = Table(title=Text(title), title_style="bold", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column(column)
    table.add_column("scheme")
    return table


def _completion_table(comparison: Comparison) -> Fitted:
    """How long all messages of a tag took, from the first that was ready to the last acknowledgment."""
    mean = ", mean over seeds" if comparison.over_seeds else ""
    table = _table_below(f"all messages of a tag together{mean}", "tag")
    for heading in ("took", "ideal", "slowdown"):
        table.add_column(heading, justify="right")
    for row in comparison.completion:
        took = "did not finish" if row.took_us is None else f"{format_us(row.took_us)} ({format_ratio(row.ratio)})"
        table.add_row(Text(row.tag), Text(row.label), took, format_us(row.ideal_us), format_number(row.slowdown))
    return Fitted(table, keys=2)


def _class_table(rows: Sequence[ClassRow]) -> Fitted:
    table = _table_below("slowdown of the other classes", "class")
    for heading in ("flows", "P50", "P95", "P99"):
        table.add_column(heading, justify="right")
    for row in rows:
        slowdowns = map(format_number, (row.p50_slowdown, row.p95_slowdown, row.p99_slowdown))
        table.add_row(Text(row.traffic_class), Text(row.label), f"{row.completed}/{row.flows}", *slowdowns)
    return Fitted(table, keys=2)


def _fill_averages(comparison: Comparison) -> Table:
    """Means and half of their intervals."""
    seeds = max(len(each.seeds) for each in comparison.over_seeds)
    title = f"slowdown of {comparison.traffic_class} flows, mean of {seeds} seeds ± 95 % interval"
    names = ["p50_slowdown", "p99_slowdown", "max_buffer_bytes"]
    headings = ["P50", "P99", "max buffer"]
    if comparison.has_incast:
        names += ["incast_p50_slowdown", "incast_last_slowdown"]
        headings += ["incast\nP50", "incast\nlast"]
    table = _comparison_head(comparison, title, headings)
    for each in comparison.over_seeds:
        cells = (format_estimate(name, each.figures[name]) for name in names)
        table.add_row(*_names(each.scheme, each.verdict), *cells)
    return table


def format_estimate(name: str, estimate: Estimate | None) -> str:
    """11.3 ±0.8 or 701 ±12 KB; the mean alone where one run is all there is."""
    if estimate is None:
        return NOTHING
    shown = format_bytes if name.endswith("_bytes") else format_number
    if estimate.interval is None:
        return shown(estimate.mean)
    value, _, unit = shown(estimate.mean).partition(" ")
    half = (estimate.interval[1] - estimate.interval[0]) / 2
    scale = BYTE_SCALES.get(unit, 1.0)
    return f"{value} ±{three_digits(half / scale)} {unit}".rstrip()


def claims_table(title: str, claims: Sequence[tuple[str, str, str, bool]], says: str = "paper") -> RenderableType:
    """Claims: what is claimed, what the paper or whoever else says, what was measured, whether it holds."""
    table = Table(title=Text(title), title_style="bold", box=SIMPLE_HEAD, padding=(0, 1))
    for heading in ("claim", says, "measured"):
        table.add_column(heading, ratio=PROSE)
    table.add_column("holds")
    for claim, paper, measured, holds in claims:
        verdict = Text("holds", style="bold green") if holds else Text("does not", style="bold red")
        table.add_row(Text(claim), Text(paper), Text(measured), verdict)
    return Fitted(table)


def _names(label: str, verdict: Level) -> tuple[Text, Text]:
    return Text(label), Text(verdict, style=VERDICT_STYLES[verdict])


def _completed(row: ComparisonRow) -> str:
    return f"{row.flows_completed}/{row.flows_total}"


def _counts(row: ComparisonRow) -> tuple[str, str]:
    return (
        NOTHING if row.drops is None else f"{row.drops:,}",
        NOTHING if row.bts_sent is None else f"{row.bts_sent:,}",
    )


def _figures(figures: Sequence[tuple[str, str]]) -> Fitted:
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(ratio=PROSE)
    for name, value in figures:
        table.add_row(Text(name), Text(value))
    return Fitted(table)


def key_figures(result: RunResult) -> list[tuple[str, str]]:
    """The figures that people look for first, as name and text."""
    wall, speed = format_wall(result.wall_s, result.packets_per_s)
    return [
        ("flows completed", f"{result.flows.completed:,} of {result.flows.total:,}"),
        ("max buffer", format_bytes(result.max_buffer_bytes)),
        ("throughput", f"{format_number(result.throughput_gbps)} Gb/s"),
        *((f"{tag}, all of it", _completion(figures)) for tag, figures in result.completion.items()),
        ("drops", _drops(result)),
        *_trimmed(result),
        ("BTS sent", format_count(count_of(result.bts, "sent"))),
        ("PFC sent", format_count(count_of(result.pfc, "sent"))),
        ("wall time", f"{wall} ({speed})" if speed else wall),
    ]


def _drops(result: RunResult) -> str:
    if not result.drops or not any(result.drops.values()):
        return format_count(result.dropped)
    return ", ".join(f"{reason} {count:,}" for reason, count in result.drops.items() if count)


def _completion(figures: CompletionFigures) -> str:
    """How long messages took that wait for one another, and how long they should have taken."""
    took = "did not finish" if figures.took_us is None else format_us(figures.took_us)
    against = "" if figures.slowdown is None else f": slowdown {format_number(figures.slowdown)}"
    return f"{took}, ideal {format_us(figures.ideal_us)}{against}"


def _trimmed(result: RunResult) -> list[tuple[str, str]]:
    """Of a run whose switches cut packets to headers."""
    events = result.switch_events or {}
    return [("packets trimmed", f"{events['trimmed']:,}")] if "trimmed" in events else []


def _slowdowns(result: RunResult) -> Fitted:
    table = Table(title="FCT slowdown", title_style="", box=SIMPLE_HEAD)
    table.add_column("class")
    for heading in ("flows", "P50", "P95", "P99", "mean"):
        table.add_column(heading, justify="right")
    for name, figures in result.fct_slowdown.items():
        cells = (format_number(value) for value in (figures.p50, figures.p95, figures.p99, figures.mean))
        table.add_row(Text(name), f"{figures.completed}/{figures.flows}", *cells)
    return Fitted(table)
