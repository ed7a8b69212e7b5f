# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""The limits of a process (`ulimit`): raised where the system allows it, else refused before anything is started.

Some cannot be told of when they are met: the libraries for tables and arithmetic abort without memory or threads, a
stack that is too small is a segmentation fault, the end of processor time is SIGKILL. So they are asked for beforehand.
What a library reserves follows from the processors that it may use, not from the run. Loads no such library itself.
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
"""Measured of a run from start to report: 906 MB on one core, 1432 MB on two. Threads and their arenas reserve it; a
seventh of it is ever touched."""
_THREADS = 4
_THREADS_PER_CORE = 6
_STACK_BYTES = 128 * 1024
"""What the interpreter touches; with half of it, it dies before it runs."""
_LEAST_CPU_S = 2
_SHARE_TO_SAVE = 10
"""Of the processor time, what is left for keeping what was measured: one part in so many, at least a second."""


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


def check_process(data_bytes: int = 0) -> None:
    """UsageError if this process may not have what a run takes of it, whose own data are `data_bytes`."""
    _check_stack()
    _check_address_space(data_bytes)
    _check_threads()


def raise_open_files(needed: int, what: str) -> None:
    """Lets this process and its children have `needed` descriptors. UsageError, which says what for, if it may not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if _allows(soft, needed):
        return
    if not _allows(hard, needed):
        raise UsageError(f"ulimit -n: {_shown(soft)} open files (at most {_shown(hard)}); {what} needs {needed}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def check_file_size(needed_bytes: int, what: str) -> None:
    """UsageError if no file may grow as large."""
    soft, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if not _allows(soft, needed_bytes):
        raise UsageError(f"ulimit -f: files of at most {soft} B; {what} needs about {needed_bytes} B")


def check_memory(needed_bytes: int, what: str, instead: str) -> None:
    """UsageError if processes that take as much would not find it free: the kernel ends some process, whosoever."""
    import psutil  # slow to load, and rarely wanted here

    free_bytes = psutil.virtual_memory().available
    if needed_bytes > free_bytes:
        raise UsageError(
            f"{what} may take {needed_bytes / 1e9:.1f} GB of memory, {free_bytes / 1e9:.1f} GB are free; {instead}"
        )


def hear_processor_time() -> None:
    """Has the end of this process's processor time said while there is some left. UsageError if there is too little."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    if hard != resource.RLIM_INFINITY:
        if hard < _LEAST_CPU_S:
            raise UsageError(f"ulimit -t: {hard} s of processor time; the start alone needs {_LEAST_CPU_S} s")
        before = hard - max(1, hard // _SHARE_TO_SAVE)
        soft = before if soft == resource.RLIM_INFINITY else min(soft, before)
        resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))
    if soft != resource.RLIM_INFINITY:
        signal.signal(signal.SIGXCPU, _end_of_processor_time)


def _end_of_processor_time(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)  # it comes every second from now on
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
        return  # the kernel does not hold root to it
    running = _threads_of_user()
    needed = _THREADS + cores() * _THREADS_PER_CORE
    if soft < running + needed:
        raise UsageError(
            f"ulimit -u: {soft} processes and threads of this user, {running} are there; {needed} more are needed"
        )


def _threads_of_user() -> int:
    import psutil  # slow to load, and rarely wanted here

    return sum(
        each.info["num_threads"] or 0
        for each in psutil.process_iter(["uids", "num_threads"])
        if each.info["uids"] is not None and each.info["uids"].real == os.getuid()
    )


def _allows(limit: int, needed: int) -> bool:
    return limit in (resource.RLIM_INFINITY, -1) or limit >= needed


def _shown(limit: int) -> str:
    return "unlimited" if limit == resource.RLIM_INFINITY else str(limit)
