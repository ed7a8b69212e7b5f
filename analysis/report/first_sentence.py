# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The sentence that a page begins with: what happened, what it cost, and whether to believe it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from analysis.formatting import format_bytes, format_number, format_share, format_us
from analysis.metrics.flows import active_span_us
from analysis.results.comparison import Comparison, headline_class
from analysis.results.result import Level, RunResult
from analysis.results.swept import Sweep
from analysis.validation.record import Validation

_TRUST: Mapping[Level, str] = {
    "faithful": "believe it: it is faithful",
    "degraded": "believe it with care: it is degraded",
    "invalid": "do not believe it: it is invalid",
}
_MOST_NAMED = 3


def of_run(result: RunResult, flows: pl.DataFrame) -> str:
    """Of one run; the flows tell when the last was done, and the pauses where switches pause whole classes."""
    happened = f"{_finish(result, flows)}{_tail(result)}, and {_peak(result)}"
    cost = _listed([_pauses(result, flows), _drops(result.dropped), _wall(result.wall_s)])
    return f"{happened}, at the cost of {cost}; {_TRUST[result.verdict]}{_reason(result.verdict_reasons)}."


def _finish(result: RunResult, flows: pl.DataFrame) -> str:
    total, completed = result.flows.total, result.flows.completed
    if not total:
        return "There was no flow"
    if not completed:
        return f"None of {_counted(total, 'flow')} finished"
    span_us = active_span_us(flows)
    within = f" within {format_us(span_us)}" if span_us else ""
    if completed < total:
        return f"{completed:,} of {total:,} flows finished{within}"
    return f"{'The one flow' if total == 1 else f'All {total:,} flows'} finished{within}"


def _tail(result: RunResult) -> str:
    """The P99 of the class that stands for the run; the slowest where it is too small for one."""
    name = headline_class(result)
    figures = result.fct_slowdown.get(name)
    if figures is None or figures.max is None:
        return ""
    flows = "flows" if name == "all" else f"{name} flows"
    if figures.p99 is not None:
        return f", 99 % of the {flows} in at most {format_number(figures.p99)}x of their ideal time"
    return f", the slowest of the {flows} in {format_number(figures.max)}x of its ideal time"


def _peak(result: RunResult) -> str:
    peaks = {switch: figures.max for switch, figures in result.buffer_bytes.items()}
    if not peaks:
        return "no switch left a sample of its buffer"
    fullest = max(peaks, key=lambda switch: peaks[switch])
    return f"the fullest switch, {fullest}, held up to {format_bytes(peaks[fullest])}"


def _pauses(result: RunResult, flows: pl.DataFrame) -> str:
    """Of all flows, by whatever paused them; where that was not counted, what the signals say."""
    counted = flows["paused_us"].drop_nulls()
    paused_us = float(counted.sum()) if counted.len() else result.signals.pause_obeyed_us
    if not paused_us or not result.flows.total:
        return "no pauses"
    return f"pauses of {format_us(paused_us / result.flows.total)} a flow"


def _drops(dropped: int | None) -> str:
    if dropped is None:
        return "drops that nobody counted"
    return _counted(dropped, "dropped packet") if dropped else "no drops"


def _wall(wall_s: float | None) -> str:
    return "wall time that nobody took" if wall_s is None else f"{wall_s:.1f} s of wall time"


def _reason(reasons: Sequence[str]) -> str:
    """The first, which is the worst; all stand below it."""
    if not reasons:
        return ""
    first = reasons[0]
    return f", for {first[:1].lower()}{first[1:].rstrip('.')}"


def of_comparison(comparison: Comparison) -> str:
    """Of several runs: who did best by buffer and tail, against the first; what it cost; which runs cannot be used."""
    runs = _counted(len(comparison.rows), "run")
    found = [_best(comparison, "max_buffer_bytes", "the smallest peak buffer"), _shortest_tail(comparison)]
    happened = " and ".join(filter(None, found)) or "nothing was measured"
    walls = [row.wall_s for row in comparison.rows if row.wall_s is not None]
    pauses = _pauses_by_bts([row.model_dump() for row in comparison.rows])
    cost = _listed([pauses, _drops_of(comparison), _wall(sum(walls) if walls else None)])
    return f"Of {runs} of {comparison.scenario}, {happened}, at the cost of {cost}; {_trust_in(comparison)}."


def _shortest_tail(comparison: Comparison) -> str:
    for name, title in (("p99_slowdown", "P99"), ("p95_slowdown", "P95"), ("p50_slowdown", "median")):
        said = _best(comparison, name, f"the lowest {title} slowdown of {comparison.traffic_class} flows")
        if said:
            return said
    return ""


def _best(comparison: Comparison, name: str, title: str) -> str:
    """Who has the lowest figure, and that of the first; means over several seeds. Nothing if one lacks it."""
    figures = {label: value for label, value in _figures(comparison, name) if value is not None}
    if len(figures) < 2 or len(figures) < len(list(_figures(comparison, name))):
        return ""
    shown: Callable[[float], str] = format_bytes if name.endswith("_bytes") else format_number
    base, best = next(iter(figures)), min(figures, key=lambda label: figures[label])
    if best == base:
        return f"{base} had {title} ({shown(figures[base])})"
    return f"{best} had {title} ({shown(figures[best])}, {base} {shown(figures[base])})"


def _figures(comparison: Comparison, name: str) -> Iterator[tuple[str, float | None]]:
    if comparison.over_seeds:
        for scheme in comparison.over_seeds:
            estimate = scheme.figures[name]
            yield scheme.scheme, None if estimate is None else estimate.mean
        return
    for row in comparison.rows:
        yield row.label, getattr(row, name)


def _pauses_by_bts(runs: Sequence[Mapping[str, Any]]) -> str:
    """In the mean of those runs that had any; tables of older releases do not tell."""
    paused = [run for run in runs if run.get("pause_us")]
    if not paused:
        return "no pauses by BTS"
    mean_us = sum(run["pause_us"] for run in paused) / sum(run["flows_total"] for run in paused)
    number = "run" if len(paused) == 1 else f"{len(paused)} runs"
    where = "" if len(paused) == len(runs) else f" in the {number} with BTS"
    return f"pauses of {format_us(mean_us)} a flow{where}"


def _drops_of(comparison: Comparison) -> str:
    counts = [row.drops for row in comparison.rows]
    known = [count for count in counts if count is not None]
    if len(known) < len(counts):
        return "drops that nobody counted"
    hit = [f"{row.label} {row.drops:,}" for row in comparison.rows if row.drops]
    return f"{_counted(sum(known), 'dropped packet')} ({_some(hit)})" if hit else "no drops"


def of_sweep(sweep: Sweep) -> str:
    """Of many runs: between which places the figures lie, what they cost in all, and how many can be used."""
    runs = sweep.runs.to_dicts()
    jobs = _counted(sweep.table.height, "job")
    counted = jobs if sweep.table.height == len(runs) else f"{jobs}, which are {_counted(len(runs), 'run')},"
    buffer = _range(sweep, runs, "max_buffer_bytes", "the fullest switch held", format_bytes)
    tail = _range(sweep, runs, "slowdown_p99", "the P99 slowdown was", format_number) or _range(
        sweep, runs, "slowdown_p50", "the median slowdown was", format_number
    )
    happened = " and ".join(filter(None, (buffer, tail))) or "nothing was measured"
    trust = trust_in_runs([run["verdict"] for run in runs], [sweep.labels[run["job"]] for run in runs])
    return f"In {counted} of {sweep.scenario}, {happened}, at the cost of {_listed(_costs(runs))}; {trust}."


def of_experiment(claims: Mapping[str, bool], runs: Sequence[Mapping[str, Any]], trust: str) -> str:
    """Of an experiment: which claims do not hold, by name; what its runs (rows of runs.csv) cost; `trust` in them."""
    failing = [claim for claim, holds in claims.items() if not holds]
    counted = _counted(len(claims), "claim")
    if not claims:
        happened = "No claim was judged"
    elif not failing:
        happened = f"All {counted} hold" if len(claims) > 1 else "The one claim holds"
    else:
        verb = "holds" if len(claims) - len(failing) == 1 else "hold"
        happened = f"{len(claims) - len(failing)} of {counted} {verb} (not that {'; nor that '.join(failing)})"
    if not runs:
        return f"{happened}; no run is complete, so there is nothing to believe."
    costs = _listed([_counted(len(runs), "run"), *_costs(runs)])
    return f"{happened}, at the cost of {costs}; {trust}."


def of_validation(validation: Validation, outside: Sequence[str]) -> str:
    """Of runs on both clocks: in how many figures they agree, which are `outside` their tolerance (in words), how far
    the peak buffers are apart, what the live runs took. `outside` has one entry for every such figure of every run."""
    runs, failures = validation.runs, len(validation.failures)
    if not runs:
        return "No live run was held against a virtual one, so there is nothing to believe."
    total = sum(len(run.metrics) for run in runs)
    agreed = f"{total - len(outside):,} of {total:,}" if outside else f"all {total:,}"
    but = f" (not in {_some(outside, '; ')})" if outside else ""
    errors = [abs(run.peak_error) for run in runs if run.peak_error is not None]
    peak = f", their peak buffers are at most {format_share(max(errors))} apart" if errors else ""
    cost = _wall(sum(run.live_wall_s or 0.0 for run in runs))
    if failures:
        trust = f"do not believe it: {failures} more could not be compared"
    else:
        trust = trust_in_runs([run.verdict for run in runs], [run.label for run in runs], "pair")
    happened = (
        f"Live and virtual agree, within tolerances, in {agreed} figures of {_counted(len(runs), 'pair')} of runs"
    )
    return f"{happened}{but}{peak}, at the cost of {cost} live; {trust}."


def _costs(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of many runs together: pauses, drops, wall time."""
    drops = [run["drops"] or 0 for run in runs]
    hit = sum(count > 0 for count in drops)
    dropped = f"{_counted(sum(drops), 'dropped packet')} in {_counted(hit, 'run')}" if hit else "no drops"
    return [_pauses_by_bts(runs), dropped, _wall(sum(run["wall_s"] or 0.0 for run in runs))]


def _range(
    sweep: Sweep, runs: Sequence[Mapping[str, Any]], name: str, title: str, shown: Callable[[float], str]
) -> str:
    known = [run for run in runs if run.get(name) is not None]
    if not known:
        return ""
    low = min(known, key=lambda run: run[name])
    high = max(known, key=lambda run: run[name])
    if low[name] == high[name]:
        return f"{title} {shown(low[name])}"
    ends = (f"{shown(run[name])} ({sweep.labels[run['job']]})" for run in (low, high))
    return f"{title} from {' to '.join(ends)}"


def _trust_in(comparison: Comparison) -> str:
    return trust_in_runs([row.verdict for row in comparison.rows], [row.label for row in comparison.rows])


def trust_in_runs(verdicts: Sequence[Level], labels: Sequence[str], noun: str = "run") -> str:
    """Whether several runs, or pairs of them, can be believed, and which cannot."""
    named: dict[Level, list[str]] = {}
    for verdict, label in zip(verdicts, labels, strict=True):
        named.setdefault(verdict, []).append(label)
    for level, advice in (("invalid", "do not believe it"), ("degraded", "believe it with care")):
        if level in named:
            verb = "is" if len(named[level]) == 1 else "are"
            counted = f"{len(named[level])} of {_counted(len(verdicts), noun)}"
            return f"{advice}: {counted} {verb} {level} ({_some(named[level])})"
    who = f"all {noun}s are" if len(verdicts) > 1 else f"the {noun} is"
    return f"believe it: {who} faithful, with every packet accounted for and none too late"


def _some(names: Sequence[str], separator: str = ", ") -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{separator.join(names[:_MOST_NAMED])}{more}"


def _listed(parts: Sequence[str]) -> str:
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
