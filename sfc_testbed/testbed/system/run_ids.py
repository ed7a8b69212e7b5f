# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Run IDs and the state folders of runs, by which `clean` finds the remains of a run and nothing else.

A run exists as long as its folder `STATE_ROOT/<run id>/` does. Only root can create it. It contains the PID and start
time of the runner. Every process of a run inherits `SFC_TESTBED_RUN=<run id>` in its environment. Any user can set this
variable, so it counts only for root's processes. Paths below the state root are opened relative to its descriptor and
never through a link, so that they cannot lead elsewhere. Network namespaces have no names and end with their last
process.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from sfc_testbed.testbed.errors import UsageError

RUN_VARIABLE = "SFC_TESTBED_RUN"
STATE_ROOT = Path("/run/sfc-testbed")
_OWNER_FILE = "owner"
_UNFINISHED = ".new"
_RUN_ID = re.compile("[0-9a-f]{8,16}-[0-9a-f]{8}")
_OWNER = re.compile(rb"([0-9]{1,10}) ([0-9]{1,20})\n")
_OWNER_BYTES = 64
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def is_alive(process: psutil.Process) -> bool:
    """Return whether a process still runs. A zombie or a later process with the same PID does not count."""
    try:
        return process.is_running() and process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def new_run_id() -> str:
    """Return a unique run ID from the seconds since the epoch and random bits."""
    return f"{int(time.time()):08x}-{secrets.token_hex(4)}"


def is_run_id(name: str) -> bool:
    """Return whether `new_run_id` may have made a name. This excludes paths, empty names and control characters."""
    return _RUN_ID.fullmatch(name) is not None


@contextmanager
def state_root() -> Iterator[int]:
    """Open the folder that contains the state folders of all runs and yield its descriptor.

    The folder is created if it is missing, and made accessible to its owner alone. Raise UsageError if it belongs to
    another user.
    """
    with suppress(FileExistsError):
        STATE_ROOT.mkdir(mode=0o700)
    root = _open_root()
    try:
        yield root
    finally:
        os.close(root)


def claim_state_directory(run_id: str) -> Path:
    """Create the run's state folder for sockets and command files. It names its owner from its first moment on."""
    if not is_run_id(run_id):
        raise ValueError(f"not a run ID: {run_id!a}")
    with state_root() as root:
        try:
            while not _create(root, run_id):
                pass
        except OSError as error:
            _forget(f"{run_id}{_UNFINISHED}", root)
            raise OSError(error.errno, error.strerror, str(STATE_ROOT / run_id)) from error
    return STATE_ROOT / run_id


def _create(root: int, run_id: str) -> bool:
    """Create the state folder under a temporary name, lock it and rename it.

    The lock tells `clean` that the folder is in use. Return False if `clean` removed the folder before it was locked.
    """
    unfinished = f"{run_id}{_UNFINISHED}"
    os.mkdir(unfinished, 0o700, dir_fd=root)
    with suppress(FileNotFoundError):
        folder = os.open(unfinished, _FOLDER, dir_fd=root)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            _note_owner(folder)
            os.rename(unfinished, run_id, src_dir_fd=root, dst_dir_fd=root)
            return True
        finally:
            os.close(folder)
    return False


def _note_owner(folder: int) -> None:
    owner = os.open(_OWNER_FILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600, dir_fd=folder)
    try:
        os.write(owner, f"{os.getpid()} {_started_ticks(psutil.Process())}\n".encode())
    finally:
        os.close(owner)


def remove_state_directory(run_id: str) -> None:
    """Remove the state folder of a run, if the name is a run's. Links in it are removed but not followed."""
    with _run_folder(run_id) as folder:
        if folder is None:
            return
        _empty(folder)
    with state_root() as root:
        os.rmdir(run_id, dir_fd=root)


def remove_unfinished() -> list[str]:
    """Remove unfinished state folders of runners killed during creation, and return their names."""
    if not os.path.lexists(STATE_ROOT):
        return []
    removed = []
    with state_root() as root:
        for name in _names_in(root):
            if name.endswith(_UNFINISHED) and is_run_id(name.removesuffix(_UNFINISHED)) and _is_removed(root, name):
                removed.append(name)
    return removed


def _is_removed(root: int, name: str) -> bool:
    with _own_folder(name, root) as folder:
        if folder is None:
            return False
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(folder), os.stat(name, dir_fd=root, follow_symlinks=False)):
                return False
        except (BlockingIOError, FileNotFoundError):  # it is being created, or has been renamed to a run's meanwhile
            return False
        _empty(folder)
        os.rmdir(name, dir_fd=root)
        return True


def owner_of(run_id: str) -> psutil.Process | None:
    """Return the live runner of a run according to its state folder, or None."""
    noted = _noted_owner(run_id)
    if noted is None:
        return None
    pid, ticks = noted
    try:
        owner = psutil.Process(pid)
        return owner if is_alive(owner) and _started_ticks(owner) == ticks else None
    except (ValueError, OverflowError, psutil.NoSuchProcess):
        return None


def known_runs() -> list[str]:
    """Return the run IDs that have a valid state folder of this user."""
    run_ids = []
    for name in _entries():
        with _run_folder(name) as folder:
            if folder is not None:
                run_ids.append(name)
    return run_ids


def strangers() -> list[str]:
    """Return the names of all other entries in the state root. They are untrusted: use them in messages only."""
    return sorted(set(_entries()) - set(known_runs()))


def processes_of(run_id: str) -> list[psutil.Process]:
    """Return the live processes of a run, except this one.

    They carry the run ID, belong to this user, and were not started before the runner.
    """
    noted = _noted_owner(run_id)
    if noted is None:
        return []
    processes = []
    for process in psutil.process_iter(["environ", "uids"]):
        environment, uids = process.info["environ"] or {}, process.info["uids"]
        if environment.get(RUN_VARIABLE) != run_id or uids is None or set(uids) != {os.geteuid()}:
            continue
        with suppress(psutil.NoSuchProcess):
            if process.pid != os.getpid() and is_alive(process) and _started_ticks(process) >= noted[1]:
                processes.append(process)
    return processes


def _forget(folder: str, root: int) -> None:
    """Remove an unfinished state folder, for example after a full file system. No other run knows of it yet."""
    with suppress(FileNotFoundError):
        os.unlink(f"{folder}/{_OWNER_FILE}", dir_fd=root)
    with suppress(FileNotFoundError):
        os.rmdir(folder, dir_fd=root)


def _open_root() -> int:
    try:
        root = os.open(STATE_ROOT, _FOLDER)
    except PermissionError:
        raise UsageError(f"{STATE_ROOT} belongs to another user: use sudo") from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise UsageError(f"{STATE_ROOT} is not a folder") from None
        raise
    if os.fstat(root).st_uid != os.geteuid():
        os.close(root)
        raise UsageError(f"{STATE_ROOT} belongs to another user: nothing in it is trusted")
    os.fchmod(root, 0o700)
    return root


def _entries() -> list[str]:
    if not os.path.lexists(STATE_ROOT):
        return []
    with state_root() as root:
        return _names_in(root)


def _names_in(folder: int) -> list[str]:
    with os.scandir(folder) as entries:
        return sorted(entry.name for entry in entries)


@contextmanager
def _run_folder(run_id: str) -> Iterator[int | None]:
    """Yield a descriptor of a run's state folder, or None unless only this user owns it and can write to it."""
    if not is_run_id(run_id) or not os.path.lexists(STATE_ROOT):
        yield None
        return
    with state_root() as root, _own_folder(run_id, root) as folder:
        yield folder


@contextmanager
def _own_folder(name: str, root: int) -> Iterator[int | None]:
    """Yield a descriptor of a folder below the root, or None unless only this user owns it and can write to it."""
    try:
        folder = os.open(name, _FOLDER, dir_fd=root)
    except OSError:
        yield None
        return
    try:
        status = os.fstat(folder)
        is_ours = status.st_uid == os.geteuid() and not status.st_mode & _WRITABLE_BY_OTHERS
        yield folder if is_ours else None
    finally:
        os.close(folder)


def _empty(folder: int) -> None:
    for _, folders, files, parent in os.fwalk(".", topdown=False, dir_fd=folder):
        for name in files:
            os.unlink(name, dir_fd=parent)
        for name in folders:
            _remove_folder_or_link(name, parent)


def _noted_owner(run_id: str) -> tuple[int, int] | None:
    """Return the PID and start time of a run's runner from its state folder."""
    with _run_folder(run_id) as folder:
        if folder is None:
            return None
        try:
            file = os.open(_OWNER_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        except OSError:
            return None
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
                return None
            match = _OWNER.fullmatch(os.read(file, _OWNER_BYTES))
        finally:
            os.close(file)
    return None if match is None else (int(match[1]), int(match[2]))


def _remove_folder_or_link(name: str, parent: int) -> None:
    try:
        os.rmdir(name, dir_fd=parent)
    except NotADirectoryError:
        os.unlink(name, dir_fd=parent)


def _started_ticks(process: psutil.Process) -> int:
    """Return the start time of a process in kernel ticks since boot, which does not depend on the wall clock."""
    ticks: int = round((process.create_time() - psutil.boot_time()) * os.sysconf("SC_CLK_TCK"))
    return ticks
