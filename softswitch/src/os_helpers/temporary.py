# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Temporary folders that are recognised as abandoned if their process was killed.

A folder is named `PREFIX` and a random ID, and its process holds a lock on it. The kernel releases the lock when the
process ends, however it ends. So a folder with such a name and without a lock is abandoned.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_ID = re.compile("[0-9a-f]{16}")
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def temporary_folder(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """Yield a new folder of this user in `parent`, by default the folder for temporary files, and remove it."""
    path, lock = _locked_folder(prefix, parent or Path(tempfile.gettempdir()))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def remove_abandoned(prefix: str, parent: Path | None = None) -> int:
    """Remove this user's folders of that prefix whose process has ended, and return how many were removed."""
    removed = 0
    parent = parent or Path(tempfile.gettempdir())
    with suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and _ID.fullmatch(entry.name, len(prefix)):
                with suppress(OSError):  # another process may have removed the folder
                    removed += _is_removed(parent / entry.name)
    return removed


def _locked_folder(prefix: str, parent: Path) -> tuple[Path, int]:
    """Create a folder and lock it. If it was taken for an abandoned one before it was locked, create another one."""
    while True:
        path = parent / f"{prefix}{secrets.token_hex(8)}"
        path.mkdir(mode=0o700)
        with suppress(FileNotFoundError):
            folder = os.open(path, _FOLDER)
            fcntl.flock(folder, fcntl.LOCK_EX)
            if _is_at(path, folder):
                return path, folder
            os.close(folder)


def _is_removed(path: Path) -> bool:
    folder = os.open(path, _FOLDER)
    try:
        if os.fstat(folder).st_uid != os.geteuid():
            return False
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)  # BlockingIOError while its process lives
        if not _is_at(path, folder):
            return False
        shutil.rmtree(path, ignore_errors=True)
        return not path.exists()
    finally:
        os.close(folder)


def _is_at(path: Path, folder: int) -> bool:
    """Return whether the path still leads to the open folder."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    return stat.S_ISDIR(status.st_mode) and os.path.samestat(status, os.fstat(folder))
