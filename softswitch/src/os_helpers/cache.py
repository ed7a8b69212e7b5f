# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The cache of compiled code. Only its user may write to it, because its content is executed, also by root."""

from __future__ import annotations

import grp
import os
import pwd
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path

from os_helpers.temporary import remove_abandoned

CACHE_NAME = "sfc-testbed"
PROGRAMS = "programs"
"""The folder of compiled P4 programs, the only folder of the cache whose files are used independently."""
UNFINISHED = ".build-"
"""The beginning of the names of folders in which entries are made."""
_KEPT_S = 60 * 86_400
_WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class CacheRefused(Exception):
    """A cache that cannot be used or that other users may have changed. The message is one line with advice."""


def cache_dir() -> Path:
    """Return the path of the cache: `$XDG_CACHE_HOME/sfc-testbed`, by default `~/.cache/sfc-testbed`."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / CACHE_NAME


def private_cache() -> Path:
    """Return the cache, created with mode 0700 if missing.

    Raise CacheRefused unless only its user and root can change it.
    """
    cache = cache_dir()
    try:
        real = cache.resolve()
        for parent in reversed(real.parents):
            if not parent.exists():
                parent.mkdir(mode=0o700, exist_ok=True)
            _check_parent(cache, parent)
        real.mkdir(mode=0o700, exist_ok=True)
        folder = os.open(real, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise CacheRefused(f"{cache} cannot be used ({reason}); set XDG_CACHE_HOME to another folder") from error
    try:
        _check(cache, os.fstat(folder))
        os.fchmod(folder, 0o700)
    finally:
        os.close(folder)
    return real


def forget_unused() -> None:
    """Remove entries that were not read for 60 days, by their access times, because every edit adds a new build."""
    oldest_s = time.time() - _KEPT_S
    cache = private_cache()
    programs = cache / PROGRAMS
    for entry in (*cache.iterdir(), *(programs.iterdir() if programs.is_dir() else ())):
        with suppress(OSError):  # removed by another process, or a damaged entry that cannot be removed
            if entry != programs and _last_used_s(entry) < oldest_s:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()


def remove_unfinished() -> int:
    """Remove the folders in which killed processes were making entries, and return their number."""
    cache = cache_dir()
    return sum(remove_abandoned(UNFINISHED, folder) for folder in (cache, cache / PROGRAMS))


def _last_used_s(path: Path) -> float:
    """Return the last use of an entry. A folder is used when its files are used; listing it does not count."""
    status = path.lstat()
    if stat.S_ISDIR(status.st_mode):
        return max([status.st_mtime, *map(_last_used_s, path.iterdir())])
    return max(status.st_atime, status.st_mtime)


def _check_parent(cache: Path, parent: Path) -> None:
    """Raise CacheRefused if a user other than root and this one could replace the cache by another folder."""
    status = parent.stat()
    if status.st_uid not in (0, os.geteuid()):
        raise CacheRefused(
            f"{cache} is in {parent}, which belongs to user {status.st_uid}, who could replace the code that user "
            f"{os.geteuid()} executes; set XDG_CACHE_HOME to a folder of your own"
        )
    group_may_write = status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid)
    if (status.st_mode & stat.S_IWOTH or group_may_write) and not status.st_mode & stat.S_ISVTX:
        raise CacheRefused(
            f"{cache} is in {parent}, which others may write to (mode {status.st_mode & 0o7777:o}), and the code in "
            f"the cache is executed; run chmod go-w {parent}, or set XDG_CACHE_HOME to another folder"
        )


def _is_private(group: int) -> bool:
    """Return whether a group is the user's private group: it has the user's name and no other member.

    Ubuntu's umask makes folders writable for this group.
    """
    try:
        user, entry = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return entry.gr_name == user.pw_name and set(entry.gr_mem) <= {user.pw_name}


def _check(cache: Path, status: os.stat_result) -> None:
    if status.st_uid != os.geteuid():
        raise CacheRefused(
            f"{cache} belongs to user {status.st_uid}, not to {os.geteuid()}, who would execute the code in it; "
            "set XDG_CACHE_HOME to a folder of your own"
        )
    if status.st_mode & _WRITABLE_BY_OTHERS:
        raise CacheRefused(
            f"others may write to {cache} (mode {status.st_mode & 0o7777:o}), and the code in it is executed; "
            "remove the folder, and it is created again"
        )
