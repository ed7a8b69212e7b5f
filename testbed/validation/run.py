# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Makes pairs of runs, virtual ones side by side and live ones one at a time, and holds each pair's figures together.

All that is kept is one folder: validation.json, and beside it the folder of every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.results.result import ResultError
from analysis.results.stored import load_run
from analysis.validation.comparison import compare_clocks
from analysis.validation.record import FILE_NAME, ValidatedRun, Validation, write_validation
from testbed.execution.execute import give_to_caller, make_folder
from testbed.interrupt import interruptible
from testbed.jobs.job import Job, JobFailed, JobFinished, JobResult, Tell, run_jobs
from testbed.jobs.retrying import run_jobs_retrying
from testbed.jobs.task import Executor
from testbed.plan.plan import RunRequest
from testbed.plan.switch_targets import SWITCH_TARGETS
from testbed.validation.spread import spread_found, spread_jobs

_ACKS_APART = ("transport.ack_priority=control",)


@dataclass(frozen=True)
class Pair:
    """A scenario under a scheme, to be run on both clocks."""

    request: RunRequest
    """Clock, switch and dilation are those of the live run."""
    place: str = ""
    """Where on the axes of its experiment, in words."""

    @property
    def live(self) -> RunRequest:
        return replace(self.request, clock="real")

    @property
    def virtual(self) -> RunRequest:
        """The same flows on softswitch, whose clock it is, with ACKs in the class in which the live target has them."""
        target = SWITCH_TARGETS.get(self.request.switch)
        settings = (*self.request.settings, *(_ACKS_APART if target is not None and target.acks_apart else ()))
        return replace(self.request, clock="virtual", switch="auto", dilation=None, settings=settings)

    @property
    def label(self) -> str:
        where = f", {self.place}" if self.place else ""
        return f"{self.request.scenario} {self.request.variant}{where}"


@dataclass(frozen=True)
class StoredValidation:
    """What was found, and where it lies; after Ctrl-C of the pairs that were whole until then."""

    validation: Validation
    folder: Path
    is_interrupted: bool

    @property
    def kept(self) -> str:
        """After an interruption: what is there, and where."""
        runs = len(self.validation.runs)
        if not self.folder.exists():
            return "nothing was kept"
        stored = f" (./runner.py report {self.folder})" if runs else ""
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
) -> StoredValidation:
    """Runs all pairs and compares those whose runs are both complete.

    Where somebody is to be told of retries, live runs that were late are made again, and the last one counts. A pair
    with a figure beyond its tolerance gets `spread` more virtual runs, whose links jitter.
    """
    folder = make_folder(out.absolute(), f"{name}-validation")
    (folder / "logs").rmdir()  # the runs have theirs
    requests = [pair.virtual for pair in pairs] + [pair.live for pair in pairs]
    jobs = [Job(f"{request.scenario} {request.variant}, {request.clock}", request, folder) for request in requests]
    comparisons = _Comparisons(pairs, left_out, folder)
    done = run_jobs_retrying(jobs, executor, tell, tell_retry, comparisons.take)
    with interruptible():
        for number, result in enumerate(done.each):
            comparisons.take(number, result)
    was_cut = done.is_interrupted or comparisons.spread(spread, executor, tell)
    with interruptible():
        with suppress(OSError):
            folder.rmdir()  # if nothing came of it
        give_to_caller(folder)
    return StoredValidation(comparisons.validation, folder, was_cut)


class _Comparisons:
    """Every pair is compared as soon as both its runs are over, and the file written: a kill loses no finished pair.

    The live runs, one at a time, come after all virtual ones, which share the cores; pair by pair, every live run would
    leave all cores but its own idle.
    """

    def __init__(self, pairs: Sequence[Pair], left_out: Sequence[str], folder: Path) -> None:
        self._pairs = pairs
        self._left_out = tuple(left_out)
        self._folder = folder
        self._results: dict[int, JobResult] = {}
        self._found: dict[int, ValidatedRun | list[str]] = {}

    @property
    def validation(self) -> Validation:
        """Of the pairs compared so far, in their order."""
        found = [self._found[place] for place in sorted(self._found)]
        return Validation(
            runs=tuple(each for each in found if isinstance(each, ValidatedRun)),
            failures=tuple(line for each in found if isinstance(each, list) for line in each),
            left_out=self._left_out,
        )

    def take(self, number: int, result: JobResult) -> None:
        """What became of a job: first those on the virtual clock, then as many live ones.

        Each may be said again, and what is said of another try takes the place of the first.
        """
        place = number % len(self._pairs)
        is_known = self._results.get(number) == result
        self._results[number] = result
        virtual, live = (self._results.get(each) for each in (place, place + len(self._pairs)))
        if virtual is None or live is None or (is_known and place in self._found):
            return
        self._found[place] = found = _compared(self._pairs[place], virtual, live)
        if found:
            self._write()

    def spread(self, count: int, executor: Executor, tell: Tell) -> bool:
        """Runs what tells how far jitter alone moves the figures; gives whether it was interrupted.

        What was interrupted or failed is left out: the pair itself is whole.
        """
        jobs = {
            place: list(spread_jobs(found, self._pairs[place].virtual, self._folder, count))
            for place, found in self._found.items()
            if isinstance(found, ValidatedRun)
        }
        places = [place for place, each in jobs.items() for _ in each]
        done = run_jobs([job for each in jobs.values() for job in each], executor, tell)
        for place in dict.fromkeys(places):
            results = [result for at, result in zip(places, done.each, strict=True) if at == place]
            folders = [result.folder for result in results if isinstance(result, JobFinished)]
            found = self._found[place]
            if isinstance(found, ValidatedRun):
                with suppress(ResultError):
                    self._found[place] = spread_found(found, self._folder, folders)
        if places:
            self._write()
        return done.is_interrupted

    def _write(self) -> None:
        write_validation(self._folder / FILE_NAME, self.validation)
        give_to_caller(self._folder)


def _compared(pair: Pair, virtual: JobResult, live: JobResult) -> ValidatedRun | list[str]:
    """The findings, or why there are none: a line for each run that failed, nothing for one that was cut short."""
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
