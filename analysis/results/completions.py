# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The completion time of dependent messages by tag, compared between runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, geometric_mean

from analysis.metrics.figures import Figure, Figures
from analysis.metrics.flows import CompletionFigures
from analysis.results.result import RunResult


class CompletionRow(Figures):
    """The completion of all messages of a tag in one run, or the mean over a scheme's seeds."""

    tag: str
    label: str
    took_us: Figure | None
    """Time from the first ready message to the last acknowledgement; None if not all messages finished."""
    ideal_us: Figure
    slowdown: Figure | None
    ratio: Figure | None
    """`took_us` relative to the first run; with several seeds, the geometric mean of the ratios per seed."""


def completion_rows(results: Sequence[RunResult], labels: Sequence[str], *, has_seeds: bool) -> Iterator[CompletionRow]:
    """Yield the rows tag by tag, in the order of the runs. Runs without dependent messages have no rows."""
    runs: dict[str, dict[int, RunResult]] = {}
    for label, result in zip(labels, results, strict=True):
        name, seed = (result.variant, result.seed) if has_seeds else (label, 0)
        runs.setdefault(name, {})[seed] = result
    for tag in dict.fromkeys(tag for result in results for tag in result.completion):
        base: Mapping[int, CompletionFigures] | None = None
        for name, by_seed in runs.items():
            figures_of = {seed: run.completion[tag] for seed, run in by_seed.items() if tag in run.completion}
            base = figures_of if base is None else base
            if figures_of:
                yield _row(tag, name, figures_of, base)


def _row(
    tag: str, label: str, figures_of: Mapping[int, CompletionFigures], base: Mapping[int, CompletionFigures]
) -> CompletionRow:
    ratios = [_ratio(figures, base.get(seed)) for seed, figures in figures_of.items()]
    known = [ratio for ratio in ratios if ratio is not None]
    return CompletionRow(
        tag=tag,
        label=label,
        took_us=_mean([figures.took_us for figures in figures_of.values()]),
        ideal_us=fmean(figures.ideal_us for figures in figures_of.values()),
        slowdown=_mean([figures.slowdown for figures in figures_of.values()]),
        ratio=geometric_mean(known) if len(known) == len(ratios) else None,
    )


def _ratio(figures: CompletionFigures, base: CompletionFigures | None) -> float | None:
    """Return the ratio of completion times, or None if either run did not finish."""
    return figures.took_us / base.took_us if figures.took_us and base is not None and base.took_us else None


def _mean(values: Sequence[float | None]) -> float | None:
    """Return the mean, or None if a value is missing: the remaining values would describe other flows."""
    known = [value for value in values if value is not None]
    return fmean(known) if known and len(known) == len(values) else None
