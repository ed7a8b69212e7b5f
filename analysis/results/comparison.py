# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares several runs: one row per run, ratios to the first run, their meaning, and warnings about differences.

A comparison reads results only, so comparing a hundred runs reads no traces.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel, ConfigDict

from analysis.metrics.figures import Figure, Figures
from analysis.metrics.flows import ALL_CLASSES
from analysis.results.completions import CompletionRow, completion_rows
from analysis.results.meaning import Contrast, Ratio, Side, sentence
from analysis.results.outcome import outcome_of
from analysis.results.over_seeds import (
    INCAST_TAG,
    RATIOS,
    SchemeOverSeeds,
    compared_figures,
    mean_of,
    over_seeds,
    ratio_of,
)
from analysis.results.result import Level, RunResult, count_of

_LABEL_FIELDS = ("scenario", "scale", "switch", "clock", "dilation", "seed")
_ALIKE_FIELDS = ("scenario", "scale", "switch", "clock", "seed")


class ComparisonRow(Figures):
    """A run in a comparison. Slowdowns are for the main traffic class. Ratios are relative to the first run."""

    label: str
    scheme: str
    verdict: Level
    flows_completed: int
    flows_total: int
    max_buffer_bytes: int | None
    p50_slowdown: Figure | None
    p95_slowdown: Figure | None
    p99_slowdown: Figure | None
    incast_p50_slowdown: Figure | None
    """The incast's slowdown, if the main traffic class is not the incast; also for the next field."""
    incast_last_slowdown: Figure | None
    """The slowdown of the slowest incast flow."""
    throughput_gbps: Figure
    drops: int | None
    bts_sent: int | None
    pfc_sent: int | None
    wall_s: Figure | None
    pause_us: Figure
    """The total time for which flows were paused by BTS."""
    ratios: dict[str, Figure | None]


class ClassRow(Figures):
    """The slowdown of one traffic class in one run, or the mean over a scheme's seeds."""

    traffic_class: str
    label: str
    completed: int
    flows: int
    p50_slowdown: Figure | None
    p95_slowdown: Figure | None
    p99_slowdown: Figure | None


class HeldClaim(BaseModel):
    """A claim about the runs, with the expected and the measured value."""

    model_config = ConfigDict(frozen=True)

    claim: str
    expected: str
    measured: str
    value: Figure | None
    holds: bool


class Comparison(Figures):
    """Runs in the order given."""

    scenario: str
    traffic_class: str
    traffic_classes: tuple[str, ...]
    rows: tuple[ComparisonRow, ...]
    warnings: tuple[str, ...]
    missing_schemes: tuple[str, ...] = ()
    """Schemes that were requested but not run."""
    over_seeds: tuple[SchemeOverSeeds, ...] = ()
    """Means and confidence intervals, if schemes were run with several seeds."""
    meaning: tuple[str, ...] = ()
    """Sentences about each scheme except the first, computed from the figures."""
    other_classes: tuple[ClassRow, ...] = ()
    """The slowdown of the traffic classes that are not in `rows`, class by class."""
    completion: tuple[CompletionRow, ...] = ()
    """The completion time of dependent messages, tag by tag."""
    claims: tuple[HeldClaim, ...] = ()

    @property
    def claim_rows(self) -> list[tuple[str, str, str, str]]:
        """The claims as table rows: claim, expected, measured, outcome."""
        return [(claim.claim, claim.expected, claim.measured, outcome_of([claim.holds])) for claim in self.claims]

    @property
    def has_incast(self) -> bool:
        """Whether there is an incast in addition to the main traffic class."""
        return any(row.incast_last_slowdown is not None for row in self.rows)


def headline_class(result: RunResult) -> str:
    """Return the main traffic class: the one with the most flows except the incast, or `all` if there is none."""
    names = [name for name in result.fct_slowdown if name not in (ALL_CLASSES, INCAST_TAG)]
    if not names:
        return next(iter(result.fct_slowdown), ALL_CLASSES)
    return max(names, key=lambda name: result.fct_slowdown[name].flows)


def compare(
    results: Sequence[RunResult], missing_schemes: Sequence[str] = (), claims: Sequence[HeldClaim] = ()
) -> Comparison:
    """Compare at least one result; `missing_schemes` have none. Raises ValueError if `results` is empty."""
    if not results:
        raise ValueError("no runs to compare")
    traffic_class = headline_class(results[0])
    labels = run_labels(results)
    rows: list[ComparisonRow] = []
    for label, result in zip(labels, results, strict=True):
        rows.append(_row(label, result, traffic_class, rows[0] if rows else None))
    classes = dict.fromkeys(name for result in results for name in result.fct_slowdown if name != ALL_CLASSES)
    averaged = over_seeds(results, traffic_class)
    names = ", ".join(missing_schemes)
    interrupted = [f"Interrupted before these schemes were run: {names}."] if names else []
    return Comparison(
        scenario=", ".join(dict.fromkeys(result.scenario for result in results)),
        traffic_class=traffic_class,
        traffic_classes=tuple(classes),
        rows=tuple(rows),
        warnings=(*interrupted, *_warnings(results, labels, has_seeds=bool(averaged))),
        missing_schemes=tuple(missing_schemes),
        over_seeds=averaged,
        meaning=tuple(filter(None, map(sentence, _contrasts(rows, averaged, traffic_class)))),
        other_classes=tuple(_other_classes(results, labels, classes, traffic_class)),
        completion=tuple(completion_rows(results, labels, has_seeds=bool(averaged))),
        claims=tuple(claims),
    )


def _contrasts(
    rows: Sequence[ComparisonRow], schemes: Sequence[SchemeOverSeeds], traffic_class: str
) -> Iterator[Contrast]:
    """Yield the comparison of each scheme with the first by their means over seeds; without seeds, of each run."""
    if schemes:
        means = ({name: mean_of(estimate) for name, estimate in scheme.figures.items()} for scheme in schemes)
        sides = [Side(scheme.scheme, figures, scheme.verdict) for scheme, figures in zip(schemes, means, strict=True)]
        for side, scheme in zip(sides[1:], schemes[1:], strict=True):
            by_name = scheme.ratios.items()
            ratios = {name: Ratio(ratio.mean, ratio.interval) if ratio else None for name, ratio in by_name}
            yield Contrast(sides[0], side, ratios, traffic_class, len(scheme.seeds))
        return
    sides = [Side(row.label, row.model_dump(include=set(RATIOS)), row.verdict) for row in rows]
    for side, row in zip(sides[1:], rows[1:], strict=True):
        single = {name: None if ratio is None else Ratio(ratio) for name, ratio in row.ratios.items()}
        yield Contrast(sides[0], side, single, traffic_class)


def run_labels(results: Sequence[RunResult]) -> list[str]:
    """Return a unique label for each run: scheme and program, then the settings that differ, then a number."""
    differing = [name for name in _LABEL_FIELDS if len({getattr(result, name) for result in results}) > 1]
    variants = Counter(result.variant for result in results)
    labels = []
    for result in results:
        parts = [result.variant]
        if variants[result.variant] > 1:
            parts += [f"{name} {getattr(result, name)}" for name in differing]
        labels.append(", ".join(parts))
    repeated = Counter(labels)
    seen: Counter[str] = Counter()
    for number, label in enumerate(labels):
        if repeated[label] > 1:
            seen[label] += 1
            labels[number] = f"{label} #{seen[label]}"
    return labels


def _row(label: str, result: RunResult, traffic_class: str, first: ComparisonRow | None) -> ComparisonRow:
    figures = compared_figures(result, traffic_class)
    base = figures if first is None else {name: getattr(first, name) for name in RATIOS}
    return ComparisonRow.model_validate(
        {
            **figures,
            "label": label,
            "scheme": result.scheme,
            "verdict": result.verdict,
            "flows_completed": result.flows.completed,
            "flows_total": result.flows.total,
            "wall_s": result.wall_s,
            "pause_us": result.signals.pause_obeyed_us,
            "ratios": {name: ratio_of(figures[name], base[name]) for name in RATIOS if _exists(name, figures, base)},
        }
    )


def _other_classes(
    results: Sequence[RunResult], labels: Sequence[str], classes: Iterable[str], traffic_class: str
) -> Iterator[ClassRow]:
    for name in classes:
        if name in (traffic_class, INCAST_TAG):
            continue
        averaged = over_seeds(results, name)
        if averaged:
            yield from (_class_over_seeds(name, scheme, results) for scheme in averaged)
            continue
        for label, result in zip(labels, results, strict=True):
            figures = result.fct_slowdown.get(name)
            if figures is not None:
                percentiles = (figures.p50, figures.p95, figures.p99)
                yield _class_row(name, label, figures.completed, figures.flows, percentiles)


def _class_over_seeds(name: str, scheme: SchemeOverSeeds, results: Sequence[RunResult]) -> ClassRow:
    by_run = [
        result.fct_slowdown[name]
        for result in results
        if result.variant == scheme.scheme and name in result.fct_slowdown
    ]
    estimates = (scheme.figures[f"{figure}_slowdown"] for figure in ("p50", "p95", "p99"))
    means = tuple(map(mean_of, estimates))
    completed, flows = sum(figures.completed for figures in by_run), sum(figures.flows for figures in by_run)
    return _class_row(name, scheme.scheme, completed, flows, means)


def _class_row(name: str, label: str, completed: int, flows: int, percentiles: Sequence[float | None]) -> ClassRow:
    p50, p95, p99 = percentiles
    return ClassRow(
        traffic_class=name,
        label=label,
        completed=completed,
        flows=flows,
        p50_slowdown=p50,
        p95_slowdown=p95,
        p99_slowdown=p99,
    )


def _exists(name: str, figures: Mapping[str, float | None], base: Mapping[str, float | None]) -> bool:
    """Return whether the comparison has a ratio of this figure. Without an incast there are no ratios of the incast."""
    return not name.startswith(INCAST_TAG) or figures[name] is not None or base[name] is not None


def _warnings(results: Sequence[RunResult], labels: Sequence[str], *, has_seeds: bool) -> list[str]:
    warnings = []
    for name in (name for name in _ALIKE_FIELDS if not (has_seeds and name == "seed")):
        values = list(dict.fromkeys(str(getattr(result, name)) for result in results))
        if len(values) > 1:
            warnings.append(f"The runs differ in {name}: {', '.join(values)}.")
    # Each seed draws its own number of flows, the same for every scheme.
    groups = {(result.seed if has_seeds else None): result.flows.total for result in results}
    if any(result.flows.total != groups[result.seed if has_seeds else None] for result in results):
        warnings.append("The runs have different numbers of flows.")
    for label, result in zip(labels, results, strict=True):
        if result.verdict != "faithful":
            warnings.append(f"{label} is {result.verdict}: {' '.join(result.verdict_reasons)}")
        warnings += [f"{label}: {warning}" for warning in result.warnings]
    return warnings


def result_row(result: RunResult) -> dict[str, object]:
    """Return the figures of a run for a table of many runs."""
    traffic_class = headline_class(result)
    slowdown = result.fct_slowdown.get(traffic_class)
    completion = result.completion.get(traffic_class)
    identity = ("scenario", "scheme", "scale", "clock", "dilation", "seed", "verdict")
    figures = ("p50", "p95", "p99", "p99_9", "mean")
    return {
        **{name: getattr(result, name) for name in identity},
        "flows_total": result.flows.total,
        "flows_completed": result.flows.completed,
        "traffic_class": traffic_class,
        **{f"slowdown_{name}": getattr(slowdown, name) if slowdown else None for name in figures},
        "max_buffer_bytes": result.max_buffer_bytes,
        "throughput_gbps": result.throughput_gbps,
        "completion_us": completion.took_us if completion else None,
        "completion_ideal_us": completion.ideal_us if completion else None,
        "completion_slowdown": completion.slowdown if completion else None,
        "drops": result.dropped,
        "bts_sent": count_of(result.bts, "sent"),
        "bts_suppressed": count_of(result.bts, "suppressed"),
        "cache_hits": count_of(result.bts, "cache_hits"),
        "pfc_sent": count_of(result.pfc, "sent"),
        "pause_us": result.signals.pause_obeyed_us,
        "wall_s": result.wall_s,
    }
