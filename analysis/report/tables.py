# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tables of results for the terminal, built with rich."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
from analysis.life.events import LifeEvent
from analysis.metrics.flows import CompletionFigures
from analysis.report.physics import physics_rows
from analysis.results.comparison import ClassRow, Comparison, ComparisonRow
from analysis.results.outcome import DEPENDS, FAILS, HOLDS
from analysis.results.over_seeds import Estimate
from analysis.results.result import Level, RunResult, count_of
from analysis.results.spec import RunConfig
from analysis.terminal import PROSE, Fitted

_EVENT_STYLES = {"paused": "yellow", "resumed": "green", "BTS": "magenta", "lost": "red", "acknowledged": "green"}
VERDICT_STYLES: dict[Level, str] = {"faithful": "bold green", "degraded": "bold yellow", "invalid": "bold red"}
_OUTCOME_STYLES = {HOLDS: "bold green", FAILS: "bold red", DEPENDS: "bold yellow"}


def run_table(result: RunResult, config: RunConfig | None) -> RenderableType:
    """Show a run: verdict, reasons, warnings, network and limits from config.json, key figures, slowdown by class."""
    title = result.title
    verdict = Text.assemble((result.verdict, VERDICT_STYLES[result.verdict]))
    for reason in result.verdict_reasons:
        verdict.append(f"\n  {reason}")
    figures = [*_user_program_rows(config), *physics_rows(config), *key_figures(result)]
    return Group(Text(title, style="bold"), verdict, *_warnings(result.warnings), _figures(figures), _slowdowns(result))


def _user_program_rows(config: RunConfig | None) -> list[tuple[str, str]]:
    """Return path and hash of the program for the terminal, only if the user supplied the program."""
    if config is None or config.program.name is None:
        return []
    return [("P4 program", f"{config.program.path}, SHA-256 {config.program.sha256[:12]}...")]


def comparison_table(comparison: Comparison) -> RenderableType:
    """Return a table with one row per scheme (means if there are several seeds), then its meaning and warnings.

    With an incast, the columns are the other traffic, the peak buffer, and the incast. Without one, the peak buffer
    has its ratio to the first row. Other traffic classes and dependent messages have separate tables below.
    """
    fill = _fill_averages if comparison.over_seeds else _fill_beside_incast if comparison.has_incast else _fill_alone
    table = Fitted(fill(comparison))
    meaning = (Text(f"{sentence}\n", style="bold") for sentence in comparison.meaning)
    others = [_class_table(comparison.other_classes)] if comparison.other_classes else []
    together = [_completion_table(comparison)] if comparison.completion else []
    claims = [claims_table("Claims", comparison.claim_rows, "expected")] if comparison.claims else []
    return Group(table, *others, *together, *meaning, *claims, *_warnings(comparison.warnings))


def _warnings(sentences: Sequence[str]) -> list[Text]:
    return [Text(f"! {sentence}", style="yellow") for sentence in sentences]


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
    table = _comparison_head(comparison, title, ("flows", "peak buffer", "P50", "P95", "P99", "drops", "BTS"))
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
    """Return an empty table with one row per value of `column` and scheme."""
    table = Table(title=Text(title), title_style="bold", box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column(column)
    table.add_column("scheme")
    return table


def _completion_table(comparison: Comparison) -> Fitted:
    """Return the completion time of each tag, from the first ready message to the last acknowledgement."""
    mean = ", mean over seeds" if comparison.over_seeds else ""
    table = _table_below(f"completion time of dependent messages{mean}", "tag")
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
    """Return the table of means over seeds, with half the width of their confidence intervals."""
    seeds = max(len(scheme.seeds) for scheme in comparison.over_seeds)
    title = f"slowdown of {comparison.traffic_class} flows, mean of {seeds} seeds ± 95 % interval"
    names = ["p50_slowdown", "p99_slowdown", "max_buffer_bytes"]
    headings = ["P50", "P99", "peak buffer"]
    if comparison.has_incast:
        names += ["incast_p50_slowdown", "incast_last_slowdown"]
        headings += ["incast\nP50", "incast\nlast"]
    table = _comparison_head(comparison, title, headings)
    for scheme in comparison.over_seeds:
        cells = (format_estimate(name, scheme.figures[name]) for name in names)
        table.add_row(*_names(scheme.scheme, scheme.verdict), *cells)
    return table


def format_estimate(name: str, estimate: Estimate | None) -> str:
    """Return a mean and half its interval, such as 11.3 ±0.8 or 701 ±12 KB; with a single run the mean alone."""
    if estimate is None:
        return NOTHING
    format_value = format_bytes if name.endswith("_bytes") else format_number
    if estimate.interval is None:
        return format_value(estimate.mean)
    value, _, unit = format_value(estimate.mean).partition(" ")
    half = (estimate.interval[1] - estimate.interval[0]) / 2
    scale = BYTE_SCALES.get(unit, 1.0)
    return f"{value} ±{three_digits(half / scale)} {unit}".rstrip()


def claims_table(title: str, claims: Sequence[tuple[str, str, str, str]], says: str = "paper") -> RenderableType:
    """Return a table of claims: claim, expected value (`says` names its source), measured value, outcome."""
    table = Table(title=Text(title), title_style="bold", box=SIMPLE_HEAD, padding=(0, 1))
    for heading in ("claim", says, "measured"):
        table.add_column(heading, ratio=PROSE)
    table.add_column("outcome")
    for claim, paper, measured, outcome in claims:
        style = next(style for word, style in _OUTCOME_STYLES.items() if outcome.startswith(word))
        table.add_row(Text(claim), Text(paper), Text(measured), Text(outcome, style=style))
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
    """Return the key figures of a run, as name and text."""
    wall, speed = format_wall(result.wall_s, result.packets_per_s)
    return [
        ("flows completed", f"{result.flows.completed:,} of {result.flows.total:,}"),
        ("peak buffer", format_bytes(result.max_buffer_bytes)),
        ("throughput", f"{format_number(result.throughput_gbps)} Gb/s"),
        *((f"completion of {tag}", _completion(figures)) for tag, figures in result.completion.items()),
        ("drops", _drops(result)),
        *_trimmed(result),
        ("BTS sent", format_count(count_of(result.bts, "sent"))),
        ("PFC sent", format_count(count_of(result.pfc, "sent"))),
        *_bfc(result),
        ("wall time", f"{wall} ({speed})" if speed else wall),
    ]


def _bfc(result: RunResult) -> list[tuple[str, str]]:
    """Return the frames and the collisions of Backpressure Flow Control; no row if no flow was assigned a queue."""
    bfc = result.bfc
    if bfc is None or not bfc.assigned:
        return []
    collisions = f"{bfc.collisions:,} of {bfc.assigned:,} assignments share a queue"
    return [("BFC frames sent", f"{bfc.sent:,} ({collisions})")]


def _drops(result: RunResult) -> str:
    if not result.drops or not any(result.drops.values()):
        return format_count(result.dropped)
    return ", ".join(f"{reason} {count:,}" for reason, count in result.drops.items() if count)


def _completion(figures: CompletionFigures) -> str:
    """Return the completion time of dependent messages, its ideal and the slowdown."""
    took = "did not finish" if figures.took_us is None else format_us(figures.took_us)
    against = "" if figures.slowdown is None else f": slowdown {format_number(figures.slowdown)}"
    return f"{took}, ideal {format_us(figures.ideal_us)}{against}"


def _trimmed(result: RunResult) -> list[tuple[str, str]]:
    """Return the count of trimmed packets if the switches trim packets to headers."""
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


def life_table(result: RunResult, flow: Mapping[str, Any], events: Sequence[LifeEvent]) -> RenderableType:
    """Return a title with the flow and its FCT, and a table with one row per event."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    table.add_column("model µs", justify="right")
    table.add_column("node")
    table.add_column("event")
    table.add_column("", ratio=PROSE)
    for event in events:
        name = Text(event.what, style=_EVENT_STYLES.get(event.what, ""))
        table.add_row(f"{event.time_us:,.2f}", Text(event.where), name, Text(event.detail))
    return Group(Text(_flow_title(result, flow), style="bold"), Text(_flow_outcome(flow)), Fitted(table, keys=3))


def _flow_title(result: RunResult, flow: Mapping[str, Any]) -> str:
    size = format_bytes(flow["size_bytes"])
    run = f"{result.title} · {result.clock} clock"
    return f"flow {flow['flow_id']} ({flow['tag']}): {size} from {flow['src']} to {flow['dst']} · {run}"


def _flow_outcome(flow: Mapping[str, Any]) -> str:
    outcome = "did not finish" if flow["fct_us"] is None else f"FCT {format_us(flow['fct_us'])}"
    slowdown = "" if flow["slowdown"] is None else f", slowdown {format_number(flow['slowdown'])}"
    if flow["packets_sent"] is None:
        return f"{outcome}{slowdown}; packets and pauses not counted"
    packets = f"{format_count(flow['packets_sent'])} packets sent, {format_count(flow['packets_resent'])} resent"
    return f"{outcome}{slowdown}; {packets}; paused for {format_us(flow['paused_us'])}"
