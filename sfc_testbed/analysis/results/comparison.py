# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Compares several runs: one row per run, ratios to the first run, their meaning, and warnings about differences.

A comparison reads results only, so comparing a hundred runs reads no traces.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sfc_testbed.analysis.formatting import enumeration
from sfc_testbed.analysis.metrics.figures import Figure, Figures, Interval
from sfc_testbed.analysis.metrics.flows import ALL_CLASSES
from sfc_testbed.analysis.results.completions import CompletionRow, completion_rows, decisive_rows
from sfc_testbed.analysis.results.iterations import IterationRow, iteration_figures, iteration_rows
from sfc_testbed.analysis.results.meaning import Completion, Contrast, Ratio, Side, sentence
from sfc_testbed.analysis.results.names import RunNames, differences_of, names_of
from sfc_testbed.analysis.results.outcome import outcome_of
from sfc_testbed.analysis.results.over_seeds import (
    RATIOS,
    Estimate,
    SchemeOverSeeds,
    compared_figures,
    estimate_of,
    intervals_of,
    mean_of,
    over_seeds,
    ratio_of,
    seed_warnings,
)
from sfc_testbed.analysis.results.quantities import Measurements
from sfc_testbed.analysis.results.result import (
    INCAST_TAG,
    MAX_FILE_BYTES,
    RESENT_REASONS,
    Level,
    ResultError,
    RunResult,
    count_of,
    headline_class,
)
from sfc_testbed.request.bounded_file import FileRefused, read_bounded_text
from sfc_testbed.request.checks import refusal
from sfc_testbed.request.spec import BARRIER_TAG, RunConfig
from sfc_testbed.telemetry.atomic_file import replace_text

COMPARISON_FILE = "comparison.json"
_FOLDERS = "folders"
_MOST_JOBS = 3
"""The most jobs that summaries compare."""


class ComparisonRow(Figures):
    """A run in a comparison. Slowdowns are for the main traffic class. Ratios are relative to the first run."""

    label: str
    scheme: str
    variant: str = ""
    """The label without the seed, by which means over seeds are taken."""
    verdict: Level
    flows_completed: int
    flows_total: int
    flows_unfinished: int = 0
    """Flows that did not finish although the scenario runs until all flows are done."""
    max_buffer_bytes: int | None
    p50_slowdown: Figure | None
    p95_slowdown: Figure | None
    p99_slowdown: Figure | None
    intervals: dict[str, Interval | None] = Field(default_factory=dict)
    """The 95 % bootstrap intervals of the percentiles, by `p50_slowdown` and the like; None with too few flows."""
    incast_p50_slowdown: Figure | None
    """The incast's slowdown, if the main traffic class is not the incast; also for the next field."""
    incast_last_slowdown: Figure | None
    """The slowdown of the slowest incast flow."""
    throughput_gbps: Figure
    link_jain_index: Figure | None = None
    link_largest_over_mean: Figure | None = None
    """How evenly equal-cost links were used (`LinkBalance`); None without such links, and in older files."""
    drops: int | None
    resent: int | None
    """Data packets sent again."""
    resent_by_reason: dict[str, int]
    """The packets sent again by reason; empty if there are none, or if the reasons were not counted."""
    packets_reordered: int = 0
    """Packets, without retransmissions, that arrived after a later packet."""
    reordering_max: int = 0
    """The largest distance of one of them, in packets."""
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
    intervals: dict[str, Interval | None] = Field(default_factory=dict)
    """The 95 % intervals of the percentiles: by bootstrap for one run, else of the mean over the seeds."""


class QuantityRow(Figures):
    """A quantity of an extension in one run, or its mean over a scheme's seeds."""

    name: str
    label: str
    value: Figure | None
    over_seeds: Estimate | None = None


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
    differences: tuple[str, ...] = ()
    """A sentence for each setting or option in which the runs differ, except for scheme, program and averaged seeds."""
    missing_schemes: tuple[str, ...] = ()
    """Schemes that were requested but not run."""
    over_seeds: tuple[SchemeOverSeeds, ...] = ()
    """Means and confidence intervals, if schemes were run with several seeds."""
    meaning: tuple[str, ...] = ()
    """Sentences about each scheme except the first, computed from the figures."""
    other_classes: tuple[ClassRow, ...] = ()
    """The slowdown of the traffic classes that are not in `rows`, class by class."""
    completion: tuple[CompletionRow, ...] = ()
    """The completion time of the traffic classes, class by class."""
    iterations: tuple[IterationRow, ...] = ()
    """The iterations of the jobs, job by job."""
    claims: tuple[HeldClaim, ...] = ()
    quantities: tuple[QuantityRow, ...] = ()
    """The quantities of extensions, quantity by quantity."""

    @property
    def claim_rows(self) -> list[tuple[str, str, str, str]]:
        """The claims as table rows: claim, expected, measured, outcome."""
        return [(claim.claim, claim.expected, claim.measured, outcome_of([claim.holds])) for claim in self.claims]

    @property
    def workload(self) -> str:
        """The scenario, and the scheme if all runs have the same and their labels therefore omit it."""
        schemes = {row.scheme for row in self.rows}
        is_omitted = len(schemes) == 1 and not any(row.label.startswith(row.scheme) for row in self.rows)
        return f"{self.scenario}, {schemes.pop()}" if is_omitted else self.scenario

    @property
    def label_heading(self) -> str:
        """The heading of the column with the labels."""
        has_schemes_only = all(row.variant.partition(" (")[0] == row.scheme for row in self.rows)
        return "scheme" if has_schemes_only else "run"

    @property
    def decisive_completions(self) -> list[CompletionRow]:
        """The completion times that summaries compare, or the iterations of the first jobs."""
        return _decisive(self.completion, self.iterations, has_incast=self.has_incast)

    @property
    def has_incast(self) -> bool:
        """Whether there is an incast in addition to the main traffic class."""
        return any(row.incast_last_slowdown is not None for row in self.rows)


def write_comparison(folder: Path, comparison: Comparison, runs: Sequence[Path]) -> None:
    """Write comparison.json, with the folders of the runs relative to its own folder."""
    folders = [Path(os.path.relpath(run, folder)).as_posix() for run in runs]
    content = {**json.loads(comparison.to_json()), _FOLDERS: folders}
    replace_text(folder / COMPARISON_FILE, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def read_comparison(folder: Path) -> tuple[Comparison, list[Path]]:
    """Return a stored comparison and the folders of its runs; no folders if an older release wrote it.

    Raises ResultError, with the file and the reason, if it cannot be read.
    """
    path = folder / COMPARISON_FILE
    try:
        content = json.loads(read_bounded_text(path, MAX_FILE_BYTES))
        folders = [folder / str(name) for name in content.pop(_FOLDERS, ())]
        return Comparison.model_validate(content), folders
    except ValidationError as error:
        raise ResultError(f"{path}: not a comparison ({refusal(error)})") from error
    except (AttributeError, TypeError, RecursionError) as error:
        raise ResultError(f"{path}: not a comparison") from error
    except OSError as error:
        raise ResultError(f"{path}: {error.strerror}") from error
    except (FileRefused, ValueError) as error:
        raise ResultError(f"{path}: not readable ({error})") from error


def compare(
    results: Sequence[RunResult],
    missing_schemes: Sequence[str] = (),
    claims: Sequence[HeldClaim] = (),
    configs: Sequence[RunConfig | None] = (),
    quantities: Sequence[Measurements] = (),
) -> Comparison:
    """Compare at least one result; `missing_schemes` have none. Raises ValueError if `results` is empty.

    `configs`: the configurations of the runs, if the runs may differ in settings. `quantities`: the quantities of
    extensions in each run.
    """
    if not results:
        raise ValueError("no runs to compare")
    traffic_class = headline_class(results[0])
    names = names_of(results, configs)
    labels = names.labels
    rows: list[ComparisonRow] = []
    for label, variant, result in zip(labels, names.variants, results, strict=True):
        rows.append(_row(label, variant, result, traffic_class, rows[0] if rows else None))
    classes = dict.fromkeys(name for result in results for name in result.fct_slowdown if name != ALL_CLASSES)
    averaged = over_seeds(results, names.variants, traffic_class)
    missing = ", ".join(missing_schemes)
    interrupted = [f"Interrupted before these schemes were run: {missing}."] if missing else []
    completion = tuple(completion_rows(results, names, has_seeds=bool(averaged)))
    has_incast = any(row.incast_last_slowdown is not None for row in rows)
    iterations = tuple(iteration_rows(results, names, has_seeds=bool(averaged)))
    decisive = _decisive(completion, iterations, has_incast=has_incast)
    return Comparison(
        scenario=", ".join(dict.fromkeys(result.scenario for result in results)),
        traffic_class=traffic_class,
        traffic_classes=tuple(classes),
        rows=tuple(rows),
        warnings=(
            *interrupted,
            *seed_warnings(averaged),
            *_warnings(results, labels, has_seeds=bool(averaged)),
            *shared_warnings((label, of.failures) for label, of in zip(labels, quantities, strict=False)),
        ),
        differences=tuple(differences_of(results, configs, has_averages=bool(averaged))),
        missing_schemes=tuple(missing_schemes),
        over_seeds=averaged,
        meaning=tuple(filter(None, map(sentence, _contrasts(rows, averaged, traffic_class, decisive)))),
        other_classes=tuple(_other_classes(results, names, classes, traffic_class)),
        completion=completion,
        iterations=iterations,
        claims=tuple(claims),
        quantities=tuple(_quantity_rows(quantities, names.variants if averaged else labels, has_seeds=bool(averaged))),
    )


def _decisive(
    completion: Sequence[CompletionRow], iterations: Sequence[IterationRow], *, has_incast: bool
) -> list[CompletionRow]:
    first = list(dict.fromkeys(row.job for row in iterations))[:_MOST_JOBS]
    of_jobs = [row.as_completion for row in iterations if row.job in first]
    return of_jobs or decisive_rows(completion, has_incast=has_incast)


def _quantity_rows(
    measurements: Sequence[Measurements], labels: Sequence[str], *, has_seeds: bool
) -> Iterator[QuantityRow]:
    """Yield each quantity of each run; with several seeds, its mean over the runs with the same label."""
    for name in dict.fromkeys(name for of in measurements for name in of.values):
        values: dict[str, list[float | None]] = {}
        for label, of in zip(labels, measurements, strict=True):
            values.setdefault(label, []).append(of.values.get(name))
        for label, of_label in values.items():
            mean = estimate_of(of_label) if has_seeds else None
            yield QuantityRow(name=name, label=label, value=mean_of(mean) if mean else of_label[0], over_seeds=mean)


def _contrasts(
    rows: Sequence[ComparisonRow],
    schemes: Sequence[SchemeOverSeeds],
    traffic_class: str,
    completion: Sequence[CompletionRow],
) -> Iterator[Contrast]:
    """Yield the comparison of each scheme with the first by their means over seeds; without seeds, of each run."""
    if schemes:
        means = ({name: mean_of(estimate) for name, estimate in scheme.figures.items()} for scheme in schemes)
        sides = [
            Side(scheme.scheme, figures, scheme.verdict, (scheme.flows_unfinished, scheme.flows_total))
            for scheme, figures in zip(schemes, means, strict=True)
        ]
        for side, scheme in zip(sides[1:], schemes[1:], strict=True):
            by_name = scheme.ratios.items()
            ratios = {name: Ratio.of(ratio) if ratio else None for name, ratio in by_name}
            is_constant = scheme.is_constant and schemes[0].is_constant
            completions = _completions(sides[0], side, completion)
            yield Contrast(sides[0], side, ratios, traffic_class, completions, len(scheme.seeds), is_constant)
        return
    sides = [
        Side(
            row.label,
            row.model_dump(include=set(RATIOS)),
            row.verdict,
            (row.flows_unfinished, row.flows_total),
            row.intervals,
        )
        for row in rows
    ]
    for side, row in zip(sides[1:], rows[1:], strict=True):
        single = {name: None if ratio is None else Ratio(ratio) for name, ratio in row.ratios.items()}
        yield Contrast(sides[0], side, single, traffic_class, _completions(sides[0], side, completion))


def _completions(base: Side, side: Side, rows: Sequence[CompletionRow]) -> list[Completion]:
    """Return the completion times that are known for both sides, with their ratio."""
    took_us = {row.tag: row.took_us for row in rows if row.label == base.scheme}
    completions = []
    for row in rows:
        base_us = took_us.get(row.tag)
        if row.label == side.scheme and row.took_us is not None and base_us is not None and row.ratio is not None:
            ratio = Ratio.of(row.ratio_over_seeds) if row.ratio_over_seeds else Ratio(row.ratio)
            completions.append(Completion(row.tag, row.took_us, base_us, ratio))
    return completions


def _row(label: str, variant: str, result: RunResult, traffic_class: str, first: ComparisonRow | None) -> ComparisonRow:
    figures = compared_figures(result, traffic_class)
    base = figures if first is None else {name: getattr(first, name) for name in RATIOS}
    return ComparisonRow.model_validate(
        {
            **figures,
            "intervals": intervals_of(result, traffic_class),
            "label": label,
            "scheme": result.scheme,
            "variant": variant,
            "verdict": result.verdict,
            "flows_completed": result.flows.completed,
            "flows_total": result.flows.total,
            "flows_unfinished": result.unfinished,
            "resent_by_reason": result.resent_by_reason,
            "packets_reordered": result.reordering.packets if result.reordering else 0,
            "reordering_max": result.reordering.largest if result.reordering else 0,
            "wall_s": result.wall_s,
            "pause_us": result.signals.pause_obeyed_us,
            "ratios": {name: ratio_of(figures[name], base[name]) for name in RATIOS if _exists(name, figures, base)},
        }
    )


def _other_classes(
    results: Sequence[RunResult], names: RunNames, classes: Iterable[str], traffic_class: str
) -> Iterator[ClassRow]:
    for name in classes:
        if name in (traffic_class, INCAST_TAG, BARRIER_TAG):
            continue
        averaged = over_seeds(results, names.variants, name)
        if averaged:
            yield from (_class_over_seeds(name, scheme, names.variants, results) for scheme in averaged)
            continue
        for label, result in zip(names.labels, results, strict=True):
            figures = result.fct_slowdown.get(name)
            if figures is not None:
                yield ClassRow(
                    traffic_class=name,
                    label=label,
                    completed=figures.completed,
                    flows=figures.flows,
                    p50_slowdown=figures.p50,
                    p95_slowdown=figures.p95,
                    p99_slowdown=figures.p99,
                    intervals=intervals_of(result, name),
                )


def _class_over_seeds(
    name: str, scheme: SchemeOverSeeds, variants: Sequence[str], results: Sequence[RunResult]
) -> ClassRow:
    by_run = [
        result.fct_slowdown[name]
        for variant, result in zip(variants, results, strict=True)
        if variant == scheme.scheme and name in result.fct_slowdown
    ]
    estimates = {f"{figure}_slowdown": scheme.figures[f"{figure}_slowdown"] for figure in ("p50", "p95", "p99")}
    return ClassRow(
        traffic_class=name,
        label=scheme.scheme,
        completed=sum(figures.completed for figures in by_run),
        flows=sum(figures.flows for figures in by_run),
        **{name: mean_of(estimate) for name, estimate in estimates.items()},
        intervals={name: estimate.interval if estimate else None for name, estimate in estimates.items()},
    )


def _exists(name: str, figures: Mapping[str, float | None], base: Mapping[str, float | None]) -> bool:
    """Return whether the comparison has a ratio of this figure. Without an incast there are no ratios of the incast."""
    return not name.startswith(INCAST_TAG) or figures[name] is not None or base[name] is not None


def _warnings(results: Sequence[RunResult], labels: Sequence[str], *, has_seeds: bool) -> list[str]:
    warnings = []
    # Each seed draws its own number of flows, the same for every scheme.
    groups = {(result.seed if has_seeds else None): result.flows.total for result in results}
    if any(result.flows.total != groups[result.seed if has_seeds else None] for result in results):
        warnings.append("The runs have different numbers of flows.")
    for label, result in zip(labels, results, strict=True):
        if result.verdict != "faithful":
            warnings.append(f"{label} is {result.verdict}: {' '.join(result.verdict_reasons)}")
    names = [result.variant for result in results] if has_seeds else labels
    warnings_of_runs = (
        (*_overridden(label, result), *result.warnings) for label, result in zip(labels, results, strict=True)
    )
    return [*warnings, *shared_warnings(zip(names, warnings_of_runs, strict=True))]


def _overridden(label: str, result: RunResult) -> Iterator[str]:
    """Yield a sentence for each setting that contradicts the scheme's name, unless the run's label has the setting."""
    for word in result.overridden:
        if word.rpartition(".")[2] not in label:
            yield f"run with {word} instead of what the scheme's name says."


def shared_warnings(warnings_of_runs: Iterable[tuple[str, Iterable[str]]]) -> Iterator[str]:
    """Yield each warning once, with the names of the runs that have it."""
    names_of: dict[str, dict[str, None]] = {}
    for name, warnings in warnings_of_runs:
        for warning in warnings:
            names_of.setdefault(warning, {})[name] = None
    for warning, names in names_of.items():
        yield f"{enumeration(list(names), '; ')}: {warning}"


def result_row(result: RunResult) -> dict[str, object]:
    """Return the figures of a run for a table of many runs."""
    traffic_class = headline_class(result)
    slowdown = result.fct_slowdown.get(traffic_class)
    completion = result.completion.get(ALL_CLASSES) or next(iter(result.completion.values()), None)
    identity = ("scenario", "scheme", "scale", "clock", "dilation", "seed", "verdict")
    figures = ("p50", "p95", "p99", "p99_9", "mean")
    return {
        **{name: getattr(result, name) for name in identity},
        "flows_total": result.flows.total,
        "flows_completed": result.flows.completed,
        "flows_unfinished": result.unfinished,
        "traffic_class": traffic_class,
        **{f"slowdown_{name}": getattr(slowdown, name) if slowdown else None for name in figures},
        "max_buffer_bytes": result.max_buffer_bytes,
        "throughput_gbps": result.throughput_gbps,
        "link_jain_index": result.link_balance.jain_index if result.link_balance else None,
        "link_largest_over_mean": result.link_balance.largest_over_mean if result.link_balance else None,
        "completion_us": completion.took_us if completion else None,
        "completion_ideal_us": completion.ideal_us if completion else None,
        "completion_slowdown": completion.slowdown if completion else None,
        **iteration_figures(result),
        "drops": result.dropped,
        "resent": result.flows.packets_resent,
        **{f"resent_{reason}": count_of(result.resent, reason) for reason in RESENT_REASONS},
        "packets_reordered": result.reordering.packets if result.reordering else 0,
        "reordering_max": result.reordering.largest if result.reordering else 0,
        "reordering_mean": result.reordering.mean if result.reordering else 0.0,
        "bts_sent": count_of(result.bts, "sent"),
        "bts_suppressed": count_of(result.bts, "suppressed"),
        "cache_hits": count_of(result.bts, "cache_hits"),
        "pfc_sent": count_of(result.pfc, "sent"),
        "pause_us": result.signals.pause_obeyed_us,
        "wall_s": result.wall_s,
        "warnings": "\n".join(result.warnings),
    }
