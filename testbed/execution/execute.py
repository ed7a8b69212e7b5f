# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""A run from plan to folder: makes the folder, runs the plan on its clock, writes result and report."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from analysis.report.pages import write_run_report
from analysis.results.build import build_result
from analysis.results.counters import RunIdentity
from analysis.results.result import RunResult, write_result
from scenarios.files import flow_file
from telemetry.atomic_file import replace_text
from testbed.errors import Interrupted, RunError, UsageError
from testbed.interrupt import Interrupt, interruptible, raise_again
from testbed.plan.config import RunConfig
from testbed.plan.plan import RunPlan
from testbed.recording.outcome import ClockOutcome, Progress
from testbed.recording.recorder import Recorder
from testbed.virtual.simulation import simulate


def _run_live(
    plan: RunPlan, folder: Path, recorder: Recorder, progress: Progress, interrupt: Interrupt
) -> ClockOutcome:
    """Only this clock needs Mininet, which may not be installed where only the other is used."""
    from testbed.live.run import run_live

    return run_live(plan, folder, recorder, progress, interrupt)


ERROR_FILE = "error.txt"
"""In a run's logs: why it broke."""

# A run of the smallest scenario, its report and plots.
LEAST_ROOM_BYTES = 2_000_000
LEAST_FILES = 40
_LONGEST_PATH_BYTES = 3_800
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

Clock = Callable[[RunPlan, Path, Recorder, Progress, Interrupt], ClockOutcome]
CLOCKS: Mapping[str, Clock] = {"real": _run_live, "virtual": simulate}


@dataclass(frozen=True)
class StoredRun:
    """A run that left a result."""

    folder: Path
    result: RunResult
    report: Path | None
    """None: Ctrl-C came while it was drawn."""
    interrupted: bool = False
    """Ctrl-C came before all was done. `result.interrupted` says whether it cut the measurement short."""

    @property
    def kept(self) -> str:
        """After an interruption: what is there, and where."""
        what = "what was measured until then" if self.result.interrupted else "the whole run"
        page = "" if self.report is not None else f"; its page is not drawn (./runner.py report {self.folder})"
        return f"{what} is in {self.folder}{page}"


def check_output(parent: Path) -> None:
    """UsageError unless run folders can be made there, with room for the smallest run; leaves nothing."""
    try:
        existing = next(each for each in (parent, *parent.absolute().parents) if _is_there(each))
        if len(os.fsencode(parent.absolute())) > _LONGEST_PATH_BYTES:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        with tempfile.TemporaryDirectory(prefix=".sfc-testbed-", dir=existing) as probe:
            _take_room(Path(probe) / "room")
    except OSError as error:
        needs = f"; a run needs {LEAST_ROOM_BYTES} B and {LEAST_FILES} files" if error.errno in _NO_ROOM else ""
        raise UsageError(f"--out {parent}: cannot write there: {error.strerror}{needs}") from error


def _is_there(path: Path) -> bool:
    """Also where a link leads nowhere: no folder can be made of that name."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _take_room(probe: Path) -> None:
    """OSError where the smallest run does not fit; the file is the caller's to remove."""
    with probe.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, LEAST_ROOM_BYTES)
        free = os.fstatvfs(file.fileno())
    if free.f_files and free.f_favail < LEAST_FILES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


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


def execute(plan: RunPlan, parent: Path, progress: Progress) -> StoredRun:
    """Runs a plan. RunError when it broke; its folder then holds what was measured and why.

    Interrupted when Ctrl-C left no result: nothing stays of a run that had not begun, the traces of one that was not
    given the time to end.
    """
    with interruptible() as interrupt:
        folder = make_folder(parent.absolute(), f"{plan.config.scenario}-{plan.config.scheme}")
        try:
            result = _measure(plan, folder, progress, interrupt)
        except RunError as error:
            (folder / "logs" / ERROR_FILE).write_text(f"{error}\n")
            if interrupt.is_requested:
                raise Interrupted(f"it could not end in order ({error}); see {folder}") from error
            raise RunError(f"{error} (see {folder / 'logs'})") from error
        except KeyboardInterrupt as error:
            raise _without_result(folder, interrupt) from error
        finally:
            give_to_caller(folder)
    report = _draw(folder)
    give_to_caller(folder)
    return StoredRun(folder, result, report, interrupt.is_requested or report is None)


def _measure(plan: RunPlan, folder: Path, progress: Progress, interrupt: Interrupt) -> RunResult:
    replace_text(folder / "config.json", json.dumps(plan.config.model_dump(by_alias=True), indent=2) + "\n")
    replace_text(folder / flow_file.FILE_NAME, flow_file.format_flows(plan.flows, plan.config.measured_window_us))
    recorder = Recorder(plan, folder)
    try:
        with recorder:
            outcome = CLOCKS[plan.config.clock](plan, folder, recorder, progress, interrupt)
        flows, queues, signals = recorder.frames()
        counters = replace(outcome.counters, broken=(*outcome.counters.broken, *recorder.problems))
        result = build_result(run_identity(plan.config), counters, flows=flows, queues=queues, signals=signals)
        result = result.model_copy(update={"verdict_reasons": (*result.verdict_reasons, *outcome.notes)})
        write_result(folder, result)
        recorder.remove_journal()
    finally:
        recorder.release()
    return result


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


def give_to_caller(folder: Path) -> None:
    """A run folder and all in it belong to who called sudo."""
    if folder.exists():  # nothing stays of a run that had not begun
        for each in (folder, *folder.rglob("*")):
            _give(each)


def _give(path: Path) -> None:
    if os.geteuid() == 0 and "SUDO_UID" in os.environ:
        os.chown(path, int(os.environ["SUDO_UID"]), int(os.environ["SUDO_GID"]), follow_symlinks=False)


def run_identity(config: RunConfig) -> RunIdentity:
    """Which run it was."""
    return RunIdentity(
        scenario=config.scenario,
        scheme=config.scheme,
        scale=config.scale,
        switch=config.switch,
        clock=config.clock,
        dilation=config.dilation,
        seed=config.seed,
        base_rtt_us=config.physics.base_rtt_ns / 1000,
        window_us=config.measured_window_us,
    )
