# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Tables of results for the terminal, built with rich."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sfc_testbed.analysis.formatting import (
    NOTHING,
    UNIT_SCALES,
    amount,
    format_bytes,
    format_count,
    format_interval,
    format_number,
    format_ratio,
    format_us,
    format_wall,
    three_digits,
)
from sfc_testbed.analysis.life.events import LifeEvent
from sfc_testbed.analysis.metrics.figures import Interval
from sfc_testbed.analysis.metrics.flows import CompletionFigures
from sfc_testbed.analysis.metrics.iterations import ChainLink, JobFigures
from sfc_testbed.analysis.metrics.links import is_use_different
from sfc_testbed.analysis.report.first_sentence import in_parentheses, resent_in_runs, unfinished_runs
from sfc_testbed.analysis.report.page_tables import (
    ITERATION_HEADINGS,
    compared_quantity_tables,
    iteration_cells,
)
from sfc_testbed.analysis.report.physics import physics_rows
from sfc_testbed.analysis.results.comparison import ClassRow, Comparison, ComparisonRow
from sfc_testbed.analysis.results.completions import CompletionRow
from sfc_testbed.analysis.results.outcome import DEPENDS, FAILS, HOLDS
from sfc_testbed.analysis.results.over_seeds import Estimate, SchemeOverSeeds, estimate_of, intervals_of
from sfc_testbed.analysis.results.result import Level, RunResult, count_of
from sfc_testbed.analysis.terminal import PROSE, Fitted
from sfc_testbed.request.spec import RunConfig

if TYPE_CHECKING:
    from sfc_testbed.analysis.life.slowest import SlowFlow

_LOST = "drops/\nresent"
"""The heading of the column with packets dropped and data packets sent again."""
_EVENT_STYLES = {"paused": "yellow", "resumed": "green", "BTS": "magenta", "lost": "red", "acknowledged": "green"}
VERDICT_STYLES: dict[Level, str] = {"faithful": "bold green", "degraded": "bold yellow", "invalid": "bold red"}
_UNFINISHED_STYLE = "bold red"
_OUTCOME_STYLES = {HOLDS: "bold green", FAILS: "bold red", DEPENDS: "bold yellow"}


def run_table(result: RunResult, config: RunConfig | None) -> RenderableType:
    """Show a run: unfinished work, verdict, reasons, warnings, network and limits, key figures, slowdown by class."""
    verdict = Text.assemble((result.verdict, VERDICT_STYLES[result.verdict]))
    for reason in result.verdict_reasons:
        verdict.append(f"\n  {reason}")
    figures = [*_user_program_rows(config), *physics_rows(config), *key_figures(result)]
    return Group(
        Text(result.title, style="bold"),
        *_unfinished(result.unfinished_work),
        verdict,
        *_warnings(result.warnings),
        _figures(figures),
        *_iterations(result.jobs),
        slowdown_table(result),
    )


def _unfinished(sentence: str) -> list[Text]:
    """Return the sentence about unfinished work as a line; no line without one."""
    return [Text(f"{sentence}.", style=_UNFINISHED_STYLE)] if sentence else []


def _user_program_rows(config: RunConfig | None) -> list[tuple[str, str]]:
    """Return path and hash of the program for the terminal, only if the user supplied the program."""
    if config is None or config.program.name is None:
        return []
    return [("P4 program", f"{config.program.path}, SHA-256 {config.program.sha256[:12]}...")]


def comparison_table(comparison: Comparison) -> RenderableType:
    """Return a table with one row per scheme (means if there are several seeds), then its meaning and warnings.

    With an incast, the columns are the other traffic, the peak buffer, and the incast. Without one, the peak buffer
    has its ratio to the first row. Other traffic classes and completion times have separate tables below. The settings
    in which the runs differ come first.
    """
    table = Fitted(main_table(comparison))
    intervals = [] if comparison.over_seeds else _tail_intervals(comparison)
    unvaried = [Text(_UNVARIED, style="dim")] if _has_unvaried_cells(comparison) else []
    meaning = (Text(f"{sentence}\n", style="bold") for sentence in comparison.meaning)
    others = [_class_table(comparison.other_classes, comparison.label_heading)] if comparison.other_classes else []
    together = [_completion_table(comparison)] if _shown_completions(comparison) else []
    jobs = [_iteration_table(comparison)] if comparison.iterations else []
    quantities = [_quantity_table(comparison)] if comparison.quantities else []
    differences = map(Text, comparison.differences)
    claims = [claims_table("Claims", comparison.claim_rows, "expected")] if comparison.claims else []
    labels = [row.label for row in comparison.rows]
    unfinished = _unfinished(unfinished_runs([row.model_dump() for row in comparison.rows], labels))
    sentence = resent_in_runs(comparison)
    resent = [Text(f"{sentence}.\n")] if sentence else []
    resent += _overtaken(comparison)
    notes = (*meaning, *resent, *claims, *_warnings(comparison.warnings))
    return Group(
        *unfinished, *differences, table, *intervals, *unvaried, *others, *together, *jobs, *quantities, *notes
    )


def main_table(comparison: Comparison) -> Table:
    """Return the table with one row per scheme, or per run."""
    fill = _fill_averages if comparison.over_seeds else _fill_beside_incast if comparison.has_incast else _fill_alone
    return fill(comparison)


def _tail_intervals(comparison: Comparison) -> list[Text]:
    """Return a line with the P99 of each run and its interval, which does not fit into the table."""
    rows = [row for row in comparison.rows if row.p99_slowdown is not None]
    figures = [
        f"{row.label} {format_number(row.p99_slowdown)}{format_interval(interval) or ' [none: too few flows]'}"
        for row in rows
        for interval in [row.intervals.get("p99_slowdown")]
    ]
    return [Text(f"P99 [95 % interval]: {', '.join(figures)}\n")] if figures else []


def _overtaken(comparison: Comparison) -> list[Text]:
    """Return a line with the packets of each run that later ones overtook; no line if none was."""
    rows = [row for row in comparison.rows if row.packets_reordered]
    runs = [
        f"{row.label} {row.packets_reordered:,} (by {amount(row.reordering_max, 'packet')} at most)" for row in rows
    ]
    return [Text(f"Packets overtaken by later ones: {', '.join(runs)}.\n")] if runs else []


def _warnings(sentences: Sequence[str]) -> list[Text]:
    return [Text(f"! {sentence}", style="yellow") for sentence in sentences]


def _comparison_head(comparison: Comparison, title: str, headings: Sequence[str]) -> Table:
    left = (comparison.label_heading, "verdict")
    table = _table(Text(f"{comparison.workload}: {title}"), (*left, *headings), left)
    table.collapse_padding = True
    return table


def _fill_alone(comparison: Comparison) -> Table:
    title = f"slowdown of {comparison.traffic_class} flows"
    links = _link_headings(comparison)
    headings = ("flows", "peak buffer", "P50", "P95", "P99", *links, _LOST, "BTS")
    table = _comparison_head(comparison, title, headings)
    for row in comparison.rows:
        slowdowns = map(format_number, (row.p50_slowdown, row.p95_slowdown, row.p99_slowdown))
        buffer = f"{format_bytes(row.max_buffer_bytes)} ({format_ratio(row.ratios['max_buffer_bytes'])})"
        jain = [format_number(row.link_jain_index)] * len(links)
        table.add_row(*_names(row.label, row.verdict), _completed(row), buffer, *slowdowns, *jain, *_counts(row))
    return table


def _fill_beside_incast(comparison: Comparison) -> Table:
    title = f"slowdown of {comparison.traffic_class} flows, beside an incast"
    links = _link_headings(comparison)
    headings = ("P50", "P99", "max\nbuffer", "incast\nP50", "incast\nlast", "flows", *links, _LOST, "BTS")
    table = _comparison_head(comparison, title, headings)
    for row in comparison.rows:
        others = map(format_number, (row.p50_slowdown, row.p99_slowdown))
        incast = map(format_number, (row.incast_p50_slowdown, row.incast_last_slowdown))
        buffer = format_bytes(row.max_buffer_bytes)
        counts = [*[format_number(row.link_jain_index)] * len(links), *_counts(row)]
        table.add_row(*_names(row.label, row.verdict), *others, buffer, *incast, _completed(row), *counts)
    return table


def _link_headings(comparison: Comparison) -> tuple[str, ...]:
    """Return the heading of the column with Jain's index of equal-cost links; none if all runs have about the same.

    With one load balancing, the column would only take the room of others.
    """
    return ("links'\nJain",) if is_use_different(row.link_jain_index for row in comparison.rows) else ()


def _table(
    title: Text | str | None, headings: Iterable[str], left: Collection[str] = (), title_style: str = "bold"
) -> Table:
    """Return an empty table. The columns whose headings are in `left` are aligned left, all others right."""
    table = Table(title=title, title_style=title_style, box=SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in left else "right")
    return table


def _table_below(title: str, column: str, label_heading: str, headings: Sequence[str]) -> Table:
    """Return an empty table with one row per value of `column` and scheme."""
    left = (column, label_heading)
    return _table(Text(title), (*left, *headings), left)


def _completion_table(comparison: Comparison) -> Fitted:
    """Return the completion time of each class, from the first ready message to the last acknowledgement."""
    rows = _shown_completions(comparison)
    has_intervals = any(row.took and row.took.interval for row in rows)
    over = ", mean over seeds ± 95 % interval" if has_intervals else ""
    has_ideal = any(row.ideal_us is not None for row in rows)
    headings = ("took", "ratio", *(("ideal", "slowdown") if has_ideal else ()))
    table = _table_below(f"completion time{over}", "class", comparison.label_heading, headings)
    for row in rows:
        took = format_estimate("took_us", row.took) if row.took else format_us(row.took_us)
        ratio_interval = row.ratio_over_seeds.interval if row.ratio_over_seeds else None
        ratio = format_ratio(row.ratio) + format_interval(ratio_interval)
        against = (format_us(row.ideal_us), format_number(row.slowdown)) if has_ideal else ()
        table.add_row(
            Text(row.tag), Text(row.label), "did not finish" if row.took_us is None else took, ratio, *against
        )
    return Fitted(table, keys=2)


def _iteration_table(comparison: Comparison) -> Fitted:
    """Return the mean time and the bus bandwidth of the jobs' iterations."""
    over = ", mean over seeds" if comparison.over_seeds else ""
    kinds = dict.fromkeys(row.job.partition(" ")[2] for row in comparison.iterations)
    of = f" of {next(iter(kinds))}" if len(kinds) == 1 and any(kinds) else ""
    headings = ("mean", "ratio", "max", "slowdown", "busbw, GB/s")
    table = _table_below(f"iterations{of}{over}", "job", comparison.label_heading, headings)
    for row in comparison.iterations:
        interval = row.ratio_over_seeds.interval if row.ratio_over_seeds else None
        table.add_row(
            Text(row.job.partition(" ")[0] if of else row.job),
            Text(row.label),
            "did not finish" if row.mean_us is None else _mean("us", row.mean, row.mean_us),
            format_ratio(row.ratio) + format_interval(interval),
            format_us(row.max_us),
            format_number(row.slowdown),
            _mean("busbw", row.busbw, row.busbw_gbytes_per_s),
        )
    return Fitted(table, keys=2)


def _mean(name: str, over_seeds: Estimate | None, value: float | None) -> str:
    """Return a mean over the seeds, or else the value of a single run."""
    return format_estimate(name, over_seeds or estimate_of([value]))


def _quantity_table(comparison: Comparison) -> Fitted:
    """Return the quantities of extensions."""
    [rows] = compared_quantity_tables(comparison)
    table = _table_below("quantities of extensions", "quantity", comparison.label_heading, ("value",))
    for row in rows.rows:
        table.add_row(*map(Text, row))
    return Fitted(table, keys=2)


def _shown_completions(comparison: Comparison) -> Sequence[CompletionRow]:
    """Return the completion times that the main table lacks: beside an incast, only those of dependent messages.

    Jobs have their own table.
    """
    if comparison.iterations:
        return []
    return comparison.decisive_completions if comparison.has_incast else comparison.completion


def _class_table(rows: Sequence[ClassRow], label_heading: str) -> Fitted:
    title = "slowdown of the other classes [95 % interval]"
    table = _table_below(title, "class", label_heading, ("flows", "P50", "P95", "P99"))
    for row in rows:
        slowdowns = _slowdown_cells((row.p50_slowdown, row.p95_slowdown, row.p99_slowdown), row.intervals)
        table.add_row(Text(row.traffic_class), Text(row.label), f"{row.completed}/{row.flows}", *slowdowns)
    return Fitted(table, keys=2)


def _fill_averages(comparison: Comparison) -> Table:
    """Return the table of means over seeds, with half the width of their confidence intervals."""
    seeds = max(len(scheme.seeds) for scheme in comparison.over_seeds)
    are_constant = all(scheme.is_constant for scheme in comparison.over_seeds)
    over = f"the same with each of {seeds} seeds" if are_constant else f"mean of {seeds} seeds ± 95 % interval"
    title = f"slowdown of {comparison.traffic_class} flows, {over}"
    averaged = _averaged(comparison)
    table = _comparison_head(comparison, title, ("flows", *averaged.values(), _LOST))
    for scheme in comparison.over_seeds:
        cells = (format_estimate(name, scheme.figures[name]) for name in averaged)
        lost = "/".join(_whole(scheme.figures[name]) for name in ("drops", "resent"))
        table.add_row(*_names(scheme.scheme, scheme.verdict), _completed(scheme), *cells, lost)
    return table


_UNVARIED = "Without ±: the same with every seed.\n"


def _has_unvaried_cells(comparison: Comparison) -> bool:
    """Return whether the table of means has cells without an interval next to cells with one."""
    cells = (scheme.figures[name] for scheme in comparison.over_seeds for name in _averaged(comparison))
    return len({cell.is_constant for cell in cells if cell is not None}) > 1


def _averaged(comparison: Comparison) -> dict[str, str]:
    """Return the columns of the table of means: the figures and their headings."""
    columns = {"p50_slowdown": "P50", "p99_slowdown": "P99", "max_buffer_bytes": "peak buffer"}
    incast = {"incast_p50_slowdown": "incast\nP50", "incast_last_slowdown": "incast\nlast"}
    links = dict(zip(("link_jain_index",), _link_headings(comparison), strict=False))
    return columns | (incast if comparison.has_incast else {}) | links


def _whole(estimate: Estimate | None) -> str:
    """Return a mean count as a whole number."""
    return NOTHING if estimate is None else f"{estimate.mean:,.0f}"


def format_estimate(name: str, estimate: Estimate | None) -> str:
    """Return a mean and half its interval, such as 11.3 ±0.8 or 701 ±12 KB; without an interval the mean alone.

    Half an interval has two digits, because a few seeds give no more.
    """
    if estimate is None:
        return NOTHING
    format_value = _FORMATS.get(name.rpartition("_")[2], format_number)
    if estimate.interval is None:
        return format_value(estimate.mean)
    value, _, unit = format_value(estimate.mean).partition(" ")
    half = (estimate.interval[1] - estimate.interval[0]) / 2
    scale = UNIT_SCALES.get(unit, 1.0)
    return f"{value} ±{three_digits(float(f'{half / scale:.2g}'))} {unit}".rstrip()


_FORMATS: Mapping[str, Callable[[float], str]] = {"bytes": format_bytes, "us": format_us}
"""The format of a figure, by the last word of its name."""


def claims_table(title: str, claims: Sequence[tuple[str, str, str, str]], says: str = "paper") -> RenderableType:
    """Return a table of claims: claim, expected value (`says` names its source), measured value, outcome."""
    table = Table(title=Text(title), title_style="bold", box=SIMPLE_HEAD, padding=(0, 1))
    for heading in ("claim", says, "measured"):
        table.add_column(heading, ratio=PROSE)
    table.add_column("outcome")
    for claim, paper, measured, outcome in claims:
        table.add_row(Text(claim), Text(paper), Text(measured), styled_outcome(outcome))
    return Fitted(table)


def styled_outcome(outcome: str) -> Text:
    """Return the outcome of a claim in its colour."""
    return Text(outcome, style=next(style for word, style in _OUTCOME_STYLES.items() if outcome.startswith(word)))


def _names(label: str, verdict: Level) -> tuple[Text, Text]:
    return Text(label), Text(verdict, style=VERDICT_STYLES[verdict])


def _completed(row: ComparisonRow | SchemeOverSeeds) -> Text:
    style = _UNFINISHED_STYLE if row.flows_unfinished else ""
    return Text(f"{row.flows_completed}/{row.flows_total}", style=style)


def _counts(row: ComparisonRow) -> tuple[str, str]:
    """Return dropped and resent packets, and BTS packets."""
    return "/".join(map(format_number, (row.drops, row.resent))), format_number(row.bts_sent)


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
        *((f"completion of {name}", _completion(figures)) for name, figures in result.dependent_completion.items()),
        *_links(result),
        ("drops", _drops(result)),
        ("sent again", _resent(result)),
        *_reordering(result),
        *_trimmed(result),
        *_flowlets(result),
        ("BTS sent", format_count(count_of(result.bts, "sent"))),
        ("PFC sent", format_count(count_of(result.pfc, "sent"))),
        *_bfc(result),
        ("wall time", f"{wall} ({speed})" if speed else wall),
    ]


def _links(result: RunResult) -> list[tuple[str, str]]:
    """Return how evenly equal-cost links were used; no row without such links."""
    balance = result.link_balance
    if balance is None:
        return []
    figures = [f"Jain's index {format_number(balance.jain_index)}"]
    figures += [f"largest/mean {format_number(balance.largest_over_mean)}"]
    if balance.spread_100us is not None:
        figures.append(f"spread {format_number(balance.spread_100us)}")
    return [("equal-cost links", ", ".join(figures))]


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


def _resent(result: RunResult) -> str:
    """Return the data packets sent again and, if there are any, the reasons."""
    return f"{format_count(result.flows.packets_resent)}{in_parentheses(result.resent_by_reason)}"


def _completion(figures: CompletionFigures) -> str:
    """Return the completion time of dependent messages, its ideal and the slowdown."""
    took = "did not finish" if figures.took_us is None else format_us(figures.took_us)
    against = "" if figures.slowdown is None else f": slowdown {format_number(figures.slowdown)}"
    return f"{took}, ideal {format_us(figures.ideal_us)}{against}"


def _reordering(result: RunResult) -> list[tuple[str, str]]:
    """Return how far packets were overtaken; no row if none was."""
    figures = result.reordering
    if figures is None:
        return []
    distance = f"by {format_number(figures.mean)} on average, {amount(figures.largest, 'packet')} at most"
    return [("packets overtaken", f"{figures.packets:,}, {distance}")]


def _trimmed(result: RunResult) -> list[tuple[str, str]]:
    """Return the count of trimmed packets if the switches trim packets to headers."""
    events = result.switch_events or {}
    return [("packets trimmed", f"{events['trimmed']:,}")] if "trimmed" in events else []


def _flowlets(result: RunResult) -> list[tuple[str, str]]:
    """Return the count of flowlets if the load balancing of switches has flowlets."""
    events = result.switch_events or {}
    if "flowlet_begun" not in events:
        return []
    return [("flowlets", f"{events['flowlet_begun']:,}, of which {events.get('flowlet_moved', 0):,} changed the path")]


def slowdown_table(result: RunResult) -> Fitted:
    """Return the slowdown of each traffic class."""
    headings = ("class", "flows", "P50", "P95", "P99", "mean", "completion")
    table = _table("FCT slowdown [95 % interval]", headings, left=("class",), title_style="")
    for name, figures in result.fct_slowdown.items():
        percentiles = _slowdown_cells((figures.p50, figures.p95, figures.p99), intervals_of(result, name))
        completion = result.completion.get(name)
        took = NOTHING if completion is None else format_us(completion.took_us)
        flows = f"{figures.completed}/{figures.flows}"
        table.add_row(Text(name), flows, *percentiles, format_number(figures.mean), took)
    return Fitted(table)


def _slowdown_cells(
    percentiles: tuple[float | None, float | None, float | None], intervals: Mapping[str, Interval | None]
) -> list[str]:
    """Return P50, P95 and P99; the highest of these that is known has its interval, because few flows decide it."""
    names = ("p50_slowdown", "p95_slowdown", "p99_slowdown")
    last = max((place for place, value in enumerate(percentiles) if value is not None), default=0)
    cells = [format_number(value) for value in percentiles]
    cells[last] += format_interval(intervals.get(names[last]))
    return cells


def _iterations(jobs: Sequence[JobFigures]) -> list[RenderableType]:
    """Return the table of the jobs' iterations and a line about the slowest straggler; nothing without jobs."""
    if not jobs:
        return []
    title = f"iterations of {'; '.join(dict.fromkeys(job.description for job in jobs))} (bandwidths in GB/s)"
    rows = list(map(iteration_cells, jobs))
    shown = [place for place in range(len(ITERATION_HEADINGS)) if any(row[place] != NOTHING for row in rows)]
    table = _table(title, (ITERATION_HEADINGS[place] for place in shown), title_style="")
    for row in rows:
        table.add_row(*(row[place] for place in shown))
    last = max(jobs, key=lambda job: job.max_us or 0.0)
    return [Fitted(table), *([Text(last.sentence)] if last.sentence else [])]


def chain_table(result: RunResult, iteration: str, chain: Sequence[ChainLink]) -> RenderableType:
    """Return the messages of an iteration's slowest chain, with the time that each one lost."""
    title = Text(f"slowest chain of iteration {iteration}, times in µs · {result.title} · {result.clock} clock")
    headings = ("flow", "step", "from", "to", "size", "ready", "received", "FCT", "ideal", "lost")
    table = _table(title, headings, left=("from", "to"))
    for link in chain:
        row = link.row
        table.add_row(
            *map(str, (row["flow_id"], row["step"], row["src"], row["dst"])),
            format_bytes(row["size_bytes"]),
            *(f"{row[name]:,.2f}" for name in ("start_us", "received_us")),
            *map(format_number, (link.fct_us, row["ideal_fct_us"], link.excess_us)),
        )
    return Fitted(table)


def slowest_table(result: RunResult, flows: Sequence[SlowFlow]) -> RenderableType:
    """Return the slowest flows with the reasons for their lost time, as on the page of the run."""
    from sfc_testbed.analysis.report.slow_table import HEADINGS, slow_cells  # the table of a run does without

    title = Text(f"slowest flows of each class · {result.title} · {result.clock} clock")
    table = _table(title, HEADINGS[:-1], left=("class", "from", "to"))
    table.add_column(HEADINGS[-1], ratio=PROSE)
    for flow in flows:
        table.add_row(*map(Text, slow_cells(flow)))
    return Fitted(table)


def life_table(result: RunResult, flow: Mapping[str, Any], events: Sequence[LifeEvent]) -> RenderableType:
    """Return a title with the flow and its FCT, and a table with one row per event."""
    table = _table(None, ("model µs", "node", "event"), left=("node", "event"))
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
