# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run from plan to folder: makes the folder, runs the plan on its clock, writes result and report."""

from __future__ import annotations

import json
import os
import shutil
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.results.build import build_result
from analysis.results.result import RunResult, read_result, write_result
from compiled.cache import CacheRefused
from hosts.crash import engine_crash
from scenarios.files import flow_file
from telemetry.atomic_file import replace_text
from telemetry.journal import JOURNAL_FOLDER, has_journal
from testbed.errors import Crashed, Interrupted, RunError, UsageError
from testbed.execution.identity import run_identity
from testbed.execution.needs import needs_of
from testbed.execution.unfinished import ERROR_FILE, finish_run
from testbed.interrupt import Interrupt, interruptible, raise_again
from testbed.plan.config import RunConfig
from testbed.plan.plan import RunPlan
from testbed.recording.outcome import ClockOutcome, Progress
from testbed.recording.recorder import Recorder
from testbed.system.caller import caller
from testbed.system.out_of_room import out_of_room, whole_files
from testbed.virtual.simulation import simulate


def _run_live(
    plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt
) -> ClockOutcome:
    """Only this clock needs Mininet, which may not be installed where only the other is used."""
    from testbed.live.run import run_live

    return run_live(plan, folder, recorder, progress, interrupt)


def write_run_report(folder: Path) -> Path:
    """What draws takes as long to load as a small run does to be drawn."""
    from analysis.report.pages import write_run_report as write

    return write(folder)


_PLANNED = "planned"
_TRACEBACK_FILE = "traceback.txt"
"""A file in a run's logs: where in the code an exception was raised."""

Clock = Callable[[RunPlan, Path, Recorder, Progress, Interrupt], ClockOutcome]
CLOCKS: Mapping[str, Clock] = {"real": _run_live, "virtual": simulate}


@dataclass(frozen=True)
class StoredRun:
    """A run that left a result."""

    folder: Path
    result: RunResult
    report: Path | None
    """None: Ctrl-C came while it was drawn, or nobody asked for it."""
    interrupted: bool = False
    """Ctrl-C came before all was done. `result.interrupted` says whether it cut the measurement short."""

    @property
    def kept(self) -> str:
        """After an interruption: what is there, and where."""
        what = "what was measured until then" if self.result.interrupted else "the whole run"
        page = "" if self.report is not None else f"; its page is not drawn (./runner.py report {self.folder})"
        return f"{what} is in {self.folder}{page}"


def make_folder(parent: Path, name: str) -> Path:
    """A new folder, its name made unique by the time and, if need be, a number."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    missing = [each for each in (parent, *parent.parents) if not each.exists()]
    for attempt in range(1, 1000):
        folder = parent / (f"{name}-{stamp}" if attempt == 1 else f"{name}-{stamp}-{attempt}")
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        (folder / "logs").mkdir()
        for made in missing:
            _give(made)
        return folder
    raise UsageError(f"--out {parent}: there are too many runs named {name}-{stamp}")


def _folder_name(config: RunConfig) -> str:
    parts = (config.scenario, config.scheme, config.program_name)
    return "-".join(part for part in parts if part is not None)


def execute(
    plan: RunPlan, parent: Path, progress: Progress, clock: Clock | None = None, *, page: bool = True
) -> StoredRun:
    """Run a plan. RunError when it broke or ran out of room; its folder then holds what was measured and why.

    A run that an exception in the hosts' code ended has an invalid result that says where it was raised. Interrupted
    when Ctrl-C left no result: nothing stays of a run that had not begun, the traces stay of a run that had no time to
    end. `clock` runs the plan in place of the clock that the plan names, on a network that is up already. Without a
    `page` there are the traces and the result; `report` draws the page later.
    """
    run = clock or CLOCKS[plan.config.clock]
    with interruptible() as interrupt:
        folder = make_folder(parent.absolute(), _folder_name(plan.config))
        with _failing_in_one_line(plan, folder, interrupt):
            try:
                result = _measure(plan, folder, progress, interrupt, run)
            except Crashed as error:
                result = _result_of_crash(folder, error)
            except KeyboardInterrupt as error:
                raise _without_result(folder, interrupt) from error
    report = None
    if page:
        with _failing_in_one_line(plan, folder, interrupt):
            report = _draw(folder)
    return StoredRun(folder, result, report, interrupt.is_requested or (page and report is None))


def _measure(plan: RunPlan, folder: Path, progress: Progress, interrupt: Interrupt, run: Clock) -> RunResult:
    write_inputs(plan, folder)
    recorder = Recorder(plan, folder)
    try:
        with recorder, _telling_crashes(folder):
            outcome = run(plan, folder, recorder, progress, interrupt)
        flows, queues, signals = recorder.traces()
        counters = replace(outcome.counters, broken=(*outcome.counters.broken, *recorder.problems))
        result = build_result(run_identity(plan.config), counters, flows=flows, queues=queues, signals=signals)
        result = result.model_copy(update={"verdict_reasons": (*result.verdict_reasons, *outcome.notes)})
        write_result(folder, result)
        recorder.remove_journal()
    finally:
        recorder.release()
    return result


@contextmanager
def _telling_crashes(folder: Path) -> Iterator[None]:
    """Raise Crashed for an exception in the host engine; its traceback goes to a file in the run's logs."""
    try:
        yield
    except Exception as error:
        crash = None if out_of_room(error, [folder]) else engine_crash(error)
        if crash is None:
            raise
        (folder / "logs" / _TRACEBACK_FILE).write_text("".join(traceback.format_exception(error)), encoding="utf-8")
        raise Crashed(f"{crash}; see logs/{_TRACEBACK_FILE}") from error


def _result_of_crash(folder: Path, error: Crashed) -> RunResult:
    """Write and return the result of a run that an exception ended: what was measured until then, and why it ended."""
    (folder / "logs" / ERROR_FILE).write_text(f"{error}\n", encoding="utf-8")
    finish_run(folder)
    return read_result(folder)


def write_inputs(plan: RunPlan, folder: Path) -> None:
    """All that is needed to repeat the run: its configuration and its flows."""
    replace_text(folder / "config.json", json.dumps(plan.config.model_dump(by_alias=True), indent=2) + "\n")
    replace_text(folder / flow_file.FILE_NAME, flow_file.format_flows(plan.flows, plan.config.measured_window_us))


def _without_result(folder: Path, interrupt: Interrupt) -> Interrupted:
    if interrupt.is_urgent:
        return Interrupted(f"the run was dropped at the second signal; ./runner.py report {folder} finishes its traces")
    shutil.rmtree(folder)
    return Interrupted("nothing was measured yet, nothing is kept")


def _draw(folder: Path) -> Path | None:
    """The run's page; None if Ctrl-C came meanwhile. What was measured is stored by then."""
    try:
        return write_run_report(folder)
    except KeyboardInterrupt:
        raise_again()
        return None


@contextmanager
def _failing_in_one_line(plan: RunPlan, folder: Path, interrupt: Interrupt) -> Iterator[None]:
    """RunError for what a run met, with what is kept of it; the folder is its caller's in any case."""
    try:
        yield
    except (RunError, CacheRefused) as error:
        with suppress(OSError):  # there may be no room for it
            (folder / "logs" / ERROR_FILE).write_text(f"{error}\n")
        if interrupt.is_requested:
            raise Interrupted(f"it could not end in order ({error}); see {folder}") from error
        raise RunError(f"{error} (see {folder / 'logs'})") from error
    except (KeyboardInterrupt, Interrupted):
        raise
    except BaseException as error:
        said = out_of_room(error, [folder])
        if said is None:
            raise
        needs = needs_of(plan)
        needed = f"this run needs about {needs.disk_bytes} B and {needs.files} files"
        raise RunError(f"{said}; {needed}; {_keep_whole(folder)}") from error
    finally:
        give_to_caller(folder)


def _keep_whole(folder: Path) -> str:
    """Removes what was begun and not finished, or all if nothing was measured; what is kept, in words."""
    for begun in folder.rglob(".*.partial"):
        begun.unlink(missing_ok=True)
    kept = whole_files(folder)
    told = [path for path in (folder / JOURNAL_FOLDER).glob("*/*") if path.parent.name != _PLANNED]
    if not told and not any(name.endswith(".parquet") for name in kept):
        shutil.rmtree(folder, ignore_errors=True)
        return "nothing was measured and nothing kept"
    journal = f"; once there is room, `report {folder}` makes traces of its journal" if has_journal(folder) else ""
    return f"kept in {folder}: {', '.join(kept)}{journal}"


def give_to_caller(folder: Path) -> None:
    """A run folder and all in it belong to who called sudo."""
    if folder.exists():  # nothing stays of a run that had not begun
        for each in (folder, *folder.rglob("*")):
            _give(each)


def _give(path: Path) -> None:
    of_sudo = caller()
    if of_sudo is not None:
        os.chown(path, *of_sudo, follow_symlinks=False)
