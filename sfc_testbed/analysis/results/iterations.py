# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The iterations of jobs, compared between runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from sfc_testbed.analysis.metrics.figures import Figure, Figures
from sfc_testbed.analysis.metrics.iterations import JobFigures
from sfc_testbed.analysis.results.completions import CompletionRow, complete, mean_of_all, runs_by_seed
from sfc_testbed.analysis.results.names import RunNames
from sfc_testbed.analysis.results.over_seeds import Estimate, estimate_of, geometric_estimate, mean_of, ratio_of
from sfc_testbed.analysis.results.result import RunResult


class IterationRow(Figures):
    """The iterations of a job in one run, or their means over a scheme's seeds. Ratios are relative to the first run.

    A figure is None if an iteration did not finish, in any of the runs.
    """

    job: str
    """The job's number, collective and algorithm."""
    label: str
    mean_us: Figure | None
    max_us: Figure | None
    ideal_us: Figure | None
    slowdown: Figure | None
    busbw_gbytes_per_s: Figure | None
    ratio: Figure | None
    """The ratio of `mean_us`; with several seeds, the geometric mean of the ratios per seed."""
    busbw_ratio: Figure | None
    mean: Estimate | None = None
    """`mean_us` with its interval over the seeds; None with a single seed. The same holds for the next three fields."""
    busbw: Estimate | None = None
    ratio_over_seeds: Estimate | None = None
    busbw_ratio_over_seeds: Estimate | None = None

    @property
    def as_completion(self) -> CompletionRow:
        """The mean time as the completion of a traffic class, for sentences about completion times."""
        return CompletionRow(
            tag=f"an iteration of job {self.job.partition(' ')[0]}",
            label=self.label,
            took_us=self.mean_us,
            ideal_us=self.ideal_us,
            slowdown=self.slowdown,
            ratio=self.ratio,
            took=self.mean,
            ratio_over_seeds=self.ratio_over_seeds,
        )


def iteration_rows(results: Sequence[RunResult], names: RunNames, *, has_seeds: bool) -> Iterator[IterationRow]:
    """Yield the rows job by job, in the order of the runs."""
    runs = runs_by_seed(results, names, has_seeds=has_seeds)
    for number in sorted({job.job for result in results for job in result.jobs}):
        base: Mapping[int, JobFigures] | None = None
        for name, by_seed in runs.items():
            figures_of = {seed: job for seed, result in by_seed.items() for job in result.jobs if job.job == number}
            base = figures_of if base is None else base
            if figures_of:
                yield _row(name, figures_of, base)


def iteration_figures(result: RunResult) -> dict[str, float | None]:
    """Return the means over the jobs of a run for a table of many runs."""
    return {
        "iteration_us": mean_of_all([job.mean_us for job in result.jobs]),
        "iteration_slowdown": mean_of_all([job.slowdown for job in result.jobs]),
        "busbw_gbytes_per_s": mean_of_all([job.busbw_gbytes_per_s for job in result.jobs]),
    }


def _row(label: str, figures_of: Mapping[int, JobFigures], base: Mapping[int, JobFigures]) -> IterationRow:
    jobs = list(figures_of.values())
    mean = estimate_of(complete([job.mean_us for job in jobs]))
    busbw = estimate_of(complete([job.busbw_gbytes_per_s for job in jobs]))
    pairs = [(job, base.get(seed)) for seed, job in figures_of.items()]
    ratio, busbw_ratio = (
        geometric_estimate(complete([ratio_of(getattr(job, name), getattr(other, name, None)) for job, other in pairs]))
        for name in ("mean_us", "busbw_gbytes_per_s")
    )
    longest = complete([job.max_us for job in jobs])
    has_seeds = len(jobs) > 1
    return IterationRow(
        job=jobs[0].name,
        label=label,
        mean_us=mean_of(mean),
        max_us=max(longest, default=None),
        ideal_us=fmean(job.ideal_us for job in jobs),
        slowdown=mean_of_all([job.slowdown for job in jobs]),
        busbw_gbytes_per_s=mean_of(busbw),
        ratio=mean_of(ratio),
        busbw_ratio=mean_of(busbw_ratio),
        mean=mean if has_seeds else None,
        busbw=busbw if has_seeds else None,
        ratio_over_seeds=ratio if has_seeds else None,
        busbw_ratio_over_seeds=busbw_ratio if has_seeds else None,
    )
