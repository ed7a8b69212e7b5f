# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The completion time of traffic classes, compared between runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from sfc_testbed.analysis.metrics.figures import Figure, Figures
from sfc_testbed.analysis.metrics.flows import ALL_CLASSES, CompletionFigures
from sfc_testbed.analysis.results.names import RunNames
from sfc_testbed.analysis.results.over_seeds import Estimate, estimate_of, geometric_estimate, mean_of, ratio_of
from sfc_testbed.analysis.results.result import RunResult


class CompletionRow(Figures):
    """The completion of all messages of a traffic class in one run, or the mean over a scheme's seeds."""

    tag: str
    """The traffic class."""
    label: str
    took_us: Figure | None
    """Time from the first ready message to the last acknowledgement; None if not all messages finished."""
    ideal_us: Figure | None
    """The ideal of messages that wait for others; None for other messages."""
    slowdown: Figure | None
    ratio: Figure | None
    """`took_us` relative to the first run; with several seeds, the geometric mean of the ratios per seed."""
    took: Estimate | None = None
    """`took_us` with its interval over the seeds; None with a single seed, or if not all messages finished."""
    ratio_over_seeds: Estimate | None = None
    """`ratio` with its interval over the seeds."""


def runs_by_seed(results: Sequence[RunResult], names: RunNames, *, has_seeds: bool) -> dict[str, dict[int, RunResult]]:
    """Return the runs by name and seed; without means over seeds, each run has its own name and the seed 0."""
    runs: dict[str, dict[int, RunResult]] = {}
    for label, variant, result in zip(names.labels, names.variants, results, strict=True):
        name, seed = (variant, result.seed) if has_seeds else (label, 0)
        runs.setdefault(name, {})[seed] = result
    return runs


def completion_rows(results: Sequence[RunResult], names: RunNames, *, has_seeds: bool) -> Iterator[CompletionRow]:
    """Yield the rows class by class, in the order of the runs. Results of older releases may have no rows."""
    runs = runs_by_seed(results, names, has_seeds=has_seeds)
    for tag in dict.fromkeys(tag for result in results for tag in result.completion):
        base: Mapping[int, CompletionFigures] | None = None
        for name, by_seed in runs.items():
            figures_of = {seed: run.completion[tag] for seed, run in by_seed.items() if tag in run.completion}
            base = figures_of if base is None else base
            if figures_of:
                yield _row(tag, name, figures_of, base)


def decisive_rows(rows: Sequence[CompletionRow], *, has_incast: bool) -> list[CompletionRow]:
    """Return the rows that decide how long the job takes: of dependent messages, or else of all flows.

    Beside an incast, messages that do not wait complete when the traffic ends, so none of their rows is decisive.
    """
    dependent = [row for row in rows if row.ideal_us is not None]
    if dependent or has_incast:
        return dependent
    return [row for row in rows if row.tag == ALL_CLASSES] or list(rows)


def _row(
    tag: str, label: str, figures_of: Mapping[int, CompletionFigures], base: Mapping[int, CompletionFigures]
) -> CompletionRow:
    took = complete([figures.took_us for figures in figures_of.values()])
    pairs = [(figures, base.get(seed)) for seed, figures in figures_of.items()]
    ratio = complete([ratio_of(figures.took_us, other.took_us if other else None) for figures, other in pairs])
    took_estimate, ratio_estimate = estimate_of(took), geometric_estimate(ratio)
    has_seeds = len(figures_of) > 1
    return CompletionRow(
        tag=tag,
        label=label,
        took_us=mean_of(took_estimate),
        ideal_us=mean_of_all([figures.ideal_us for figures in figures_of.values()]),
        slowdown=mean_of_all([figures.slowdown for figures in figures_of.values()]),
        ratio=mean_of(ratio_estimate),
        took=took_estimate if has_seeds else None,
        ratio_over_seeds=ratio_estimate if has_seeds else None,
    )


def mean_of_all(values: Sequence[float | None]) -> float | None:
    known = complete(values)
    return fmean(known) if known else None


def complete(values: Sequence[float | None]) -> list[float]:
    """Return the values, or none if one is missing: the remaining values would describe other flows."""
    known = [value for value in values if value is not None]
    return known if len(known) == len(values) else []
