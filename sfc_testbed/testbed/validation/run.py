# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Executes pairs of runs, virtual ones in parallel and live ones one at a time, and compares the figures of each pair.

The results are in one folder: validation.json and the folders of all runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from sfc_testbed.analysis.results.result import ResultError
from sfc_testbed.analysis.results.stored import load_run
from sfc_testbed.analysis.validation.comparison import compare_clocks
from sfc_testbed.analysis.validation.record import FILE_NAME, ValidatedRun, Validation, write_validation
from sfc_testbed.place import command_name
from sfc_testbed.request.spec import RunSpec
from sfc_testbed.testbed.interrupt import interruptible
from sfc_testbed.testbed.jobs.job import Job, JobFailed, JobFinished, JobResult, Tell, run_jobs
from sfc_testbed.testbed.jobs.retrying import run_jobs_retrying
from sfc_testbed.testbed.jobs.task import Executor
from sfc_testbed.testbed.plan.dilations import DecidedDilation
from sfc_testbed.testbed.plan.switch_targets import SWITCH_TARGETS
from sfc_testbed.testbed.recording.folder import give_to_caller, make_folder
from sfc_testbed.testbed.validation.spread import spread_found, spread_jobs

_ACKS_APART = {"transport.ack_priority": "control"}


@dataclass(frozen=True)
class Pair:
    """A scenario under a scheme, to be run on both clocks."""

    request: RunSpec
    """The request of the live run. The virtual run differs in clock, switch and dilation."""
    place: str = ""
    """The point on the axes of the experiment, as text."""

    @property
    def live(self) -> RunSpec:
        return replace(self.request, clock="real")

    @property
    def virtual(self) -> RunSpec:
        """The same flows on the virtual clock and softswitch, with ACKs in the traffic class of the live target."""
        target = SWITCH_TARGETS.get(self.request.switch)
        acks = _ACKS_APART if target is not None and target.acks_apart else {}
        settings = {**self.request.settings, **acks}
        return replace(self.request, clock="virtual", switch="auto", dilation=None, settings=settings)

    @property
    def label(self) -> str:
        where = f", {self.place}" if self.place else ""
        return f"{self.request.scenario} {self.request.variant}{where}"


@dataclass(frozen=True)
class StoredValidation:
    """A validation and its folder. After Ctrl-C it contains the pairs that were complete."""

    validation: Validation
    folder: Path
    is_interrupted: bool

    @property
    def kept(self) -> str:
        """A sentence about the kept results and their folder, for an interrupted validation."""
        runs = len(self.validation.runs)
        if not self.folder.exists():
            return "nothing was kept"
        stored = f" ({command_name()} report {self.folder})" if runs else ""
        return (
            f"{runs} pair{'' if runs == 1 else 's'} of runs compared{stored}; all that was measured is in {self.folder}"
        )


def validate(
    pairs: Sequence[Pair],
    left_out: Sequence[str],
    name: str,
    out: Path,
    executor: Executor,
    tell: Tell,
    tell_retry: Callable[[str], None] | None = None,
    spread: int = 0,
    decided: Sequence[DecidedDilation] = (),
) -> StoredValidation:
    """Run all pairs and compare those whose runs are both complete.

    Unless `tell_retry` is None, late live runs are repeated and the last one counts. A pair with a figure outside its
    tolerance gets `spread` more virtual runs with jitter on all links. `decided` has the dilation of each live run, if
    the command has decided them.
    """
    folder = make_folder(out.absolute(), f"{name}-validation")
    (folder / "logs").rmdir()  # each run has a folder of its own for logs
    requests = [pair.virtual for pair in pairs] + [pair.live for pair in pairs]
    jobs = [
        Job(f"{request.scenario} {request.variant}, {request.clock}", request, folder, decided=dilation)
        for request, dilation in zip_longest(requests, [*[None] * len(pairs), *decided])
    ]
    comparisons = _Comparisons(pairs, left_out, folder)
    results = run_jobs_retrying(jobs, executor, tell, tell_retry, comparisons.take)
    with interruptible():
        for number, result in enumerate(results.in_order):
            comparisons.take(number, result)
    is_interrupted = results.is_interrupted or comparisons.spread(spread, executor, tell)
    with interruptible():
        with suppress(OSError):
            folder.rmdir()  # succeeds only if the folder is empty
        give_to_caller(folder)
    return StoredValidation(comparisons.validation, folder, is_interrupted)


class _Comparisons:
    """Compares each pair as soon as both runs have ended and writes the file, so that a kill loses no finished pair.

    Live runs come one at a time after all virtual ones, which run in parallel. In the order of the pairs, the other
    cores would idle during each live run.
    """

    def __init__(self, pairs: Sequence[Pair], left_out: Sequence[str], folder: Path) -> None:
        self._pairs = pairs
        self._left_out = tuple(left_out)
        self._folder = folder
        self._results: dict[int, JobResult] = {}
        self._outcomes: dict[int, ValidatedRun | list[str]] = {}

    @property
    def validation(self) -> Validation:
        """The validation of the pairs compared so far, in their order."""
        outcomes = [self._outcomes[place] for place in sorted(self._outcomes)]
        return Validation(
            runs=tuple(outcome for outcome in outcomes if isinstance(outcome, ValidatedRun)),
            failures=tuple(line for outcome in outcomes if isinstance(outcome, list) for line in outcome),
            left_out=self._left_out,
        )

    def take(self, number: int, result: JobResult) -> None:
        """Take the result of a job. Numbers of virtual runs come first, then as many numbers of live runs.

        A result may be reported again. The result of a retry replaces the first one.
        """
        place = number % len(self._pairs)
        is_known = self._results.get(number) == result
        self._results[number] = result
        virtual, live = (self._results.get(index) for index in (place, place + len(self._pairs)))
        if virtual is None or live is None or (is_known and place in self._outcomes):
            return
        self._outcomes[place] = outcome = _compared(self._pairs[place], virtual, live)
        if outcome:
            self._write()

    def spread(self, count: int, executor: Executor, tell: Tell) -> bool:
        """Run jobs that show how far jitter alone changes the figures. Return whether they were interrupted.

        Interrupted and failed jobs are ignored, since the pair itself is complete.
        """
        jobs = {
            place: list(spread_jobs(outcome, self._pairs[place].virtual, self._folder, count))
            for place, outcome in self._outcomes.items()
            if isinstance(outcome, ValidatedRun)
        }
        places = [place for place, pair_jobs in jobs.items() for _ in pair_jobs]
        all_results = run_jobs([job for pair_jobs in jobs.values() for job in pair_jobs], executor, tell)
        for place in dict.fromkeys(places):
            results = [result for at, result in zip(places, all_results.in_order, strict=True) if at == place]
            folders = [result.folder for result in results if isinstance(result, JobFinished)]
            outcome = self._outcomes[place]
            if isinstance(outcome, ValidatedRun):
                with suppress(ResultError):
                    self._outcomes[place] = spread_found(outcome, self._folder, folders)
        if places:
            self._write()
        return all_results.is_interrupted

    def _write(self) -> None:
        write_validation(self._folder / FILE_NAME, self.validation)
        give_to_caller(self._folder)


def _compared(pair: Pair, virtual: JobResult, live: JobResult) -> ValidatedRun | list[str]:
    """Return the comparison, or a line for each failed run. An interrupted run gives no line."""
    if isinstance(virtual, JobFinished) and isinstance(live, JobFinished):
        try:
            return compare_clocks(load_run(virtual.folder), load_run(live.folder), pair.place)
        except ResultError as error:
            return [f"{pair.label}: {error}"]
    return list(_reasons(pair, {"virtual": virtual, "live": live}))


def _reasons(pair: Pair, results: dict[str, JobResult]) -> Iterator[str]:
    for clock, result in results.items():
        if isinstance(result, JobFailed):
            yield f"{pair.label}, {clock}: {result.reason}"
