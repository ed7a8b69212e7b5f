# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The summary at the top of a report page: work that did not finish, key figures and the verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from sfc_testbed.analysis.formatting import (
    amount,
    enumeration,
    format_bytes,
    format_interval,
    format_number,
    format_share,
    format_us,
)
from sfc_testbed.analysis.metrics.flows import ALL_CLASSES, active_span_us
from sfc_testbed.analysis.results.outcome import DEPENDS, FAILS, tally
from sfc_testbed.analysis.results.result import RESENT_REASONS, Level, RunResult, headline_class

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.comparison import Comparison
    from sfc_testbed.analysis.results.swept import Sweep
    from sfc_testbed.analysis.validation.record import Validation

PERCENTILES = {"slowdown_p99": "P99", "slowdown_p95": "P95", "slowdown_p50": "Median"}
"""The percentiles in the table of a sweep, highest first, and their titles."""
_NOT_MEASURED = "Slowdown and peak buffer were not measured"
_FAITHFUL = "The verdict is faithful"


def of_run(result: RunResult, flows: pl.DataFrame) -> str:
    """Return the summary of one run. `flows` gives the last completion time and the pauses per flow."""
    return _paragraph(
        result.unfinished_work,
        _tail(result),
        _peak(result),
        _completed(result, flows),
        _pauses(result, flows),
        _drops(result.dropped),
        _resent(result),
        _wall_time(result.wall_s),
        f"The verdict is {result.verdict}{_reason(result.verdict_reasons)}",
    )


def _completed(result: RunResult, flows: pl.DataFrame) -> str:
    total, completed = result.flows.total, result.flows.completed
    if not total:
        return "There were no flows"
    if not completed:
        return "" if result.unfinished else f"None of {amount(total, 'flow')} completed"
    span_us = active_span_us(flows)
    duration = f" in {format_us(span_us)}" if span_us else ""
    if result.unfinished:
        return f"The other {completed:,} completed{duration}"
    if completed < total:
        return f"{completed:,} of {total:,} flows completed{duration}"
    return f"{'The only flow' if total == 1 else f'All {total:,} flows'} completed{duration}"


def _tail(result: RunResult) -> str:
    """Return the P99 slowdown of the run's main traffic class, or its maximum if there are too few flows for a P99."""
    name = headline_class(result)
    figures = result.fct_slowdown.get(name)
    if figures is None or figures.max is None:
        return ""
    flows = "all flows" if name == "all" else f"{name} flows"
    if figures.p99 is not None:
        return f"The P99 slowdown of {flows} is {format_number(figures.p99)}{format_interval(figures.p99_interval)}"
    return f"The maximum slowdown of {flows} is {format_number(figures.max)}"


def _peak(result: RunResult) -> str:
    peaks = {switch: figures.max for switch, figures in result.buffer_bytes.items()}
    if not peaks:
        return "The peak buffer was not measured"
    fullest = max(peaks, key=lambda switch: peaks[switch])
    return f"The peak buffer is {format_bytes(peaks[fullest])} ({fullest})"


def _pauses(result: RunResult, flows: pl.DataFrame) -> str:
    """Return the mean pause per flow, by any mechanism; if flows have no pause times, by the signals alone."""
    paused_by_flow = flows["paused_us"].drop_nulls()
    paused_us = float(paused_by_flow.sum()) if paused_by_flow.len() else result.signals.pause_obeyed_us
    if not paused_us or not result.flows.total:
        return "No flow was paused"
    return f"The mean pause per flow is {format_us(paused_us / result.flows.total)}"


def _drops(dropped: int | None) -> str:
    if dropped is None:
        return "Drops were not counted"
    return f"{_packets(dropped)} dropped" if dropped else "No packet was dropped"


def _packets(number: int) -> str:
    """Return a number of packets and the auxiliary of a passive sentence, such as `2 packets were`."""
    return f"{amount(number, 'packet')} {'was' if number == 1 else 'were'}"


def _resent(result: RunResult) -> str:
    """Return the packets sent again with the reasons; empty if there are none or they were not counted."""
    packets = result.flows.packets_resent
    if not packets:
        return ""
    return f"{_packets(packets)} sent again{in_parentheses(result.resent_by_reason)}"


def in_parentheses(counts: Mapping[str, int]) -> str:
    """Return counts by reason, such as ` (loss 12, reordering 3)`; empty without counts."""
    return f" ({', '.join(f'{reason} {count:,}' for reason, count in counts.items())})" if counts else ""


def _wall_time(wall_s: float | None, title: str = "The wall time") -> str:
    return f"{title} was not measured" if wall_s is None else f"{title} was {wall_s:.1f} s"


def _reason(reasons: Sequence[str]) -> str:
    """Return the first reason, which is the worst, in parentheses. The page lists all reasons below the summary."""
    return f" ({reasons[0].rstrip('.')})" if reasons else ""


def of_comparison(comparison: Comparison) -> str:
    """Return the summary of a comparison: unfinished work, lowest tail slowdown and peak buffer, totals, verdicts."""
    measurements = [
        *_completions(comparison),
        _shortest_tail(comparison),
        _best(list(_figures(comparison, "max_buffer_bytes")), "The peak buffer", format_bytes),
    ]
    walls = [row.wall_s for row in comparison.rows if row.wall_s is not None]
    is_constant = bool(comparison.over_seeds) and all(scheme.is_constant for scheme in comparison.over_seeds)
    return _paragraph(
        unfinished_runs([row.model_dump() for row in comparison.rows], [row.label for row in comparison.rows]),
        *(measurements if any(measurements) else [_not_measured(all(row.flows_unfinished for row in comparison.rows))]),
        _pauses_by_bts([row.model_dump() for row in comparison.rows]),
        _drops_of(comparison),
        resent_in_runs(comparison),
        f"{amount(len(comparison.rows), 'run')} of {comparison.scenario} were compared",
        "The seed changes nothing" if is_constant else "",
        _wall_time(sum(walls) if walls else None),
        trust_in_runs([row.verdict for row in comparison.rows], [row.label for row in comparison.rows]),
    )


def _completions(comparison: Comparison) -> Iterator[str]:
    """Yield the shortest completion time of each traffic class that decides how long the job takes."""
    rows = comparison.decisive_completions
    for tag in dict.fromkeys(row.tag for row in rows):
        name = "all flows" if tag == ALL_CLASSES else tag
        figures = [(row.label, row.took_us, row.took_us is None) for row in rows if row.tag == tag]
        yield _best(figures, f"The completion time of {name}", format_us)


def _shortest_tail(comparison: Comparison) -> str:
    for name, title in (("p99_slowdown", "P99"), ("p95_slowdown", "P95"), ("p50_slowdown", "median")):
        figures = list(_figures(comparison, name))
        intervals = _intervals(comparison, name)
        text = _best(figures, f"The {title} slowdown of {comparison.traffic_class} flows", format_number, intervals)
        if text:
            return text
    return ""


def _intervals(comparison: Comparison, name: str) -> dict[str, str]:
    """Return the interval of a figure as text, by label."""
    if comparison.over_seeds:
        estimates = {scheme.scheme: scheme.figures[name] for scheme in comparison.over_seeds}
        return {
            label: format_interval(estimate.interval if estimate else None) for label, estimate in estimates.items()
        }
    return {row.label: format_interval(row.intervals.get(name)) for row in comparison.rows}


def _best(
    figures: Sequence[tuple[str, float | None, bool]],
    title: str,
    formatted: Callable[[float], str],
    intervals: Mapping[str, str] | None = None,
) -> str:
    """Return the lowest value of a metric next to the first row's. With several seeds, values are means.

    Values that are printed alike count as equal. Rows with unfinished flows are not ranked, because a network that does
    no work has short queues. The text is empty if any other row lacks the metric. `intervals`: the text of the interval
    of each value; of several equal values none is shown.
    """
    after = intervals or {}
    finished = [(label, value) for label, value, unfinished in figures if not unfinished]
    known = [(label, value) for label, value in finished if value is not None]
    if len(known) < 2 or len(known) < len(finished):
        return ""
    texts = {label: formatted(value) for label, value in known}
    base, lowest = next(iter(texts)), formatted(min(value for _, value in known))
    best = [label for label, text in texts.items() if text == lowest]
    among = "" if len(finished) == len(figures) else f" among the {len(finished)} that finished"
    if len(best) == len(texts):
        return f"{title} is the same with {enumeration(best, ' and ')}{among}, {lowest}"
    against = "" if base in best else f" ({base}: {texts[base]}{after.get(base, '')})"
    interval = after.get(best[0], "") if len(best) == 1 else ""
    return f"{title} is lowest with {enumeration(best, ' and ')}{among}, {lowest}{interval}{against}"


def _figures(comparison: Comparison, name: str) -> Iterator[tuple[str, float | None, bool]]:
    """Yield label and value of each row, and whether it has unfinished flows."""
    if comparison.over_seeds:
        for scheme in comparison.over_seeds:
            estimate = scheme.figures[name]
            yield scheme.scheme, None if estimate is None else estimate.mean, scheme.flows_unfinished > 0
        return
    for row in comparison.rows:
        yield row.label, getattr(row, name), row.flows_unfinished > 0


def unfinished_runs(runs: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> str:
    """Return the runs in which flows did not finish, as a sentence without a full stop; empty if there are none."""
    unfinished = [
        f"{label}: {run['flows_completed']:,} of {run['flows_total']:,} flows"
        for run, label in zip(runs, labels, strict=True)
        if run.get("flows_unfinished")
    ]
    if not unfinished:
        return ""
    return (
        f"{len(unfinished):,} of {amount(len(runs), 'run')} did not finish all flows ({enumeration(unfinished, '; ')})"
    )


def _not_measured(is_unfinished: bool) -> str:
    return "No run finished, so none is the best" if is_unfinished else _NOT_MEASURED


def _pauses_by_bts(runs: Sequence[Mapping[str, Any]]) -> str:
    """Return the mean pause per flow in the runs with BTS pauses. Tables of older releases have no pause times."""
    paused = [run for run in runs if run.get("pause_us")]
    if not paused:
        return "No BTS paused a flow"
    mean_us = sum(run["pause_us"] for run in paused) / sum(run["flows_total"] for run in paused)
    number = "run" if len(paused) == 1 else f"{len(paused)} runs"
    where = "" if len(paused) == len(runs) else f" in the {number} with BTS"
    return f"The mean pause per flow{where} is {format_us(mean_us)}"


def _drops_of(comparison: Comparison) -> str:
    counts = [row.drops for row in comparison.rows]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return "Drops were not counted in every run"
    by_run = [f"{row.label} {row.drops:,}" for row in comparison.rows if row.drops]
    return f"{_packets(sum(known))} dropped ({enumeration(by_run)})" if by_run else "No packet was dropped"


def resent_in_runs(comparison: Comparison) -> str:
    """Return the packets sent again in each run, with the reasons; empty if there are none."""
    resent = [row for row in comparison.rows if row.resent]
    if not resent:
        return ""
    by_run = [f"{row.label} {row.resent:,}{_because(row.resent_by_reason)}" for row in resent]
    return f"{_packets(sum(row.resent or 0 for row in resent))} sent again ({enumeration(by_run, '; ')})"


def _because(reasons: Mapping[str, int]) -> str:
    """Return the reasons in the order of their counts, such as `: mostly reordering`."""
    if not reasons:
        return ""
    first = max(reasons, key=lambda reason: reasons[reason])
    return f": {first}" if len(reasons) == 1 else f": mostly {first}"


def of_sweep(sweep: Sweep) -> str:
    """Return the summary of a sweep: unfinished work, ranges of slowdown and peak buffer, totals, and verdicts."""
    runs = sweep.runs.to_dicts()
    labels = [sweep.labels[run["job"]] for run in runs]
    jobs = amount(sweep.table.height, "job")
    counted = jobs if sweep.table.height == len(runs) else f"{jobs} ({amount(len(runs), 'distinct run')})"
    finished = [run for run in runs if not run.get("flows_unfinished")]
    those = "" if len(finished) == len(runs) else f" of the {amount(len(finished), 'run')} that finished"
    tail = next(
        (
            _range(sweep, finished, name, f"The {title.replace('Median', 'median')} slowdown{those}", format_number)
            for name, title in PERCENTILES.items()
            if finished and all(run.get(name) is not None for run in finished)
        ),
        "",
    )
    buffer = _range(sweep, finished, "max_buffer_bytes", f"The peak buffer{those}", format_bytes)
    return _paragraph(
        unfinished_runs(runs, labels),
        *([tail, buffer] if tail or buffer else [_not_measured(not finished)]),
        f"{counted} of {sweep.scenario} were executed",
        "The seed changes nothing" if sweep.seed_changes_nothing else "",
        *_costs(runs),
        trust_in_runs([run["verdict"] for run in runs], labels),
    )


def of_experiment(claims: Mapping[str, str], runs: Sequence[Mapping[str, Any]], trust: str) -> str:
    """Return the summary of an experiment: outcomes by claim, totals over `runs` (rows of runs.csv), `trust`."""
    outcome = tally(claims.values()) or "No claims were evaluated"
    for word in (FAILS, DEPENDS):
        named = [claim for claim, shown in claims.items() if shown.startswith(word)]
        outcome += f". {_verb(word, len(named))}: {'; '.join(named)}" if named else ""
    if not runs:
        return _paragraph(outcome, "No run has completed, so there is no verdict")
    number = f"There {'was' if len(runs) == 1 else 'were'} {amount(len(runs), 'run')}"
    return _paragraph(outcome, number, *_costs(runs), trust)


def _verb(outcome: str, number: int) -> str:
    """Return the beginning of a sentence that lists the claims with an outcome."""
    begin = "This claim" if number == 1 else "These claims"
    verb, _, rest = outcome.partition(" ")
    return f"{begin} {verb if number == 1 else verb.removesuffix('s')}{' ' + rest if rest else ''}"


def of_validation(validation: Validation, outside: Sequence[str]) -> str:
    """Return the summary of a validation: agreement of live and virtual runs, peak buffer error, live wall time.

    `outside` describes every figure outside its tolerance, one entry per figure and run.
    """
    runs, failures = validation.runs, len(validation.failures)
    if not runs:
        return "No live run was compared with a virtual run, so there is no verdict."
    total = sum(len(run.metrics) for run in runs)
    within = f"{total - len(outside):,} of {total:,}" if outside else f"all {total:,}"
    pairs = amount(len(runs), "pair")
    errors = [abs(run.peak_error) for run in runs if run.peak_error is not None]
    if failures:
        trust = f"The comparison is incomplete: {amount(failures, 'pair')} could not be compared"
    else:
        trust = trust_in_runs([run.verdict for run in runs], [run.label for run in runs], "pair")
    return _paragraph(
        f"Live and virtual agree within tolerance in {within} figures of {pairs} of runs",
        f"These are outside tolerance: {enumeration(outside, '; ')}" if outside else "",
        f"The largest difference in peak buffer is {format_share(max(errors))}" if errors else "",
        _wall_time(sum(run.live_wall_s or 0.0 for run in runs), "The wall time of the live runs"),
        trust,
    )


def _costs(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return pauses, drops, packets sent again and wall time over all runs. Older tables have no packets sent again."""
    drops = [run["drops"] or 0 for run in runs]
    affected = sum(count > 0 for count in drops)
    dropped = f"{_packets(sum(drops))} dropped in {amount(affected, 'run')}" if affected else "No packet was dropped"
    resent = sum(run.get("resent") or 0 for run in runs)
    reasons = {reason: sum(run.get(f"resent_{reason}") or 0 for run in runs) for reason in RESENT_REASONS}
    again = f"{_packets(resent)} sent again{in_parentheses({k: n for k, n in reasons.items() if n})}"
    return [
        _pauses_by_bts(runs),
        dropped,
        again if resent else "",
        _wall_time(sum(run["wall_s"] or 0.0 for run in runs)),
    ]


def _range(
    sweep: Sweep, runs: Sequence[Mapping[str, Any]], name: str, title: str, formatted: Callable[[float], str]
) -> str:
    known = [run for run in runs if run.get(name) is not None]
    if not known:
        return ""
    low = min(known, key=lambda run: run[name])
    high = max(known, key=lambda run: run[name])
    if formatted(low[name]) == formatted(high[name]):
        return f"{title} is {formatted(low[name])}"
    ends = (f"{formatted(run[name])} ({sweep.labels[run['job']]})" for run in (low, high))
    return f"{title} is {' to '.join(ends)}"


def trust_in_runs(verdicts: Sequence[Level], labels: Sequence[str], noun: str = "run") -> str:
    """Return the worst verdict among several runs (or pairs of runs), and the runs that have it."""
    by_level: dict[Level, list[str]] = {}
    for verdict, label in zip(verdicts, labels, strict=True):
        by_level.setdefault(verdict, []).append(label)
    for level in ("invalid", "degraded"):
        if level in by_level:
            counted = f"{len(by_level[level])} of {amount(len(verdicts), noun)}"
            return f"The verdict is {level} in {counted} ({enumeration(by_level[level])})"
    return f"{_FAITHFUL} for all {noun}s" if len(verdicts) > 1 else _FAITHFUL


def _paragraph(*sentences: str) -> str:
    return " ".join(f"{sentence}." for sentence in sentences if sentence)
