# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The name of a run and the folder that stands for it, so that `clean` finds a run's remains and nothing else.

A run is there because `STATE_ROOT/<run id>/` is: a folder that only root can have made, with the runner's pid and start
time in it. Every process of a run has `SFC_TESTBED_RUN=<run id>` in its environment (children inherit it), but anybody
can set that: it counts only for processes that are root's own too. What is below the state root is reached through its
descriptor and never through a link, so that nothing elsewhere can be taken for it. Network namespaces are unnamed and
die with their last process.
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

from testbed.errors import UsageError

RUN_VARIABLE = "SFC_TESTBED_RUN"
STATE_ROOT = Path("/run/sfc-testbed")
_OWNER_FILE = "owner"
_UNFINISHED = ".new"
_GONE = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
_RUN_ID = re.compile("[0-9a-f]{8,16}-[0-9a-f]{8}")
_OWNER = re.compile(rb"([0-9]{1,10}) ([0-9]{1,20})\n")
_OWNER_BYTES = 64
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def is_alive(process: psutil.Process) -> bool:
    """Whether it still runs. A zombie does not; a later process of the same pid is another one."""
    try:
        return process.is_running() and process.status() not in _GONE
    except psutil.NoSuchProcess:
        return False


def new_run_id() -> str:
    """A name no other run has: seconds since the epoch and chance."""
    return f"{int(time.time()):08x}-{secrets.token_hex(4)}"


def is_run_id(name: str) -> bool:
    """Whether `new_run_id` can have made it: no path, no empty word, nothing that a terminal would obey."""
    return _RUN_ID.fullmatch(name) is not None


@contextmanager
def state_root() -> Iterator[int]:
    """A descriptor of the folder of all runs' folders, made if need be; ours alone, whatever the umask and whoever made
    it first. UsageError if it is another user's."""
    with suppress(FileExistsError):
        STATE_ROOT.mkdir(mode=0o700)
    root = _open_root()
    try:
        yield root
    finally:
        os.close(root)


def claim_state_directory(run_id: str) -> Path:
    """Makes the run's state folder (sockets, command files), which says who owns it from the moment it is there."""
    if not is_run_id(run_id):
        raise ValueError(f"no run id: {run_id!a}")
    with state_root() as root:
        try:
            while not _made(root, run_id):
                pass
        except OSError as error:
            _forget(f"{run_id}{_UNFINISHED}", root)
            raise OSError(error.errno, error.strerror, str(STATE_ROOT / run_id)) from error
    return STATE_ROOT / run_id


def _made(root: int, run_id: str) -> bool:
    """False if `clean` came between the folder and its lock. Who holds that is making it: it is no remains."""
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
    """Removes the state folder of a run, if it is one. A link in it is removed, what it leads to is not."""
    with _run_folder(run_id) as folder:
        if folder is None:
            return
        _empty(folder)
    with state_root() as root:
        os.rmdir(run_id, dir_fd=root)


def remove_unfinished() -> list[str]:
    """Removes folders whose runner was killed before they were a run's, and gives their names."""
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
        except (BlockingIOError, FileNotFoundError):  # it is being made, or has become a run's meanwhile
            return False
        _empty(folder)
        os.rmdir(name, dir_fd=root)
        return True


def owner_of(run_id: str) -> psutil.Process | None:
    """The living runner of a run, if its state folder still says so."""
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
    """Run ids that have a state folder of ours."""
    found = []
    for name in _entries():
        with _run_folder(name) as folder:
            if folder is not None:
                found.append(name)
    return found


def strangers() -> list[str]:
    """What else lies in the state root: names of any kind, for messages alone."""
    return sorted(set(_entries()) - set(known_runs()))


def processes_of(run_id: str) -> list[psutil.Process]:
    """Living processes of a run, this one left out: with its id, of our user, and not started before its runner."""
    noted = _noted_owner(run_id)
    if noted is None:
        return []
    found = []
    for process in psutil.process_iter(["environ", "uids"]):
        environment, uids = process.info["environ"] or {}, process.info["uids"]
        if environment.get(RUN_VARIABLE) != run_id or uids is None or set(uids) != {os.geteuid()}:
            continue
        with suppress(psutil.NoSuchProcess):
            if process.pid != os.getpid() and is_alive(process) and _started_ticks(process) >= noted[1]:
                found.append(process)
    return found


def _forget(folder: str, root: int) -> None:
    """What a full file system left of a claim; no other run knows of it yet."""
    with suppress(FileNotFoundError):
        os.unlink(f"{folder}/{_OWNER_FILE}", dir_fd=root)
    with suppress(FileNotFoundError):
        os.rmdir(folder, dir_fd=root)


def _open_root() -> int:
    try:
        root = os.open(STATE_ROOT, _FOLDER)
    except PermissionError:
        raise UsageError(f"{STATE_ROOT} is another user's: use sudo") from None
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise UsageError(f"{STATE_ROOT} is not a folder") from None
        raise
    if os.fstat(root).st_uid != os.geteuid():
        os.close(root)
        raise UsageError(f"{STATE_ROOT} is another user's: nothing in it is trusted")
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
    """A descriptor of a run's state folder; None unless it is one, ours, and only ours to write."""
    if not is_run_id(run_id) or not os.path.lexists(STATE_ROOT):
        yield None
        return
    with state_root() as root, _own_folder(run_id, root) as folder:
        yield folder


@contextmanager
def _own_folder(name: str, root: int) -> Iterator[int | None]:
    """A descriptor of what has that name below the root; None unless it is a folder, ours, and only ours to write."""
    try:
        folder = os.open(name, _FOLDER, dir_fd=root)
    except OSError:
        yield None
        return
    try:
        found = os.fstat(folder)
        is_ours = found.st_uid == os.geteuid() and not found.st_mode & _WRITABLE_BY_OTHERS
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
    """Pid and start time of a run's runner, as its state folder has them."""
    with _run_folder(run_id) as folder:
        if folder is None:
            return None
        try:
            file = os.open(_OWNER_FILE, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        except OSError:
            return None
        try:
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
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
    """When it was started, in the kernel's ticks since boot: psutil says it by the wall clock, which may be set."""
    ticks: int = round((process.create_time() - psutil.boot_time()) * os.sysconf("SC_CLK_TCK"))
    return ticks
