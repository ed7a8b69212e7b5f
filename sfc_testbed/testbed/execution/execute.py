# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Executes a plan: makes the run's folder, runs the plan on its clock, and writes the result and the report."""

from __future__ import annotations

import shutil
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from os_helpers.cache import CacheRefused
from sfc_testbed.hosts.crash import engine_crash
from sfc_testbed.place import command_name
from sfc_testbed.request.spec import CONFIG_FILE, RunConfig
from sfc_testbed.scenarios.traffic import flow_file
from sfc_testbed.telemetry.atomic_file import replace_file, replace_text
from sfc_testbed.telemetry.journal import JOURNAL_FOLDER, has_journal
from sfc_testbed.testbed.errors import Crashed, Interrupted, RunError
from sfc_testbed.testbed.interrupt import Interrupt, interruptible, raise_again
from sfc_testbed.testbed.plan.plan import RunPlan
from sfc_testbed.testbed.recording.folder import ERROR_FILE, give_to_caller, make_folder
from sfc_testbed.testbed.recording.outcome import ClockOutcome, Progress
from sfc_testbed.testbed.recording.recorder import Recorder
from sfc_testbed.testbed.system.garbage import exclude_existing_objects, return_freed_memory, without_garbage_collection
from sfc_testbed.testbed.system.limits import out_of_room
from sfc_testbed.testbed.virtual.simulation import simulate

if TYPE_CHECKING:
    from sfc_testbed.analysis.results.result import RunResult
    from sfc_testbed.testbed.watch.watch import Watch  # needs modules that a run without a page does without


def _run_live(
    plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt
) -> ClockOutcome:
    """Run the plan on live Mininet; the import is local because Mininet may not be installed."""
    from sfc_testbed.testbed.live.run import run_live

    return run_live(plan, folder, recorder, progress, interrupt)


def _run_virtual(
    plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt
) -> ClockOutcome:
    """Run the plan in virtual time, in as many processes as its configuration says."""
    if plan.config.workers == 1:
        return simulate(plan, folder, recorder, progress, interrupt)
    from sfc_testbed.testbed.virtual.workers import simulate_shared  # needs modules that one process does without

    return simulate_shared(plan, folder, recorder, progress, interrupt, workers=plan.config.workers)


def write_run_report(folder: Path, failures: list[str] | None = None, *, pictures: bool = False) -> Path:
    """Write the pages of a run; the imports are local because plotting libraries are slow to import."""
    from sfc_testbed.analysis.report.html_pages import write_run_report as write
    from sfc_testbed.testbed.execution.watch_page import write_watch_beside

    write_watch_beside([folder], folder)
    return write(folder, failures=failures, pictures=pictures)


_PLANNED_SEGMENTS = "planned"
_TRACEBACK_FILE = "traceback.txt"
"""The file in a run's logs with the traceback of an exception."""

Clock = Callable[[RunPlan, Path, Recorder, Progress, Interrupt], ClockOutcome]
CLOCKS: Mapping[str, Clock] = {"real": _run_live, "virtual": _run_virtual}


@dataclass(frozen=True)
class StoredRun:
    """A run that has a result."""

    folder: Path
    result: RunResult
    report: Path | None
    """The page of the run; None if it was not requested or if Ctrl-C came before it was drawn."""
    interrupted: bool = False
    """Whether Ctrl-C came before everything was done; `result.interrupted` is whether it cut the measurement short."""
    failures: Sequence[str] = ()
    """Sentences about plots and sections of extensions that failed."""

    @property
    def content(self) -> str:
        """The content and the place of what is stored after an interruption, as text for messages."""
        return f"{'what was measured until then' if self.result.interrupted else 'the whole run'} is in {self.folder}"

    @property
    def kept(self) -> str:
        """The content, its place, and the command that draws the missing page of the run."""
        page = "" if self.report is not None else f"; `{command_name()} report {self.folder}` draws its page"
        return f"{self.content}{page}"


def _folder_name(config: RunConfig) -> str:
    parts = (config.scenario, config.scheme, config.load_balancing, config.program_name)
    return "-".join(part for part in parts if part is not None)


def execute(
    plan: RunPlan,
    parent: Path,
    progress: Progress,
    clock: Clock | None = None,
    *,
    page: bool = True,
    watch: Watch | None = None,
) -> StoredRun:
    """Run a plan, store its results and return them.

    Raises RunError if the run failed or the disk is full; the folder then holds the measurements and the error. If the
    hosts' code raised an exception, the result is invalid and says where. Raises Interrupted if Ctrl-C left no result:
    the folder is removed if nothing was measured, else the traces are kept. `clock` replaces the plan's clock, for a
    network that is up already. With `page=False`, or after Ctrl-C, the report page is left out; `report` can draw it
    later. `watch` shows the run while it is active.
    """
    run = clock or CLOCKS[plan.config.clock]
    with interruptible() as interrupt:
        progress.stage("starting")
        folder = make_folder(parent.absolute(), _folder_name(plan.config))
        with _failing_in_one_line(folder, interrupt):
            try:
                result = _measure(plan, folder, progress, interrupt, run, watch)
            except Crashed as error:
                result = _result_of_crash(folder, error)
            except KeyboardInterrupt as error:
                raise _without_result(folder, interrupt) from error
    stored = StoredRun(folder, result, None, interrupt.is_requested)
    return with_page(stored, progress) if page else stored


def with_page(run: StoredRun, progress: Progress, *, pictures: bool = False) -> StoredRun:
    """Write the page of a run and return the run with it. An interrupted run, and Ctrl-C, leave the page out.

    `pictures`: whether to write each plot as PNG and SVG, too. Raises RunError if the disk is full.
    """
    if run.interrupted:
        return run
    failures: list[str] = []
    with _failing_in_one_line(run.folder, Interrupt()):
        report = _draw(run.folder, progress, failures, pictures=pictures)
    return replace(run, report=report, interrupted=report is None, failures=failures)


def _measure(
    plan: RunPlan, folder: Path, progress: Progress, interrupt: Interrupt, run: Clock, watch: Watch | None
) -> RunResult:
    write_inputs(plan, folder)
    recorder = Recorder(plan, folder) if watch is None else watch.recorder(plan, folder)
    try:
        with recorder, _describing_crashes(folder):
            outcome = run(plan, folder, recorder, progress, interrupt)
            progress.stage("writing results")
            interrupt.stop_if_urgent()
            interrupt.raises_if_urgent = True
        return_freed_memory()
        # These load slowly, and the packets need not wait for them.
        from sfc_testbed.analysis.results.build import build_result
        from sfc_testbed.analysis.results.result import write_result

        traces = recorder.traces()
        counters = replace(outcome.counters, broken=(*outcome.counters.broken, *recorder.problems))
        result = build_result(plan.config, counters, plan.flows.waits, **traces)
        result = result.model_copy(update={"verdict_reasons": (*result.verdict_reasons, *outcome.notes)})
        write_result(folder, result)
        if watch is not None:
            watch.end(f"The verdict is {result.verdict}.", result.verdict_reasons)
        interrupt.raises_if_urgent = False
        recorder.remove_journal()
    finally:
        interrupt.raises_if_urgent = False
        recorder.release()
    return result


@contextmanager
def _describing_crashes(folder: Path) -> Iterator[None]:
    """Raise Crashed for an exception of the host engine, and write its traceback into the run's logs."""
    try:
        yield
    except Exception as error:
        crash = None if out_of_room(error, [folder]) else engine_crash(error)
        if crash is None:
            raise
        (folder / "logs" / _TRACEBACK_FILE).write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        raise Crashed(f"{crash}; see logs/{_TRACEBACK_FILE}") from error


def _result_of_crash(folder: Path, error: Crashed) -> RunResult:
    """Write and return the result of a run that an exception ended, with the measurements until then and the reason."""
    from sfc_testbed.analysis.results.result import read_result
    from sfc_testbed.testbed.execution.unfinished import finish_run

    (folder / "logs" / ERROR_FILE).write_text(f"{error}\n", encoding="utf-8")
    finish_run(folder)
    return read_result(folder)


def write_inputs(plan: RunPlan, folder: Path) -> None:
    """Write what is needed to repeat the run: its configuration and its flows."""
    replace_text(folder / CONFIG_FILE, plan.config.to_json())

    def write_flows(partial: Path) -> None:
        with partial.open("w", encoding="utf-8", newline="") as out:
            flow_file.write_flows(out, plan.flows, plan.config.measured_window_us)

    replace_file(folder / flow_file.FILE_NAME, write_flows)


def _without_result(folder: Path, interrupt: Interrupt) -> Interrupted:
    if interrupt.is_urgent:
        return Interrupted(
            f"ended at the second signal; {command_name()} report {folder} writes a report of what was measured"
        )
    shutil.rmtree(folder)
    return Interrupted("nothing was measured yet, so the folder was removed")


def _draw(folder: Path, progress: Progress, failures: list[str], *, pictures: bool) -> Path | None:
    """Draw the run's page; return None if Ctrl-C interrupted it. The measurements are stored before."""
    try:
        progress.stage("drawing the page")
        exclude_existing_objects()
        with without_garbage_collection():
            return write_run_report(folder, failures, pictures=pictures)
    except KeyboardInterrupt:
        raise_again()
        return None


@contextmanager
def _failing_in_one_line(folder: Path, interrupt: Interrupt) -> Iterator[None]:
    """Turn errors of a run into a one-line RunError that says what is kept; give the folder to the user in any case."""
    try:
        yield
    except (RunError, CacheRefused) as error:
        with suppress(OSError):  # the disk may be full
            (folder / "logs" / ERROR_FILE).write_text(f"{error}\n")
        if interrupt.is_requested:
            raise Interrupted(f"the run could not end normally ({error}); see {folder}") from error
        raise RunError(f"{error} (see {folder / 'logs'})") from error
    except (KeyboardInterrupt, Interrupted):
        raise
    except BaseException as error:
        full = out_of_room(error, [folder])
        if full is None:
            raise
        raise RunError(f"{full}; {_remove_partial_files(folder)}") from error
    finally:
        give_to_caller(folder)


def _remove_partial_files(folder: Path) -> str:
    """Remove unfinished files, or the whole folder if nothing was measured; return what is kept, as text."""
    for partial in folder.rglob(".*.partial"):
        partial.unlink(missing_ok=True)
    complete = sorted(path.name for path in folder.glob("[!.]*") if path.is_file())
    segments = [path for path in (folder / JOURNAL_FOLDER).glob("*/*") if path.parent.name != _PLANNED_SEGMENTS]
    if not segments and not any(name.endswith(".parquet") for name in complete):
        shutil.rmtree(folder, ignore_errors=True)
        return "nothing was measured, so the folder was removed"
    journal = f"; with more room, `report {folder}` writes traces from its journal" if has_journal(folder) else ""
    return f"kept in {folder}: {', '.join(complete)}{journal}"
