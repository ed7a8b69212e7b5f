# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: SFC Testbed contributors
"""Termination of child processes when their parent ends, however it ends."""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1


def die_with_parent(number: signal.Signals = signal.SIGTERM, parent: int | None = None) -> None:
    """Ask the kernel to send this process a signal when the thread that started it ends.

    `parent` is the pid of the parent process. If the parent has already ended, the signal is sent at once.
    """
    parent = parent or os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)
