# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Limits of this machine and of this process, and one-line messages for errors that come from them."""

from __future__ import annotations

import errno
import os
import re
import resource
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from sfc_testbed.testbed.errors import UsageError
from sfc_testbed.testbed.system.run_ids import STATE_ROOT

_DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT)
_MESSAGES = {
    errno.EMFILE: "too many open files; raise `ulimit -n`",
    errno.ENFILE: "too many open files in the system; raise `sysctl fs.file-max`",
    errno.EFBIG: "a file is too large; raise `ulimit -f`",
    errno.ENOMEM: "no memory left",
    errno.EAGAIN: "too many processes or threads; raise `ulimit -u`",
}
_LOAD_SAMPLES = 9
_LOAD_SAMPLE_S = 0.005
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")
_V1_FOLDERS = ("cpu", "cpu,cpuacct")
_RUST_NUMBER = re.compile(r"(?:\(os error |Os \{ code: )([0-9]{1,3})\b")
"""Polars gives the number of a system error only in the text of its exceptions."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def idle_cores() -> int:
    """Return the number of cores that this process may use and that other processes leave idle, at least 1.

    The number of processes that run or wait for a core changes all the time, so this takes the median of some samples.
    """
    others = []
    for _ in range(_LOAD_SAMPLES):
        time.sleep(_LOAD_SAMPLE_S)
        running = Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[0]
        others.append(int(running) - 1)  # this process runs
    quota = quota_cores()
    granted = cores() if quota is None else max(1, round(quota))
    return max(1, min(cores(), granted, (os.cpu_count() or 1) - sorted(others)[_LOAD_SAMPLES // 2]))


def quota_cores() -> float | None:
    """Return the smallest quota of this process's control group and its parents, in both versions of control groups."""
    quotas = [quota for folder in _cpu_groups() if (quota := _quota_of(folder)) is not None]
    return min(quotas, default=None)


def _cpu_groups() -> Iterator[Path]:
    for line in _OWN_GROUPS.read_text().splitlines():
        _, controllers, group = line.split(":", 2)
        if controllers == "":
            mounts = [_CGROUPS, _CGROUPS / "unified"]
        elif "cpu" in controllers.split(","):
            mounts = [_CGROUPS / name for name in _V1_FOLDERS]
        else:
            continue
        path = PurePosixPath(group.lstrip("/"))
        for mount in mounts:
            yield from (mount / part for part in (path, *path.parents))


def _quota_of(folder: Path) -> float | None:
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        return None if quota in ("max", "-1") else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def free_memory_bytes() -> int:
    """Return the memory that new processes can use without swapping."""
    import psutil  # loads slowly and is rarely needed here

    return int(psutil.virtual_memory().available)


def raise_open_files(needed: int, what: str) -> None:
    """Raise the limit of open files to `needed`. Raise UsageError, which names `what` needs them, if not allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise UsageError(
            f"ulimit -n: {soft} open files (at most {hard}); {what} needs {needed}; raise the hard limit as root"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def out_of_room(error: BaseException, places: Sequence[Path] = ()) -> str | None:
    """Return a message if an error or its cause comes from a full disk or a limit of the system, else None.

    `places` are the paths that the work writes to.
    """
    for cause in _chain(error):
        number = _number_of(cause)
        if number in _DISK_IS_FULL:
            named = [Path(cause.filename)] if isinstance(cause, OSError) and isinstance(cause.filename, str) else []
            return _no_room(number, named or [*places, STATE_ROOT, Path(os.environ.get("TMPDIR", "/tmp"))])
        if number in _MESSAGES:
            return _MESSAGES[number]
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _number_of(error: BaseException) -> int:
    """Return the number of a system error, or 0 for another error."""
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno
    try:
        match = _RUST_NUMBER.search(str(error))
    except Exception:  # the exception's own __str__ may fail
        return 0
    return int(match[1]) if match else 0


def _no_room(number: int, places: Sequence[Path]) -> str:
    existing = [next(path for path in (place, *place.absolute().parents) if path.exists()) for place in places]
    place = min(existing, key=lambda path: shutil.disk_usage(path).free)
    return f"no room left: {shutil.disk_usage(place).free} B free on the file system of {place} ({os.strerror(number)})"
