# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks before a start that the machine has what runs need, as estimated by `testbed.execution.needs`."""

from __future__ import annotations

import errno
import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path

from analysis.results.spec import P4Program
from compiled.cache import CacheRefused, cache_dir
from softswitch.build import BuildError, build_executable
from softswitch.codegen import CodegenError
from testbed.errors import UsageError
from testbed.execution.needs import Needs, needs_of, needs_of_page, sum_of
from testbed.execution.switch_limits import check_switch_limits
from testbed.plan.plan import RunPlan
from testbed.program.user_program import program_file
from testbed.system.limits import check_file_size, check_process, raise_open_files
from testbed.system.out_of_room import out_of_room
from testbed.system.run_ids import STATE_ROOT, state_root
from testbed.targets.common.commands import build_engine

_LONGEST_PATH_BYTES = 3_800
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
_STATE_BYTES_PER_SWITCH, _STATE_BYTES = 4096, 16_384
_STATE_FILES = 4


def check_room(plans: Sequence[RunPlan], out: Path, *, times: int = 1) -> None:
    """Raise UsageError unless the runs, each of them `times` times, fit on the disk and within the process's limits.

    Raises the limit of open files as far as necessary.
    """
    needs = sum_of([needs_of(plan) for plan in plans]).times(times)
    label = "the run" if len(plans) * times == 1 else f"the {len(plans) * times} runs"
    check_process(needs.memory_bytes)
    check_file_size(needs.largest_file_bytes, label)
    raise_open_files(needs.descriptors, label)
    check_output(out, needs)
    for plan in plans:
        if plan.config.clock == "real":
            _check_switches(plan)
            _check_state(len(plan.topology.switches))


def _check_switches(plan: RunPlan) -> None:
    try:
        check_switch_limits(plan)
    except UsageError as error:
        raise UsageError(f"{plan.config.scenario} {plan.config.scheme}: {error}") from error


def build_programs(plans: Sequence[RunPlan]) -> None:
    """Compile the programs that the runs and their dry runs load, unless they are in the cache.

    Raises UsageError if the disk is full, or if softswitch cannot run the user's program.
    """
    builds = {(plan.config.clock, plan.spec.program): None for plan in plans if plan.config.switch == "soft"}
    try:
        for clock, program in builds:
            _build(clock, program)
    except CacheRefused as error:
        raise UsageError(str(error)) from error
    except OSError as error:
        full = out_of_room(error, [cache_dir()])
        if full is None:
            raise
        raise UsageError(f"the switch's program cannot be compiled: {full}") from error


def _build(clock: str, program: P4Program | None) -> None:
    try:
        build_engine(program)  # also for the dry run of a live run
        if clock == "real":
            build_executable(program_file(program))
    except (BuildError, CodegenError) as error:
        if program is None:
            raise
        raise UsageError(f"--p4 {program.word}: softswitch cannot run it: {error}") from error


def check_output(parent: Path, needs: Needs | None = None) -> None:
    """Raise UsageError unless folders with the needed space can be made in `parent`; remove what the check creates.

    Without `needs`, space for a page is checked.
    """
    required = needs or needs_of_page()
    existing = parent
    try:
        existing = next(path for path in (parent, *parent.absolute().parents) if _is_there(path))
        if len(os.fsencode(parent.absolute())) > _LONGEST_PATH_BYTES:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        _try_out(existing, min(required.disk_bytes, required.largest_file_bytes))
        _check_free(existing, required.disk_bytes, required.files)
    except OSError as error:
        needed = _needed(existing, required.disk_bytes, required.files) if error.errno in _NO_ROOM else ""
        raise UsageError(f"--out {parent}: cannot write there: {error.strerror}{needed}") from error


def _try_out(place: Path, wanted_bytes: int) -> None:
    """Make and remove a folder with a file of this size. Raises OSError if that fails.

    The folder's name is chosen before the folder is made, and an interrupted removal is repeated. So Ctrl-C never
    leaves the folder behind, as it could with `tempfile`.
    """
    probe = place / f".sfc-testbed-{secrets.token_hex(8)}"
    try:
        probe.mkdir(mode=0o700)
        _take(probe / "room", wanted_bytes)
    finally:
        try:
            shutil.rmtree(probe, ignore_errors=True)
        except KeyboardInterrupt:
            shutil.rmtree(probe, ignore_errors=True)
            raise


def _take(probe: Path, wanted_bytes: int) -> None:
    """Allocate one file, which also tests a quota; raise OSError if it does not fit. The caller removes the file."""
    with probe.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, wanted_bytes)


def _check_free(place: Path, wanted_bytes: int, wanted_files: int) -> None:
    """Raise OSError if the free space or the free files do not suffice."""
    free = os.statvfs(place)
    if free.f_bavail * free.f_frsize < wanted_bytes or (free.f_files and free.f_favail < wanted_files):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _needed(place: Path, wanted_bytes: int, wanted_files: int) -> str:
    free = os.statvfs(place)
    files = f" and {free.f_favail} files" if free.f_files else ""
    return (
        f"; {free.f_bavail * free.f_frsize} B{files} are free on that file system, "
        f"about {wanted_bytes} B and {wanted_files} files are needed"
    )


def _check_state(switches: int) -> None:
    """Raise UsageError unless a live run's state folder, with a socket for each switch, fits on its file system."""
    wanted_bytes = _STATE_BYTES + _STATE_BYTES_PER_SWITCH * switches
    try:
        with state_root() as root:
            place = Path(f"/proc/self/fd/{root}")
            _check_free(place, wanted_bytes, _STATE_FILES + switches)
    except OSError as error:
        needed = _needed(STATE_ROOT, wanted_bytes, _STATE_FILES + switches) if error.errno in _NO_ROOM else ""
        raise UsageError(f"no state folder for a live run in {STATE_ROOT}: {error.strerror}{needed}") from error


def _is_there(path: Path) -> bool:
    """Return whether a path exists; a dangling link counts too, since no folder can be made with its name."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
