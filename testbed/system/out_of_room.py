# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Messages for errors caused by a limit of the system, such as disk space, memory or open files.

Such errors come in several forms: with an error number, with the number only in the text (from Rust libraries), or as
the cause of another error. This module is independent of runs.
"""

from __future__ import annotations

import errno
import os
import re
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from testbed.system.run_ids import STATE_ROOT

_RUST_NUMBER = re.compile(r"(?:\(os error |Os \{ code: )([0-9]{1,3})\b")
_FULL_BYTES = 64 * 1024
_FULL_FILES = 4
"""A file system with fewer free bytes or files than these is considered full."""
_NO_THREAD = "can't start new thread"


def out_of_room(error: BaseException, places: Sequence[Path] = ()) -> str | None:
    """Return a message that names the limit behind an error or its causes, or None for another error.

    `places` are the paths that the work writes to. The file systems that every run uses are checked as well.
    """
    for cause in _chain(error):
        number = _number_of(cause)
        if number in _MESSAGES:
            named = [Path(str(cause.filename))] if isinstance(cause, OSError) and cause.filename else []
            return _MESSAGES[number]([*(path for path in named if path.is_absolute()), *places])
    return None


def whole_files(folder: Path) -> list[str]:
    """Return the names of a run's complete files. Incomplete files have names that begin with a dot."""
    return sorted(path.name for path in folder.glob("*") if path.is_file() and not path.name.startswith("."))


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _number_of(error: BaseException) -> int | None:
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    if isinstance(error, RuntimeError) and _text(error) == _NO_THREAD:
        return errno.EAGAIN
    if isinstance(error, subprocess.SubprocessError):
        return None
    match = _RUST_NUMBER.search(_text(error))
    return int(match[1]) if match else None


def _text(error: BaseException) -> str:
    """Return the text of an error, or nothing if `str` fails."""
    try:
        return str(error)
    except Exception:
        return ""


def _no_room(places: Iterable[Path]) -> str:
    temporary = os.environ.get("TMPDIR") or tempfile.gettempdir()  # gettempdir never returns a full file system
    standard = (STATE_ROOT, Path(temporary), Path.home())
    existing = [_existing(path) for path in (*places, *standard)]
    place = next((path for path in existing if _is_full(path)), existing[0])
    free = os.statvfs(place)
    files = f" and {free.f_favail} files" if free.f_files else ""
    return f"no room left: {free.f_bavail * free.f_frsize} B{files} free on the file system of {place}"


def _quota(places: Iterable[Path]) -> str:
    place = next((_existing(path) for path in places), Path.cwd())
    return f"no room left: the disk quota on the file system of {place} is used up"


def _open_files(_: Iterable[Path]) -> str:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return f"ulimit -n: no more than {soft} open files (at most {hard})"


def _open_files_of_all(_: Iterable[Path]) -> str:
    return "no more open files: the system's limit (sysctl fs.file-max) is reached"


def _file_size(_: Iterable[Path]) -> str:
    return f"ulimit -f: no file may be larger than {resource.getrlimit(resource.RLIMIT_FSIZE)[0]} B"


def _memory(_: Iterable[Path]) -> str:
    soft, _hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        return f"ulimit -v: no more than {soft // 1024} kB of address space"
    return "no memory left"


def _threads(places: Iterable[Path]) -> str:
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        return _memory(places)
    soft, _hard = resource.getrlimit(resource.RLIMIT_NPROC)
    return f"ulimit -u: no more processes and threads (limit {soft} of this user), or none left in the system"


_MESSAGES: dict[int | None, Callable[[Iterable[Path]], str]] = {
    errno.ENOSPC: _no_room,
    errno.EDQUOT: _quota,
    errno.EMFILE: _open_files,
    errno.ENFILE: _open_files_of_all,
    errno.EFBIG: _file_size,
    errno.ENOMEM: _memory,
    errno.EAGAIN: _threads,
}


def _existing(path: Path) -> Path:
    return next(candidate for candidate in (path, *path.absolute().parents) if candidate.exists())


def _is_full(path: Path) -> bool:
    free = os.statvfs(path)
    return free.f_bavail * free.f_frsize < _FULL_BYTES or bool(free.f_files and free.f_favail < _FULL_FILES)
