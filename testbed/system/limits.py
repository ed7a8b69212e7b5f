# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Checks the resource limits of a process (`ulimit`) before a run: raises them where allowed, else refuses the run.

Some limits leave no chance for a message when they are reached. Polars and NumPy abort without memory or threads, a
small stack causes a segmentation fault, and the end of processor time is SIGKILL. The memory that the libraries reserve
depends on the number of usable cores and not on the run. This module does not import them itself.
"""

from __future__ import annotations

import os
import resource
import signal
from types import FrameType

from testbed.errors import RunError, UsageError

_MB = 1_000_000
_ADDRESS_SPACE_BYTES = 430 * _MB
_ADDRESS_SPACE_PER_CORE_BYTES = 520 * _MB
"""Address space reserved by threads and their arenas, per usable core.

Measured for a run from start to report: 906 MB on one core, 1432 MB on two. About a seventh of it is ever touched."""
_THREADS = 4
_THREADS_PER_CORE = 6
_STACK_BYTES = 128 * 1024
"""Stack that the Python interpreter needs. With half of it the interpreter crashes at its start."""
_LEAST_CPU_S = 2
_SHARE_TO_SAVE = 10
"""The processor time reserved for saving measurements is this fraction of the limit (1/10), and at least 1 s."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def check_process(data_bytes: int = 0) -> None:
    """Raise UsageError if a limit of this process is below the needs of a run with `data_bytes` of data."""
    _check_stack()
    _check_address_space(data_bytes)
    _check_threads()


def raise_open_files(needed: int, what: str) -> None:
    """Raise the limit of open files to `needed`. Raise UsageError, which names `what` needs them, if not allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _allows(soft, needed):
        return
    if not _allows(hard, needed):
        raise UsageError(
            f"ulimit -n: {_limit_text(soft)} open files (at most {_limit_text(hard)}); {what} needs {needed}"
        )
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def check_file_size(needed_bytes: int, what: str) -> None:
    """Raise UsageError if the limit of file sizes is lower than needed."""
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if not _allows(soft, needed_bytes):
        raise UsageError(f"ulimit -f: files of at most {soft} B; {what} needs about {needed_bytes} B")


def check_memory(needed_bytes: int, what: str, instead: str) -> None:
    """Raise UsageError if less memory is free than needed. The kernel would otherwise kill an arbitrary process."""
    import psutil  # loads slowly and is rarely needed here

    free_bytes = psutil.virtual_memory().available
    if needed_bytes > free_bytes:
        raise UsageError(
            f"{what} may take {needed_bytes / 1e9:.1f} GB of memory, {free_bytes / 1e9:.1f} GB are free; {instead}"
        )


def hear_processor_time() -> None:
    """Arrange for RunError shortly before the processor time is used up. Raise UsageError if the limit is too low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY:
        if hard < _LEAST_CPU_S:
            raise UsageError(f"ulimit -t: {hard} s of processor time; the start alone needs {_LEAST_CPU_S} s")
        warning_s = hard - max(1, hard // _SHARE_TO_SAVE)
        soft = warning_s if soft == resource.RLIM_INFINITY else min(soft, warning_s)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
    if soft != resource.RLIM_INFINITY:
        signal.signal(signal.SIGXCPU, _end_of_processor_time)


def _end_of_processor_time(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)  # the kernel repeats it every second
    used = resource.getrusage(resource.RUSAGE_SELF)
    raise RunError(
        f"ulimit -t: the processor time of this process is used up ({used.ru_utime + used.ru_stime:.0f} s); "
        "a larger limit or a smaller run is needed"
    )


def _check_stack() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    if _allows(soft, _STACK_BYTES):
        return
    if not _allows(hard, _STACK_BYTES):
        raise UsageError(f"ulimit -s: {hard // 1024} kB of stack; {_STACK_BYTES // 1024} kB are needed")
    resource.setrlimit(resource.RLIMIT_STACK, (_STACK_BYTES, hard))


def _check_address_space(data_bytes: int) -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    needed = _ADDRESS_SPACE_BYTES + cores() * _ADDRESS_SPACE_PER_CORE_BYTES + data_bytes
    if not _allows(soft, needed):
        raise UsageError(
            f"ulimit -v: {soft // 1024} kB of address space; about {needed // 1024} kB are needed "
            f"on {cores()} cores (fewer with taskset)"
        )


def _check_threads() -> None:
    soft, _ = resource.getrlimit(resource.RLIMIT_NPROC)
    if os.geteuid() == 0 or soft == resource.RLIM_INFINITY:
        return  # the limit does not apply to root
    running = _threads_of_user()
    needed = _THREADS + cores() * _THREADS_PER_CORE
    if soft < running + needed:
        raise UsageError(
            f"ulimit -u: {soft} processes and threads of this user, {running} are running; {needed} more are needed"
        )


def _threads_of_user() -> int:
    import psutil  # loads slowly and is rarely needed here

    return sum(
        process.info["num_threads"] or 0
        for process in psutil.process_iter(["uids", "num_threads"])
        if process.info["uids"] is not None and process.info["uids"].real == os.getuid()
    )


def _allows(limit: int, needed: int) -> bool:
    return limit in (resource.RLIM_INFINITY, -1) or limit >= needed


def _limit_text(limit: int) -> str:
    return "unlimited" if limit == resource.RLIM_INFINITY else str(limit)
